/** Users, keys and policies of an account. */
import { useMemo } from 'preact/hooks'
import { AccountIdentities, listAccounts } from '../api/identities.ts'
import { goTo, linkTo, route } from '../model/address.ts'
import { useLoaded } from '../model/loaded.ts'
import { may } from '../model/permissions.ts'
import { session } from '../model/session.ts'
import { Keys } from './access/keys.tsx'
import { Policies } from './access/policies.tsx'
import { Users } from './access/users.tsx'

const tabs = [
  ['users', 'Users', Users],
  ['keys', 'Keys', Keys],
  ['policies', 'Policies', Policies],
] as const

export function Page() {
  const [, tab = 'users'] = route.value.path
  const account = route.value.query.get('account') ?? session.value?.account ?? 'main'
  const identities = useMemo(() => new AccountIdentities(account), [account])
  const [, , Shown] = tabs.find(([id]) => id === tab) ?? tabs[0]
  return (
    <div class="page">
      <div class="page-head">
        <h1>Access</h1>
        {may('ListAccounts') && <AccountChoice account={account} tab={tab} />}
      </div>
      <nav class="tabs" aria-label="Kinds of identities">
        {tabs.map(([id, title]) => (
          <a key={id} href={linkTo(['access', id], { account })} aria-current={id === tab ? 'page' : undefined}>
            {title}
          </a>
        ))}
      </nav>
      <Shown key={account} identities={identities} />
    </div>
  )
}

function AccountChoice({ account, tab }: { account: string; tab: string }) {
  const { state } = useLoaded(listAccounts, [])
  if (state.is !== 'ready' || state.value.length < 2) return null
  return (
    <label class="bar">
      Account
      <select value={account} onChange={({ currentTarget }) => goTo(['access', tab], { account: currentTarget.value })}>
        {state.value.map(({ id, name }) => (
          <option key={id} value={id}>
            {name === id ? id : `${name} (${id})`}
          </option>
        ))}
      </select>
    </label>
  )
}
