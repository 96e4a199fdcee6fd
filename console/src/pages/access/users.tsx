/** The users of an account: what they may do, and whether they may log in. */
import { useSignal } from '@preact/signals'
import type { AccountIdentities, Policy, User } from '../../api/identities.ts'
import { linkTo } from '../../model/address.ts'
import { useLoaded } from '../../model/loaded.ts'
import { attempt, tell } from '../../model/notices.ts'
import { useOpened } from '../../model/opened.ts'
import { may } from '../../model/permissions.ts'
import { timeText } from '../../model/text.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { DeleteDialog, FormDialog } from '../../ui/dialog.tsx'
import { Choice, TextField } from '../../ui/fields.tsx'
import { Empty, Show } from '../../ui/loading.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { UserPolicies } from './user-policies.tsx'

interface UsersAndPolicies {
  users: User[]
  policies: Policy[]
}

async function load(identities: AccountIdentities): Promise<UsersAndPolicies> {
  const [users, policies] = await Promise.all([identities.users(), may('ListPolicies') ? identities.policies() : []])
  return { users, policies }
}

export function Users({ identities }: { identities: AccountIdentities }) {
  const { state, reload } = useLoaded(() => load(identities), [])
  const making = useOpened()
  const removing = useOpened<string>()
  const change = async (work: () => Promise<unknown>, done: string) => {
    if (await attempt(work, done)) await reload()
  }
  const columns = (policies: readonly Policy[]) =>
    userColumns(identities, { policies, change, onChanged: reload, remove: removing.open })
  return (
    <>
      <div class="bar">
        {may('CreateUser') && (
          <Button icon="plus" kind="primary" onClick={() => making.open(true)}>
            Create user
          </Button>
        )}
      </div>
      <Show of={state} again={reload}>
        {({ users, policies }) =>
          users.length === 0 ? (
            <Empty title="No user yet">
              <p>Give each person and program a user of its own, with keys that do only what they need.</p>
            </Empty>
          ) : (
            <Table caption="Users" columns={columns(policies)} rows={users} idOf={({ name }) => name} />
          )
        }
      </Show>
      {making.for && state.is === 'ready' && (
        <CreateUser identities={identities} policies={state.value.policies} onDone={reload} onClose={making.close} />
      )}
      {removing.for !== undefined && (
        <DeleteDialog
          name={removing.for}
          onClose={removing.close}
          onDelete={async () => {
            await identities.removeUser(removing.for ?? '')
            await reload()
          }}
        >
          All keys of the user stop working at once.
        </DeleteDialog>
      )}
    </>
  )
}

interface ColumnParts {
  policies: readonly Policy[]
  change: (work: () => Promise<unknown>, done: string) => Promise<void>
  onChanged: () => Promise<void>
  remove: (name: string) => void
}

function userColumns(
  identities: AccountIdentities,
  { policies, change, onChanged, remove }: ColumnParts,
): Column<User>[] {
  return [
    { title: 'Name', show: ({ name }) => <strong>{name}</strong> },
    {
      title: 'Policies',
      show: (user) => (
        <UserPolicies user={user} policies={policies} identities={identities} change={change} onChanged={onChanged} />
      ),
    },
    { title: 'Created', show: ({ created }) => timeText(created) },
    {
      title: 'State',
      show: ({ name, enabled }) => (
        <Button
          pressed={enabled}
          disabled={!may('SetUserEnabled')}
          onClick={() =>
            change(
              () => identities.enableUser(name, !enabled),
              enabled ? `${name} is disabled.` : `${name} is enabled.`,
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
      show: ({ name }) => (
        <span class="bar">
          {may('ListKeys') && (
            <a class="button push" href={linkTo(['access', 'keys'], { account: identities.account, user: name })}>
              Keys
            </a>
          )}
          {may('DeleteUser') && <IconButton icon="trash" label={`Delete ${name}`} onClick={() => remove(name)} />}
        </span>
      ),
    },
  ]
}

interface CreateParts {
  identities: AccountIdentities
  policies: readonly Policy[]
  onDone: () => Promise<void>
  onClose: () => void
}

function CreateUser({ identities, policies, onDone, onClose }: CreateParts) {
  const name = useSignal('')
  const policy = useSignal('')
  const create = async () => {
    await identities.addUser(name.value)
    if (policy.value !== '') await identities.attach(name.value, policy.value)
    tell(`Created ${name.value}.`)
    await onDone()
  }
  return (
    <FormDialog title="Create user" action="Create" onClose={onClose} onSubmit={create}>
      <TextField label="Name" value={name} required />
      <Choice
        label="May do"
        value={policy}
        options={[['', 'nothing yet'] as const, ...policies.map((each) => [each.name, each.name] as const)]}
      />
    </FormDialog>
  )
}
