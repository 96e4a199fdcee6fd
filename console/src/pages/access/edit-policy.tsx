/** The document of a policy, to look at or to change. */
import { useSignal } from '@preact/signals'
import { tell } from '../../model/notices.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { TextArea, TextField } from '../../ui/fields.tsx'

export interface EditedPolicy {
  /** Empty: a new one. */
  name: string
  document: string
}

/** Where a new policy begins. */
export const newPolicy: EditedPolicy = {
  name: '',
  document: JSON.stringify({
    Version: '2012-10-17',
    Statement: [
      {
        Effect: 'Allow',
        Action: ['s3:GetObject', 's3:ListBucket'],
        Resource: ['arn:aws:s3:::BUCKET', 'arn:aws:s3:::BUCKET/*'],
      },
    ],
  }),
}

interface EditParts {
  policy: EditedPolicy
  /** Of a new policy. */
  title: string
  mayChange: boolean
  save: (name: string, document: string) => Promise<unknown>
  onClose: () => void
}

export function EditPolicy({ policy, title, mayChange, save, onClose }: EditParts) {
  const name = useSignal(policy.name)
  const document = useSignal(JSON.stringify(JSON.parse(policy.document), null, 2))
  const submit = async () => {
    if (!mayChange) return
    await save(name.value, document.value)
    tell(`Saved ${name.value}.`)
  }
  const isNew = policy.name === ''
  return (
    <FormDialog
      title={isNew ? title : policy.name}
      action={mayChange ? 'Save' : 'Close'}
      onClose={onClose}
      onSubmit={submit}
    >
      {isNew && <TextField label="Name" value={name} required />}
      <TextArea label="Document" value={document} rows={18} code />
    </FormDialog>
  )
}
