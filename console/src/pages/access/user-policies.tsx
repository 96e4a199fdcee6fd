/** The policies of one user: those that other users may have too, and its own. */
import type { AccountIdentities, Policy, User } from '../../api/identities.ts'
import { useOpened } from '../../model/opened.ts'
import { may } from '../../model/permissions.ts'
import { IconButton } from '../../ui/button.tsx'
import { type EditedPolicy, EditPolicy, newPolicy } from './edit-policy.tsx'

interface OwnPolicyParts {
  user: User
  identities: AccountIdentities
  change: (work: () => Promise<unknown>, done: string) => Promise<void>
  onChanged: () => Promise<void>
}

interface UserPolicyParts extends OwnPolicyParts {
  policies: readonly Policy[]
}

export function UserPolicies({ user, policies, identities, change, onChanged }: UserPolicyParts) {
  const others = policies.filter(({ name }) => !user.policies.includes(name))
  return (
    <span class="bar">
      {user.policies.map((policy) => (
        <span key={policy} class="badge">
          {policy}
          {may('DetachUserPolicy') && (
            <IconButton
              icon="close"
              label={`Take ${policy} from ${user.name}`}
              onClick={() =>
                change(() => identities.detach(user.name, policy), `${user.name} no longer has ${policy}.`)
              }
            />
          )}
        </span>
      ))}
      <OwnPolicies user={user} identities={identities} change={change} onChanged={onChanged} />
      {may('AttachUserPolicy') && others.length > 0 && (
        <select
          aria-label={`Give ${user.name} a policy`}
          value=""
          onChange={({ currentTarget }) => {
            const policy = currentTarget.value
            void change(() => identities.attach(user.name, policy), `${user.name} has ${policy}.`)
          }}
        >
          <option value="">Add…</option>
          {others.map(({ name }) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      )}
    </span>
  )
}

/** Policies of this user alone, which are edited here. */
function OwnPolicies({ user, identities, change, onChanged }: OwnPolicyParts) {
  const editing = useOpened<EditedPolicy>()
  return (
    <>
      {user.inlinePolicies.map((policy) => (
        <span key={policy.name} class="badge">
          <button type="button" class="link-button" onClick={() => editing.open(policy)}>
            {policy.name} (own)
          </button>
          {may('DeleteUserPolicy') && (
            <IconButton
              icon="close"
              label={`Take ${policy.name} from ${user.name}`}
              onClick={() =>
                change(
                  () => identities.removeOwnPolicy(user.name, policy.name),
                  `${user.name} no longer has ${policy.name}.`,
                )
              }
            />
          )}
        </span>
      ))}
      {may('PutUserPolicy') && (
        <IconButton
          icon="plus"
          label={`Write a policy for ${user.name} alone`}
          onClick={() => editing.open(newPolicy)}
        />
      )}
      {editing.for && (
        <EditPolicy
          policy={editing.for}
          title={`A policy for ${user.name} alone`}
          mayChange={may('PutUserPolicy')}
          save={async (name, document) => {
            await identities.putOwnPolicy(user.name, name, document)
            await onChanged()
          }}
          onClose={editing.close}
        />
      )}
    </>
  )
}
