/** The type, the metadata and the tags of an object, as text that can be changed. */
import { useSignal } from '@preact/signals'
import { useContext } from 'preact/hooks'
import { copyObject, type Described, type ObjectAddress, objectTags, putObjectTags } from '../../api/objects.ts'
import { useLoaded } from '../../model/loaded.ts'
import { tell } from '../../model/notices.ts'
import { useOpened } from '../../model/opened.ts'
import { ObjectRights } from '../../model/rights.ts'
import { Button } from '../../ui/button.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/fields.tsx'
import { Show } from '../../ui/loading.tsx'
import { type PairList, Pairs, pairsOf, recordOf } from '../../ui/pairs.tsx'

interface MetadataParts {
  address: ObjectAddress
  described: Described
  onChange: () => unknown
}

export function ObjectMetadata({ address, described, onChange }: MetadataParts) {
  const editing = useOpened()
  const may = useContext(ObjectRights)
  const { metadata } = described
  return (
    <>
      <div class="bar">
        <h3>Metadata</h3>
        {address.versionId === undefined && may('s3:PutObject') && (
          <Button onClick={() => editing.open(true)}>Change</Button>
        )}
      </div>
      <ShownPairs pairs={metadata} none="No metadata." />
      {editing.for && (
        <EditMetadata address={address} described={described} onChange={onChange} onClose={editing.close} />
      )}
    </>
  )
}

function EditMetadata({ address, described, onChange, onClose }: MetadataParts & { onClose: () => void }) {
  const type = useSignal(described.contentType)
  const pairs = useSignal<PairList>(pairsOf(described.metadata))
  const save = async () => {
    await copyObject(address, address, { contentType: type.value, metadata: recordOf(pairs.value) })
    tell('Metadata changed.')
    await onChange()
  }
  return (
    <FormDialog title="Change metadata" action="Save" onClose={onClose} onSubmit={save}>
      <p class="hint">The server copies the object onto itself. With versioning, this makes a new version.</p>
      <TextField label="Type" value={type} />
      <Pairs title="Metadata" pairs={pairs} />
    </FormDialog>
  )
}

export function ObjectTags({ address }: { address: ObjectAddress }) {
  const { state, reload } = useLoaded(() => objectTags(address), [])
  const editing = useOpened()
  const may = useContext(ObjectRights)
  const pairs = useSignal<PairList>([])
  const save = async () => {
    await putObjectTags(address, recordOf(pairs.value))
    tell('Tags changed.')
    await reload()
  }
  return (
    <>
      <Show of={state} again={reload}>
        {(tags) => (
          <>
            <div class="bar">
              <h3>Tags</h3>
              {may('s3:PutObjectTagging') && (
                <Button
                  onClick={() => {
                    pairs.value = pairsOf(tags)
                    editing.open(true)
                  }}
                >
                  Change tags
                </Button>
              )}
            </div>
            <ShownPairs pairs={tags} none="No tags." />
          </>
        )}
      </Show>
      {editing.for && (
        <FormDialog title="Change tags" action="Save" onClose={editing.close} onSubmit={save}>
          <Pairs title="Tags" pairs={pairs} />
        </FormDialog>
      )}
    </>
  )
}

function ShownPairs({ pairs, none }: { pairs: Readonly<Record<string, string>>; none: string }) {
  const entries = Object.entries(pairs)
  if (entries.length === 0) return <p class="quiet">{none}</p>
  return (
    <dl class="facts">
      {entries.flatMap(([name, value]) => [<dt key={name}>{name}</dt>, <dd key={`${name} `}>{value}</dd>])}
    </dl>
  )
}
