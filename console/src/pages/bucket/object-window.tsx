/** The details of one object, and what can be done with it, beside the list. */

import { useContext } from 'preact/hooks'
import {
  copyObject,
  type Described,
  deleteVersion,
  describeObject,
  type ObjectAddress,
  shareUrl,
} from '../../api/objects.ts'
import { isOutOfReach } from '../../api/s3-request.ts'
import { useLoaded } from '../../model/loaded.ts'
import { attempt, tell } from '../../model/notices.ts'
import { useOpened } from '../../model/opened.ts'
import { ObjectRights, useRights } from '../../model/rights.ts'
import { sizeText, timeText } from '../../model/text.ts'
import { Button } from '../../ui/button.tsx'
import { DeleteDialog, Dialog } from '../../ui/dialog.tsx'
import { Show } from '../../ui/loading.tsx'
import { ObjectLockPart } from './object-lock.tsx'
import { ObjectMetadata, ObjectTags } from './object-metadata.tsx'
import { ObjectVersions, versionsOf } from './object-versions.tsx'
import { Preview } from './preview.tsx'
import { Share } from './share.tsx'

interface WindowParts {
  address: ObjectAddress
  onClose: () => void
  /** Called when the listing is out of date. */
  onChange: () => void
}

const actions = [
  's3:GetObject',
  's3:PutObject',
  's3:DeleteObject',
  's3:DeleteObjectVersion',
  's3:PutObjectTagging',
  's3:PutObjectLegalHold',
  's3:PutObjectRetention',
]

export function ObjectWindow({ address, onClose, onChange }: WindowParts) {
  const may = useRights(`${address.bucket}/${address.key}`, actions)
  if (isOutOfReach(address.key)) {
    return (
      <Dialog side title={address.key} onClose={onClose}>
        <p class="failure">
          A browser cannot address a key with a part that is “.” or “..”. Other clients of S3 can. It can be deleted
          from the list.
        </p>
      </Dialog>
    )
  }
  return (
    <Dialog side title={address.key} onClose={onClose}>
      <ObjectRights.Provider value={may}>
        <Contents address={address} onClose={onClose} onChange={onChange} />
      </ObjectRights.Provider>
    </Dialog>
  )
}

function Contents({ address, onClose, onChange }: WindowParts) {
  const current = useLoaded(() => describeObject(address), [])
  const versions = useLoaded(() => versionsOf(address), [])
  // Whatever is changed in one part can be seen in the other.
  const changed = async () => {
    onChange()
    await Promise.all([current.reload(), versions.reload()])
  }
  const removed = () => {
    onClose()
    onChange()
  }
  return (
    <>
      <Show of={current.state} again={current.reload}>
        {(described) => <Details address={address} described={described} onRemoved={removed} onChange={changed} />}
      </Show>
      <ObjectVersions address={address} versions={versions} onChange={changed} />
    </>
  )
}

interface DetailParts {
  address: ObjectAddress
  described: Described
  onRemoved: () => void
  /** Resolves when the window shows the change. */
  onChange: () => Promise<void>
}

function Details({ address, described, onRemoved, onChange }: DetailParts) {
  return (
    <>
      <Actions address={address} onRemoved={onRemoved} onChange={onChange} />
      <h3>Facts</h3>
      <Facts described={described} />
      <Preview address={address} described={described} />
      <ObjectMetadata address={address} described={described} onChange={onChange} />
      <ObjectTags address={address} />
      <ObjectLockPart address={address} />
    </>
  )
}

/** What can be done with the object or version, and the questions before it. */
function Actions({ address, onRemoved, onChange }: Omit<DetailParts, 'described'>) {
  const sharing = useOpened()
  const deleting = useOpened()
  const may = useContext(ObjectRights)
  const isOlder = address.versionId !== undefined
  const download = async () => {
    location.href = await shareUrl(address, downloadSeconds, true)
  }
  const restore = () =>
    attempt(async () => {
      await copyObject(address, address)
      await onChange()
    }, 'This version is the current one again.')
  const remove = async () => {
    await deleteVersion(address)
    tell(isOlder ? 'The version is gone for good.' : 'Deleted.')
    onRemoved()
  }
  return (
    <>
      <div class="bar">
        {may('s3:GetObject') && (
          <>
            <Button icon="download" onClick={download}>
              Download
            </Button>
            <Button icon="share" onClick={() => sharing.open(true)}>
              Share
            </Button>
          </>
        )}
        {isOlder && may('s3:PutObject') && (
          <Button icon="restore" onClick={restore}>
            Restore
          </Button>
        )}
        {may(isOlder ? 's3:DeleteObjectVersion' : 's3:DeleteObject') && (
          <Button icon="trash" kind="danger" onClick={() => deleting.open(true)}>
            {isOlder ? 'Delete this version' : 'Delete'}
          </Button>
        )}
      </div>
      {sharing.for && <Share address={address} onClose={sharing.close} />}
      {deleting.for && (
        <DeleteDialog
          name={isOlder ? `version ${address.versionId}` : address.key}
          onClose={deleting.close}
          onDelete={remove}
        >
          {isOlder
            ? 'This version will be gone for good.'
            : 'With versioning, it can be restored. Without, it is gone for good.'}
        </DeleteDialog>
      )}
    </>
  )
}

/** Short, because the browser starts the download at once. */
const downloadSeconds = 600

/** Headers that say something about an object and have no line of their own. */
const shownHeaders: readonly (readonly [string, string])[] = [
  ['content-encoding', 'Encoding'],
  ['content-language', 'Language'],
  ['content-disposition', 'Disposition'],
  ['cache-control', 'Cache'],
  ['expires', 'Expires'],
  ['x-amz-server-side-encryption', 'Encryption'],
  ['x-amz-server-side-encryption-aws-kms-key-id', 'Encryption key'],
  ['x-amz-storage-class', 'Storage class'],
  ['x-amz-checksum-crc32', 'CRC-32'],
  ['x-amz-checksum-crc32c', 'CRC-32C'],
  ['x-amz-checksum-crc64nvme', 'CRC-64/NVME'],
  ['x-amz-checksum-sha1', 'SHA-1'],
  ['x-amz-checksum-sha256', 'SHA-256'],
  ['x-amz-website-redirect-location', 'Redirects to'],
]

function Facts({ described }: { described: Described }) {
  const { bytes, contentType, etag, modified, versionId, headers } = described
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['Size', `${sizeText(bytes)} (${bytes} bytes)`],
    ['Type', contentType],
    ['Modified', timeText(modified)],
    ['ETag', etag],
    ['Version', versionId],
    ...shownHeaders.map(([name, title]) => [title, headers[name]] as const),
  ]
  return (
    <dl class="facts">
      {facts.flatMap(([title, value]) =>
        value === undefined || value === ''
          ? []
          : [<dt key={title}>{title}</dt>, <dd key={`${title}-value`}>{value}</dd>],
      )}
    </dl>
  )
}
