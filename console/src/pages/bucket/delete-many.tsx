/** Asks before objects are deleted, shows how far that is, and what was refused. */

import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { DeleteRun } from '../../model/delete-run.ts'
import type { Row } from '../../model/listing.ts'
import { tellFailure } from '../../model/notices.ts'
import { countText } from '../../model/text.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'

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
  const begun = useSignal(false)
  const folders = rows.filter(({ is }) => is === 'folder').length
  const begin = () => {
    begun.value = true
    void run.run(rows).catch(tellFailure)
  }
  const close = () => {
    run.stop()
    onClose()
  }
  return (
    <Dialog title="Delete" onClose={close}>
      {begun.value ? (
        <Progress run={run} />
      ) : (
        <p>
          {countText(rows.length - folders)} objects
          {folders > 0 ? ` and all objects in ${countText(folders)} folders` : ''}.{' '}
          {versions
            ? 'The chosen versions are gone for good.'
            : 'In a bucket with versions they can be restored; in another they are gone for good.'}
        </p>
      )}
      <footer>
        <Button onClick={close}>{run.isOver.value ? 'Close' : 'Cancel'}</Button>
        {!begun.value && (
          <Button kind="danger" onClick={begin}>
            Delete
          </Button>
        )}
      </footer>
    </Dialog>
  )
}

function Progress({ run }: { run: DeleteRun }) {
  const failed = run.failed.value
  return (
    <div role="status">
      <p>
        {run.isOver.value ? 'Deleted' : 'Deleting…'} {countText(run.deleted.value)}
        {failed.length > 0 && `, ${countText(failed.length)} refused`}.
      </p>
      {!run.isOver.value && <progress />}
      {failed.length > 0 && (
        <ul>
          {failed.slice(0, failuresShown).map(({ key, message }) => (
            <li key={key}>
              <code>{key}</code>: {message}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
