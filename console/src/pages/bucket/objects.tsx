/** The objects of a bucket: folders, search by prefix, versions, upload, and actions on many objects at once. */
import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { goTo, linkTo, route } from '../../model/address.ts'
import { filesOfDrop, filesOfInput } from '../../model/chosen-files.ts'
import type { Listing, Row } from '../../model/listing.ts'
import { attempt } from '../../model/notices.ts'
import { useOpened } from '../../model/opened.ts'
import { type MayDo, useRights } from '../../model/rights.ts'
import { countText, failureText } from '../../model/text.ts'
import { arrived, uploadInto } from '../../model/uploads.ts'
import { useListing } from '../../model/use-listing.ts'
import { Button } from '../../ui/button.tsx'
import { SearchField, Toggle } from '../../ui/fields.tsx'
import { Empty, Loading } from '../../ui/loading.tsx'
import { ChooseFiles } from './choose-files.tsx'
import { DeleteMany } from './delete-many.tsx'
import { DownloadMany } from './download-many.tsx'
import { ObjectList } from './object-list.tsx'
import { ObjectWindow } from './object-window.tsx'

/** Of those in the folder. A policy that names single keys shows its buttons in their windows. */
const listActions = ['s3:GetObject', 's3:PutObject', 's3:DeleteObject', 's3:DeleteObjectVersion']

export function Objects({ bucket }: { bucket: string }) {
  const { query } = route.value
  const folder = query.get('folder') ?? ''
  const search = query.get('search') ?? ''
  const versions = query.get('versions') === '1'
  const opened = query.get('object')
  const openedVersion = query.get('version') ?? undefined
  const selected = useSignal<ReadonlyMap<string, Row>>(new Map())
  const may = useRights(`${bucket}/${folder}*`, listActions)
  const drop = useDrop(bucket, folder, may('s3:PutObject'))
  const { listing, reload } = useListing({ bucket, prefix: folder + search, versions, flat: false })
  useEffect(() => {
    selected.value = new Map()
  }, [bucket, folder, search, versions])
  useReloadOnArrival(bucket, listing, reload)
  const go = (change: Readonly<Record<string, string | undefined>>) =>
    goTo(['bucket', bucket, 'objects'], { folder, search, versions: versions ? '1' : undefined, ...change })
  return (
    // Files can be dropped anywhere on the list. For the keyboard, there are buttons.
    <section class={drop.isOver ? 'page full drop-target' : 'page full'} aria-label="Objects" {...drop.handlers}>
      <div class="bar">
        <Crumbs bucket={bucket} folder={folder} versions={versions} />
        <SearchField key={folder} label="Find by prefix" value={search} onSearch={(text) => go({ search: text })} />
      </div>
      <Actions
        bucket={bucket}
        folder={folder}
        versions={versions}
        listing={listing}
        selected={selected}
        may={may}
        onVersions={(on) => go({ versions: on ? '1' : undefined })}
        onReload={reload}
      />
      <Listed
        listing={listing}
        selected={selected}
        onOpen={(row) =>
          row.is === 'folder'
            ? go({ folder: row.key, search: undefined })
            : go({ object: row.key, ...('versionId' in row ? { version: row.versionId } : {}) })
        }
      />
      {opened !== null && (
        <ObjectWindow
          key={`${opened} ${openedVersion}`}
          address={{ bucket, key: opened, versionId: openedVersion }}
          onClose={() => go({})}
          onChange={reload}
        />
      )}
    </section>
  )
}

interface ActionParts {
  bucket: string
  folder: string
  versions: boolean
  listing: Listing
  selected: Signal<ReadonlyMap<string, Row>>
  may: MayDo
  onVersions: (on: boolean) => void
  onReload: () => Promise<void>
}

function Actions({ bucket, folder, versions, listing, selected, may, onVersions, onReload }: ActionParts) {
  const window = useOpened<'delete' | 'download'>()
  return (
    <>
      <div class="bar">
        {may('s3:PutObject') && <ChooseFiles onChosen={(list) => uploadInto(bucket, folder, filesOfInput(list))} />}
        {may('s3:GetObject') && (
          <Button icon="download" disabled={selected.value.size === 0} onClick={() => window.open('download')}>
            Download
          </Button>
        )}
        {may(versions ? 's3:DeleteObjectVersion' : 's3:DeleteObject') && (
          <Button icon="trash" kind="danger" disabled={selected.value.size === 0} onClick={() => window.open('delete')}>
            Delete
          </Button>
        )}
        <span class="quiet" role="status">
          {selected.value.size > 0 ? `${countText(selected.value.size)} selected` : countOf(listing)}
        </span>
        <span class="push">
          <Toggle label="Show versions" on={versions} onChange={onVersions} />
        </span>
        <Button icon="restore" onClick={onReload}>
          Refresh
        </Button>
      </div>
      {window.for !== undefined && (
        <ManyWindow
          what={window.for}
          bucket={bucket}
          folder={folder}
          versions={versions}
          rows={[...selected.value.values()]}
          onClose={window.close}
          onDeleted={() => {
            selected.value = new Map()
            void onReload()
          }}
        />
      )}
    </>
  )
}

