/** Asks the server whether a key may do something, and which statement decides this. */
import { useSignal } from '@preact/signals'
import { attempt } from '../model/notices.ts'
import { explainAccess } from '../model/server.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { TextField } from './fields.tsx'

export function Explain({ resource: initial, onClose }: { resource: string; onClose: () => void }) {
  const accessKeyId = useSignal('')
  const action = useSignal('s3:GetObject')
  const resource = useSignal(initial)
  const answer = useSignal<{ allowed: boolean; reason: string } | undefined>(undefined)
  const ask = () =>
    attempt(async () => {
      const key = accessKeyId.value.trim()
      answer.value = await explainAccess({
        ...(key === '' ? {} : { accessKeyId: key }),
        action: action.value,
        resource: resource.value,
      })
    })
  return (
    <Dialog title="Explain access" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void ask()
        }}
      >
        <TextField label="Access key" value={accessKeyId} hint="Empty: a sender without a key." />
        <TextField label="Action" value={action} required />
        <TextField label="Resource" value={resource} required />
        {answer.value && (
          <p role="status">
            <span class={answer.value.allowed ? 'badge good' : 'badge danger'}>
              {answer.value.allowed ? 'Allowed' : 'Denied'}
            </span>{' '}
            {answer.value.reason}
          </p>
        )}
        <footer>
          <Button type="submit" kind="primary">
            Explain
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
