/** The log-in page: an access key and its secret, or an identity provider that the operator has configured. */
import { useSignal } from '@preact/signals'
import { useLoaded } from '../model/loaded.ts'
import { attempt } from '../model/notices.ts'
import { logIn, logInAt, logInIssuers } from '../model/session.ts'
import { Button } from '../ui/button.tsx'
import { TextField } from '../ui/fields.tsx'
import { Failure } from '../ui/loading.tsx'
import { useSubmit } from '../ui/submit.ts'

export function LogIn() {
  const accessKeyId = useSignal('')
  const secret = useSignal('')
  const send = async () => {
    await logIn(accessKeyId.value.trim(), secret.value)
    secret.value = ''
  }
  const { failure, busy, onSubmit } = useSubmit(send, reasonFromIssuer())
  return (
    <main class="log-in">
      <form onSubmit={onSubmit}>
        <svg class="logo" viewBox="0 0 32 32" aria-hidden="true">
          <path d="M10 7v18M22 7v18M10 16h12" />
        </svg>
        <h1>Holdfast</h1>
        <TextField label="Access key" value={accessKeyId} required autocomplete="username" />
        <TextField label="Secret key" type="password" value={secret} required autocomplete="current-password" />
        {failure.value !== '' && <Failure>{failure}</Failure>}
        <Button type="submit" kind="primary" disabled={busy.value}>
          Log in
        </Button>
        <Issuers />
      </form>
    </main>
  )
}

/** When a log-in at an issuer fails, the browser comes back with a code. */
function reasonFromIssuer(): string {
  const code = new URLSearchParams(location.search).get('logIn')
  return code === null ? '' : `The log-in at the issuer failed (${code}). Try again, or ask the operator.`
}

function Issuers() {
  const { state } = useLoaded(logInIssuers, [])
  if (state.is !== 'ready') return null
  return (
    <>
      {state.value.map((issuer) => (
        <Button key={issuer} onClick={() => attempt(() => logInAt(issuer))}>
          Log in with {issuer}
        </Button>
      ))}
    </>
  )
}
