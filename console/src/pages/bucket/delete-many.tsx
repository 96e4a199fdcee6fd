/** Asks before objects are deleted, then shows the progress, and what was refused. */

import { useMemo } from 'preact/hooks'
import { DeleteRun } from '../../model/delete-run.ts'
import type { Row } from '../../model/listing.ts'
import { tellFailure } from '../../model/notices.ts'
import { countText } from '../../model/text.ts'
import { RunDialog } from '../../ui/dialog.tsx'

const failuresShown = 20

export function DeleteMany({
  bucket,
  rows,
  versions,
  onClose,
}: {
  bucket: string
  rows: readonly Row[]
  versions: boolean
  onClose: () => void
}) {
  const run = useMemo(() => new DeleteRun(bucket, versions), [])
  const folders = rows.filter(({ is }) => is === 'folder').length
  return (
    <RunDialog
      title="Delete"
      action="Delete"
      kind="danger"
      question={
        <>
          {countText(rows.length - folders)} objects
          {folders > 0 ? ` and all objects in ${countText(folders)} folders` : ''}.{' '}
          {versions
            ? 'The selected versions will be gone for good.'
            : 'With versioning, they can be restored. Without, they are gone for good.'}
        </>
      }
      isOver={run.isOver.value}
      onBegin={() => void run.run(rows).catch(tellFailure)}
      onClose={() => {
        run.stop()
        onClose()
      }}
    >
      <Progress run={run} />
    </RunDialog>
  )
}

function Progress({ run }: { run: DeleteRun }) {
  const failed = run.failed.value
  return (
    <>
      <p>
        {run.isOver.value ? 'Deleted' : 'Deleting…'} {countText(run.deleted.value)}
        {failed.length > 0 && `, ${countText(failed.length)} refused`}.
      </p>
      {failed.length > 0 && (
        <ul>
          {failed.slice(0, failuresShown).map(({ key, message }) => (
            <li key={key}>
              <code>{key}</code>: {message}
            </li>
          ))}
        </ul>
      )}
    </>
  )
}
