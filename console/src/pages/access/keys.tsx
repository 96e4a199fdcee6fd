/** The access keys of users and of the account itself. A secret is shown only once. */
import { useSignal } from '@preact/signals'
import { listBuckets } from '../../api/buckets.ts'
import type { AccountIdentities, IssuedKey, Key } from '../../api/identities.ts'
import { route } from '../../model/address.ts'
import { scopedPolicy } from '../../model/key-scope.ts'
import { useLoaded } from '../../model/loaded.ts'
import { attempt, tell } from '../../model/notices.ts'
import { useOpened } from '../../model/opened.ts'
import { may } from '../../model/permissions.ts'
import { timeText } from '../../model/text.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { DeleteDialog, Dialog, FormDialog } from '../../ui/dialog.tsx'
import { Check, Choice, TextField } from '../../ui/fields.tsx'
import { Empty, Show } from '../../ui/loading.tsx'
import { type Column, Table } from '../../ui/table.tsx'

export function Keys({ identities }: { identities: AccountIdentities }) {
  const ofUser = route.value.query.get('user')
  const { state, reload } = useLoaded(() => identities.keys(), [])
  const making = useOpened()
  const issued = useOpened<IssuedKey>()
  const removing = useOpened<string>()
  const change = async (work: () => Promise<unknown>, done: string) => {
    if (await attempt(work, done)) await reload()
  }
  const rotate = (id: string) =>
    attempt(async () => {
      issued.open(await identities.rotateKey(id))
      await reload()
    })
  const columns = keyColumns(identities, { change, rotate, remove: removing.open })
  return (
    <>
      <div class="bar">
        {may('CreateKey') && (
          <Button icon="plus" kind="primary" onClick={() => making.open(true)}>
            Create key
          </Button>
        )}
        {ofUser !== null && <span class="badge">of {ofUser}</span>}
      </div>
      <Show of={state} again={reload}>
        {(keys) => {
          const shown = keys.filter(({ user }) => ofUser === null || user === ofUser)
          if (shown.length === 0) return <Empty title="No key yet" />
          return <Table caption="Keys" columns={columns} rows={shown} idOf={({ accessKeyId }) => accessKeyId} />
        }}
      </Show>
      {making.for && (
        <CreateKey
          identities={identities}
          user={ofUser ?? ''}
          onClose={making.close}
          onDone={async (key) => {
            issued.open(key)
            await reload()
          }}
        />
      )}
      {removing.for !== undefined && (
        <DeleteDialog
          name={removing.for}
          onClose={removing.close}
          onDelete={async () => {
            await identities.removeKey(removing.for ?? '')
            await reload()
          }}
        >
          The key stops working at once, and so do the links that it signed.
        </DeleteDialog>
      )}
      {issued.for && <Secret issued={issued.for} onClose={issued.close} />}
    </>
  )
}

interface KeyActions {
  change: (work: () => Promise<unknown>, done: string) => Promise<void>
  rotate: (id: string) => Promise<unknown>
  remove: (id: string) => void
}

function keyColumns(identities: AccountIdentities, { change, rotate, remove }: KeyActions): Column<Key>[] {
  return [
    {
      title: 'Key',
      show: ({ accessKeyId, description }) => (
        <>
          <code>{accessKeyId}</code> <span class="quiet">{description}</span>
        </>
      ),
    },
    { title: 'Owner', show: ({ user }) => user ?? 'the account' },
    { title: 'Expires', show: ({ expires }) => (expires === undefined ? 'never' : timeText(expires)) },
    {
      title: 'Restricted',
      show: ({ policy }) =>
        policy === undefined ? (
          ''
        ) : (
          <span class="badge" title={policy}>
            by a policy
          </span>
        ),
    },
    {
      title: 'State',
      show: ({ accessKeyId, enabled, source }) =>
        source === 'configuration' ? (
          <span class="badge">in the configuration</span>
        ) : (
          <Button
            pressed={enabled}
            disabled={!may('SetKeyEnabled')}
            onClick={() =>
              change(
                () => identities.enableKey(accessKeyId, !enabled),
                enabled ? 'The key is disabled.' : 'The key is enabled.',
              )
            }
          >
            {enabled ? 'Enabled' : 'Disabled'}
          </Button>
        ),
    },
    {
      title: '',
      isNumber: true,
      show: ({ accessKeyId, source }) =>
        source === 'configuration' ? null : <KeyButtons id={accessKeyId} rotate={rotate} remove={remove} />,
    },
  ]
}

function KeyButtons({ id, rotate, remove }: Pick<KeyActions, 'rotate' | 'remove'> & { id: string }) {
  return (
    <span class="bar">
      {may('RotateKey') && <IconButton icon="restore" label={`Give ${id} another secret`} onClick={() => rotate(id)} />}
      {may('DeleteKey') && <IconButton icon="trash" label={`Delete ${id}`} onClick={() => remove(id)} />}
    </span>
  )
}

function Secret({ issued, onClose }: { issued: IssuedKey; onClose: () => void }) {
  const id = useSignal(issued.accessKeyId)
  const secret = useSignal(issued.secretAccessKey)
  const copy = async () => {
    await navigator.clipboard.writeText(`${id.value}\n${secret.value}`)
    tell('Copied.')
  }
  return (
    <Dialog title="The secret is shown once" onClose={onClose}>
      <TextField label="Access key" value={id} readOnly />
      <TextField label="Secret key" value={secret} readOnly />
      <footer>
        <Button icon="copy" onClick={copy}>
          Copy both
        </Button>
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      </footer>
    </Dialog>
  )
}

interface CreateParts {
  identities: AccountIdentities
  user: string
  onDone: (key: IssuedKey) => Promise<void>
  onClose: () => void
}

const loadChoices = async (identities: AccountIdentities) => {
  const [users, buckets] = await Promise.all([
    may('ListUsers') ? identities.users() : [],
    listBuckets().catch(() => []),
  ])
  return { users: users.map(({ name }) => name), buckets: buckets.map(({ name }) => name) }
}

function CreateKey({ identities, user: initial, onDone, onClose }: CreateParts) {
  const { state } = useLoaded(() => loadChoices(identities), [])
  const { users, buckets } = state.is === 'ready' ? state.value : { users: [], buckets: [] }
  const user = useSignal(initial)
  const expires = useSignal('')
  const description = useSignal('')
  const bucket = useSignal('')
  const prefix = useSignal('')
  const readOnly = useSignal(false)
  const create = async () => {
    const policy = scopedPolicy({ bucket: bucket.value, prefix: prefix.value, readOnly: readOnly.value })
    const key = await identities.addKey({
      ...(user.value === '' ? {} : { user: user.value }),
      ...(expires.value === '' ? {} : { expires: new Date(expires.value).toISOString() }),
      ...(description.value === '' ? {} : { description: description.value }),
      ...(policy === undefined ? {} : { policy }),
    })
    await onDone(key)
  }
  return (
    <FormDialog title="Create key" action="Create" onClose={onClose} onSubmit={create}>
      <Choice
        label="Owner"
        value={user}
        options={[['', 'the account itself'] as const, ...users.map((each) => [each, each] as const)]}
      />
      <Choice
        label="Only for bucket"
        value={bucket}
        options={[['', 'every bucket its owner may use'] as const, ...buckets.map((each) => [each, each] as const)]}
      />
      {bucket.value !== '' && <TextField label="Only below this prefix" value={prefix} />}
      <Check label="Read only" value={readOnly} />
      <TextField label="Expires" type="datetime-local" value={expires} hint="Empty: never." />
      <TextField label="Description" value={description} />
    </FormDialog>
  )
}
