/** All versions of one key. Each can be opened, restored or removed. */
import { useContext } from 'preact/hooks'
import { copyObject, deleteVersion, type ListedVersion, listVersions, type ObjectAddress } from '../../api/objects.ts'
import { goTo, route } from '../../model/address.ts'
import type { useLoaded } from '../../model/loaded.ts'
import { attempt, tell } from '../../model/notices.ts'
import { useOpened } from '../../model/opened.ts'
import { type MayDo, ObjectRights } from '../../model/rights.ts'
import { sizeText, timeText } from '../../model/text.ts'
import { IconButton } from '../../ui/button.tsx'
import { DeleteDialog } from '../../ui/dialog.tsx'
import { Show } from '../../ui/loading.tsx'
import { type Column, Table } from '../../ui/table.tsx'

/** In the listing, keys that begin with this one come after it. */
export async function versionsOf({ bucket, key }: ObjectAddress): Promise<ListedVersion[]> {
  const { entries } = await listVersions({ bucket, prefix: key })
  return entries.filter((entry) => entry.key === key)
}

interface VersionsParts {
  address: ObjectAddress
  versions: ReturnType<typeof useLoaded<ListedVersion[]>>
  onChange: () => Promise<void>
}

export function ObjectVersions({ address, versions: { state, reload }, onChange }: VersionsParts) {
  const deleting = useOpened<string>()
  const change = async (work: () => Promise<unknown>, done: string) => {
    if (await attempt(work, done)) await onChange()
  }
  const remove = async (versionId: string) => {
    await deleteVersion({ ...address, versionId })
    tell('The version is gone for good.')
    await onChange()
  }
  const columns = versionColumns(address, useContext(ObjectRights), { change, remove: deleting.open })
  return (
    <>
      <h3>Versions</h3>
      <Show of={state} again={reload}>
        {(versions) => (
          <Table caption="Versions" columns={columns} rows={versions} idOf={({ versionId }) => versionId} />
        )}
      </Show>
      {deleting.for !== undefined && (
        <DeleteDialog
          name={`version ${deleting.for}`}
          onClose={deleting.close}
          onDelete={() => remove(deleting.for ?? '')}
        >
          This version will be gone for good.
        </DeleteDialog>
      )}
    </>
  )
}

function versionColumns(
  address: ObjectAddress,
  may: MayDo,
  {
    change,
    remove,
  }: { change: (work: () => Promise<unknown>, done: string) => Promise<void>; remove: (versionId: string) => void },
): Column<ListedVersion>[] {
  const { bucket, key } = address
  const open = (versionId: string) =>
    goTo(['bucket', bucket, 'objects'], { ...Object.fromEntries(route.value.query), object: key, version: versionId })
  return [
    {
      title: 'Version',
      show: ({ versionId, isLatest, isDeleteMarker }) => (
        <>
          {isDeleteMarker ? (
            <code>{versionId}</code>
          ) : (
            <button type="button" class="link-button" onClick={() => open(versionId)}>
              <code>{versionId}</code>
            </button>
          )}{' '}
          {isLatest && <span class="badge good">current</span>}{' '}
          {isDeleteMarker && <span class="badge">delete marker</span>}
        </>
      ),
    },
    { title: 'Size', isNumber: true, show: ({ bytes, isDeleteMarker }) => (isDeleteMarker ? '' : sizeText(bytes)) },
    { title: 'Modified', show: ({ modified }) => timeText(modified) },
    {
      title: '',
      isNumber: true,
      show: ({ versionId, isLatest, isDeleteMarker }) => (
        <span class="bar">
          {isDeleteMarker && isLatest && may('s3:DeleteObjectVersion') && (
            <IconButton
              icon="restore"
              label="Restore the object"
              onClick={() => change(() => deleteVersion({ bucket, key, versionId }), 'The object is back.')}
            />
          )}
          {!isDeleteMarker && !isLatest && may('s3:PutObject') && (
            <IconButton
              icon="restore"
              label={`Restore version ${versionId}`}
              onClick={() =>
                change(() => copyObject({ bucket, key, versionId }, address), 'This version is the current one again.')
              }
            />
          )}
          {may('s3:DeleteObjectVersion') && (
            <IconButton icon="trash" label={`Delete version ${versionId}`} onClick={() => remove(versionId)} />
          )}
        </span>
      ),
    },
  ]
}
