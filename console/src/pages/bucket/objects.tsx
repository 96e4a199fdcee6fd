/** The objects of a bucket: folders, search by prefix, versions, upload, and what can be done with many of them at once. */
import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { goTo, linkTo, place } from '../../model/address.ts'
import { filesOfDrop, filesOfInput } from '../../model/chosen-files.ts'
import type { Listing, Row } from '../../model/listing.ts'
import { useOpened } from '../../model/opened.ts'
import { useRights } from '../../model/rights.ts'
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
  const { query } = place.value
  const folder = query.get('folder') ?? ''
  const search = query.get('search') ?? ''
  const versions = query.get('versions') === '1'
  const opened = query.get('object')
  const openedVersion = query.get('version') ?? undefined
  const selected = useSignal<ReadonlyMap<string, Row>>(new Map())
  const window = useOpened<'delete' | 'download'>()
  const dropping = useSignal(false)
  const may = useRights(`${bucket}/${folder}*`, listActions)
  const mayUpload = may('s3:PutObject')
  const mayDelete = may(versions ? 's3:DeleteObjectVersion' : 's3:DeleteObject')
  const { listing, reload } = useListing({ bucket, prefix: folder + search, versions, flat: false })
  useEffect(() => {
    selected.value = new Map()
  }, [bucket, folder, search, versions])
  useReloadOnArrival(bucket, listing, reload)
  const go = (change: Readonly<Record<string, string | undefined>>) =>
    goTo(['bucket', bucket, 'objects'], { folder, search, versions: versions ? '1' : undefined, ...change })
  return (
    // Files are dropped anywhere on the list; the buttons do the same from the keyboard.
    <section
      class={dropping.value ? 'page full drop-target' : 'page full'}
      aria-label="Objects"
      onDragOver={(event) => {
        event.preventDefault()
        dropping.value = mayUpload
      }}
      onDragLeave={() => {
        dropping.value = false
      }}
      onDrop={(event) => {
        event.preventDefault()
        dropping.value = false
        if (mayUpload && event.dataTransfer)
          void filesOfDrop(event.dataTransfer).then((files) => uploadInto(bucket, folder, files))
      }}
    >
      <div class="bar">
        <Crumbs bucket={bucket} folder={folder} versions={versions} />
        <SearchField key={folder} label="Find by prefix" value={search} onSearch={(text) => go({ search: text })} />
      </div>
      <div class="bar">
        {mayUpload && <ChooseFiles onChosen={(list) => uploadInto(bucket, folder, filesOfInput(list))} />}
        {may('s3:GetObject') && (
          <Button icon="download" disabled={selected.value.size === 0} onClick={() => window.open('download')}>
            Download
          </Button>
        )}
        {mayDelete && (
          <Button icon="trash" kind="danger" disabled={selected.value.size === 0} onClick={() => window.open('delete')}>
            Delete
          </Button>
        )}
        <span class="quiet" role="status">
          {selected.value.size > 0 ? `${countText(selected.value.size)} selected` : countOf(listing)}
        </span>
        <span class="push">
          <Toggle label="Show versions" on={versions} onChange={(on) => go({ versions: on ? '1' : undefined })} />
        </span>
        <Button icon="restore" onClick={reload}>
          Refresh
        </Button>
      </div>
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
      {window.for === 'delete' && (
        <DeleteMany
          bucket={bucket}
          rows={[...selected.value.values()]}
          versions={versions}
          onClose={() => {
            window.close()
            selected.value = new Map()
            void reload()
          }}
        />
      )}
      {window.for === 'download' && (
        <DownloadMany bucket={bucket} folder={folder} rows={[...selected.value.values()]} onClose={window.close} />
      )}
    </section>
  )
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
      <Empty title={listing.of.prefix === '' ? 'No object yet' : 'Nothing begins like this'}>
        <p>Drop files here, or upload them.</p>
      </Empty>
    )
  }
  return <ObjectList listing={listing} selected={selected} onOpen={onOpen} />
}

/** While uploads arrive, the list is loaded again at most once in this time. */
const arrivalPauseMs = 1500
/** A reader who has come further would lose the place. */
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