interface ManyParts {
  what: 'delete' | 'download'
  bucket: string
  folder: string
  versions: boolean
  rows: Row[]
  onClose: () => void
  onDeleted: () => void
}

function ManyWindow({ what, bucket, folder, versions, rows, onClose, onDeleted }: ManyParts) {
  if (what === 'download') return <DownloadMany bucket={bucket} folder={folder} rows={rows} onClose={onClose} />
  const close = () => {
    onClose()
    onDeleted()
  }
  return <DeleteMany bucket={bucket} rows={rows} versions={versions} onClose={close} />
}

/** Uploads the files that are dropped on an element with these handlers. */
function useDrop(bucket: string, folder: string, mayUpload: boolean) {
  const isOver = useSignal(false)
  const handlers = {
    onDragOver: (event: DragEvent) => {
      event.preventDefault()
      isOver.value = mayUpload
    },
    onDragLeave: () => {
      isOver.value = false
    },
    onDrop: (event: DragEvent) => {
      event.preventDefault()
      isOver.value = false
      const { dataTransfer } = event
      if (mayUpload && dataTransfer)
        void attempt(async () => uploadInto(bucket, folder, await filesOfDrop(dataTransfer)))
    },
  }
  return { isOver: isOver.value, handlers }
}

function countOf(listing: Listing): string {
  listing.changed.value
  if (listing.loaded === 0) return ''
  return `${countText(listing.loaded)}${listing.isWhole ? '' : ' or more'}`
}

function Listed({
  listing,
  selected,
  onOpen,
}: {
  listing: Listing
  selected: Signal<ReadonlyMap<string, Row>>
  onOpen: (row: Row) => void
}) {
  listing.changed.value
  const failure = listing.failure.value
  if (failure !== undefined) {
    return (
      <div class="failure" role="alert">
        <p>{failureText(failure)}</p>
        <Button onClick={() => listing.more()}>Try again</Button>
      </div>
    )
  }
  if (listing.loaded === 0) {
    if (!listing.isWhole) return <Loading />
    return (
      <Empty title={listing.of.prefix === '' ? 'No objects yet' : 'No objects with this prefix'}>
        <p>Drop files here, or upload them.</p>
      </Empty>
    )
  }
  return <ObjectList listing={listing} selected={selected} onOpen={onOpen} />
}

/** While uploads arrive, the list loads again at most once in this time. */
const arrivalPauseMs = 1500
/** A reader who has scrolled further would lose the position. */
const reloadedRowsMax = 1000

function useReloadOnArrival(bucket: string, listing: Listing, reload: () => Promise<void>): void {
  const now = useRef({ listing, reload })
  now.current = { listing, reload }
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let seen = arrived.peek().count
    const look = () => {
      timer = undefined
      seen = arrived.peek().count
      if (now.current.listing.loaded <= reloadedRowsMax) void now.current.reload()
    }
    const stop = arrived.subscribe((last) => {
      if (last.bucket === bucket && last.count !== seen) timer ??= setTimeout(look, arrivalPauseMs)
    })
    return () => {
      stop()
      clearTimeout(timer)
    }
  }, [bucket])
}

function Crumbs({ bucket, folder, versions }: { bucket: string; folder: string; versions: boolean }) {
  const parts = folder.split('/').slice(0, -1)
  const link = (count: number) =>
    linkTo(['bucket', bucket, 'objects'], {
      folder: parts
        .slice(0, count)
        .map((part) => `${part}/`)
        .join(''),
      versions: versions ? '1' : undefined,
    })
  return (
    <nav class="push-end" aria-label="Folders">
      <ol class="crumbs">
        <li>
          <a href={link(0)}>{bucket}</a>
        </li>
        {parts.map((part, i) => (
          <li key={link(i + 1)}>
            <a href={link(i + 1)} aria-current={i === parts.length - 1 ? 'location' : undefined}>
              {part === '' ? '(empty)' : part}
            </a>
          </li>
        ))}
      </ol>
    </nav>
  )
}
