/** The policies of an account, which users can have. */
import type { AccountIdentities, Policy } from '../../api/identities.ts'
import { useLoaded } from '../../model/loaded.ts'
import { useOpened } from '../../model/opened.ts'
import { may } from '../../model/permissions.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { DeleteDialog } from '../../ui/dialog.tsx'
import { Explain } from '../../ui/explain.tsx'
import { Show } from '../../ui/loading.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { EditPolicy, newPolicy } from './edit-policy.tsx'

export function Policies({ identities }: { identities: AccountIdentities }) {
  const { state, reload } = useLoaded(() => identities.policies(), [])
  const editing = useOpened<{ name: string; document: string; builtIn: boolean }>()
  const explaining = useOpened()
  const removing = useOpened<string>()
  const columns = policyColumns(editing.open, removing.open)
  return (
    <>
      <div class="bar">
        {may('PutPolicy') && (
          <Button icon="plus" kind="primary" onClick={() => editing.open({ ...newPolicy, builtIn: false })}>
            Create policy
          </Button>
        )}
        {may('ExplainAccess') && <Button onClick={() => explaining.open(true)}>Explain access…</Button>}
      </div>
      <Show of={state} again={reload}>
        {(policies) => <Table caption="Policies" columns={columns} rows={policies} idOf={({ name }) => name} />}
      </Show>
      {editing.for && (
        <EditPolicy
          policy={editing.for}
          title="Create policy"
          mayChange={!editing.for.builtIn && may('PutPolicy')}
          save={async (name, document) => {
            await identities.putPolicy(name, document)
            await reload()
          }}
          onClose={editing.close}
        />
      )}
      {removing.for !== undefined && (
        <DeleteDialog
          name={removing.for}
          onClose={removing.close}
          onDelete={async () => {
            await identities.removePolicy(removing.for ?? '')
            await reload()
          }}
        >
          A policy that a user has cannot be deleted.
        </DeleteDialog>
      )}
      {explaining.for && <Explain resource="bucket/key" onClose={explaining.close} />}
    </>
  )
}

function policyColumns(edit: (policy: Policy) => void, remove: (name: string) => void): Column<Policy>[] {
  return [
    {
      title: 'Name',
      show: (policy) => (
        <button type="button" class="link-button" onClick={() => edit(policy)}>
          <strong>{policy.name}</strong>
        </button>
      ),
    },
    { title: 'Kind', show: ({ builtIn }) => (builtIn ? <span class="badge">built in</span> : '') },
    { title: 'Users', show: ({ users }) => users.join(', ') },
    {
      title: '',
      isNumber: true,
      show: ({ name, builtIn }) =>
        !builtIn && may('DeletePolicy') ? (
          <IconButton icon="trash" label={`Delete ${name}`} onClick={() => remove(name)} />
        ) : null,
    },
  ]
}
