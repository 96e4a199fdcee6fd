/** The list of buckets, where buckets are created, opened and deleted. */
import { useSignal } from '@preact/signals'
import { createBucket, deleteBucket, listBuckets } from '../api/buckets.ts'
import { goTo, linkTo } from '../model/address.ts'
import { useLoaded } from '../model/loaded.ts'
import { tell } from '../model/notices.ts'
import { useOpened } from '../model/opened.ts'
import { ownRights, useRights } from '../model/rights.ts'
import { type BucketUsage, bucketUsage, locationNames } from '../model/server.ts'
import { countText, sizeText, timeText } from '../model/text.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { DeleteDialog, FormDialog } from '../ui/dialog.tsx'
import { Check, Choice, SearchField, TextField } from '../ui/fields.tsx'
import { Icon } from '../ui/icon.tsx'
import { Empty, Show } from '../ui/loading.tsx'
import { type Column, Table } from '../ui/table.tsx'

interface BucketRow {
  name: string
  created: string
  objects: number | undefined
  bytes: number | undefined
  quota: BucketUsage['quota']
  location: string | undefined
  mayDelete: boolean
}

async function loadBuckets(): Promise<BucketRow[]> {
  const [buckets, usage] = await Promise.all([listBuckets(), bucketUsage()])
  const questions = buckets.map(({ name }) => ({ action: 's3:DeleteBucket', resource: name }))
  // A bucket may be gone by now.
  const rights = await ownRights(questions).catch(() => buckets.map(() => true))
  return buckets.map((bucket, i) => ({
    ...bucket,
    mayDelete: rights[i] ?? false,
    ...(usage.get(bucket.name) ?? { objects: undefined, bytes: undefined, quota: undefined, location: undefined }),
  }))
}

export function Page() {
  const { state, reload } = useLoaded(loadBuckets, [])
  const making = useOpened()
  const removing = useOpened<string>()
  const searched = useSignal('')
  const may = useRights('*', ['s3:CreateBucket'])
  const columns = bucketColumns(removing.open)
  return (
    <div class="page">
      <div class="page-head">
        <h1>Buckets</h1>
        <SearchField
          label="Find a bucket"
          value={searched.value}
          onSearch={(text) => {
            searched.value = text
          }}
        />
        {may('s3:CreateBucket') && (
          <Button icon="plus" kind="primary" onClick={() => making.open(true)}>
            Create bucket
          </Button>
        )}
      </div>
      <Show of={state} again={reload}>
        {(buckets) => {
          const found = buckets.filter(({ name }) => name.includes(searched.value.trim()))
          if (buckets.length === 0)
            return (
              <Empty title="No buckets yet">
                <p>Buckets hold objects. Create the first one.</p>
              </Empty>
            )
          return <Table caption="Buckets" columns={columns} rows={found} idOf={({ name }) => name} />
        }}
      </Show>
      {making.for && <CreateBucket onClose={making.close} />}
      {removing.for !== undefined && <DeleteBucket name={removing.for} onClose={removing.close} onDone={reload} />}
    </div>
  )
}

function ofMost(used: number | undefined, most: number | undefined, text: (value: number) => string): string {
  if (used === undefined) return ''
  return most === undefined ? text(used) : `${text(used)} of ${text(most)}`
}

function bucketColumns(remove: (name: string) => void): Column<BucketRow>[] {
  return [
    {
      title: 'Name',
      show: ({ name }) => (
        <a class="bar" href={linkTo(['bucket', name])}>
          <Icon name="bucket" />
          {name}
        </a>
      ),
    },
    { title: 'Objects', isNumber: true, show: ({ objects, quota }) => ofMost(objects, quota?.objects, countText) },
    { title: 'Size', isNumber: true, show: ({ bytes, quota }) => ofMost(bytes, quota?.bytes, sizeText) },
    { title: 'Location', show: ({ location }) => location ?? '' },
    { title: 'Created', show: ({ created }) => timeText(created) },
    {
      title: '',
      isNumber: true,
      show: ({ name, mayDelete }) => (
        <span class="bar">
          <a
            class="icon-button push"
            href={linkTo(['bucket', name, 'settings'])}
            aria-label={`Settings of ${name}`}
            title="Settings"
          >
            <Icon name="settings" />
          </a>
          {mayDelete && <IconButton icon="trash" label={`Delete ${name}`} onClick={() => remove(name)} />}
        </span>
      ),
    },
  ]
}

function CreateBucket({ onClose }: { onClose: () => void }) {
  const name = useSignal('')
  const location = useSignal('')
  const lock = useSignal(false)
  const { state } = useLoaded(locationNames, [])
  const locations = state.is === 'ready' ? state.value : []
  const options = [
    ['', 'default'] as const,
    ...locations.filter((each) => each !== 'default').map((each) => [each, each] as const),
  ]
  const create = async () => {
    await createBucket(name.value, { location: location.value, lock: lock.value })
    tell(`Created ${name.value}.`)
    goTo(['bucket', name.value])
  }
  return (
    <FormDialog title="Create bucket" action="Create" onClose={onClose} onSubmit={create}>
      <TextField
        label="Name"
        value={name}
        required
        pattern="[a-z0-9][a-z0-9.\-]{1,61}[a-z0-9]"
        hint="3 to 63 lower-case letters, digits, dots and hyphens."
      />
      <Choice
        label="Location"
        value={location}
        options={options}
        hint="Which stores keep its data. The bucket can be moved later."
      />
      <Check
        label="Object lock: versions can be protected from removal. This also turns versioning on, for good."
        value={lock}
      />
    </FormDialog>
  )
}

function DeleteBucket({ name, onClose, onDone }: { name: string; onClose: () => void; onDone: () => unknown }) {
  const remove = async () => {
    await deleteBucket(name)
    tell(`Deleted ${name}.`)
    await onDone()
  }
  return (
    <DeleteDialog name={name} onClose={onClose} onDelete={remove}>
      Only an empty bucket can be deleted. Its settings go with it.
    </DeleteDialog>
  )
}
