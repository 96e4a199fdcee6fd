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

const all = [
  ['users', 'Users', Users, 'ListUsers'],
  ['keys', 'Keys', Keys, 'ListKeys'],
  ['policies', 'Policies', Policies, 'ListPolicies'],
] as const

export function Page() {
  const tabs = all.filter(([, , , operation]) => may(operation))
  const [, asked] = route.value.path
  const [tab, , Shown] = tabs.find(([id]) => id === asked) ?? tabs[0] ?? all[0]
  const account = route.value.query.get('account') ?? session.value?.account ?? 'main'
  const identities = useMemo(() => new AccountIdentities(account), [account])
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
