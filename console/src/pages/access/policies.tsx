/** The policies of an account, which users can have. */
import { useSignal } from '@preact/signals'
import type { AccountIdentities, Policy } from '../../api/identities.ts'
import { useLoaded } from '../../model/loaded.ts'
import { tell } from '../../model/notices.ts'
import { useOpened } from '../../model/opened.ts'
import { may } from '../../model/permissions.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { DeleteDialog, FormDialog } from '../../ui/dialog.tsx'
import { Explain } from '../../ui/explain.tsx'
import { TextArea, TextField } from '../../ui/fields.tsx'
import { Show } from '../../ui/loading.tsx'
import { type Column, Table } from '../../ui/table.tsx'

const template = {
  Version: '2012-10-17',
  Statement: [
    {
      Effect: 'Allow',
      Action: ['s3:GetObject', 's3:ListBucket'],
      Resource: ['arn:aws:s3:::BUCKET', 'arn:aws:s3:::BUCKET/*'],
    },
  ],
}

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
          <Button
            icon="plus"
            kind="primary"
            onClick={() => editing.open({ name: '', document: JSON.stringify(template), builtIn: false })}
          >
            Create policy
          </Button>
        )}
        {may('ExplainAccess') && <Button onClick={() => explaining.open(true)}>Explain access…</Button>}
      </div>
      <Show of={state} again={reload}>
        {(policies) => <Table caption="Policies" columns={columns} rows={policies} idOf={({ name }) => name} />}
      </Show>
      {editing.for && (
        <EditPolicy identities={identities} policy={editing.for} onDone={reload} onClose={editing.close} />
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

interface EditParts {
  identities: AccountIdentities
  policy: { name: string; document: string; builtIn: boolean }
  onDone: () => Promise<void>
  onClose: () => void
}

function EditPolicy({ identities, policy, onDone, onClose }: EditParts) {
  const name = useSignal(policy.name)
  const document = useSignal(JSON.stringify(JSON.parse(policy.document), null, 2))
  const isFixed = policy.builtIn || !may('PutPolicy')
  const save = async () => {
    if (isFixed) return
    await identities.putPolicy(name.value, document.value)
    tell(`Saved ${name.value}.`)
    await onDone()
  }
  return (
    <FormDialog
      title={policy.name === '' ? 'Create policy' : policy.name}
      action={isFixed ? 'Close' : 'Save'}
      onClose={onClose}
      onSubmit={save}
    >
      {policy.name === '' && <TextField label="Name" value={name} required />}
      <TextArea label="Document" value={document} rows={18} code />
    </FormDialog>
  )
}
