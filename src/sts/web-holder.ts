/** What a web identity may become: a holder of temporary keys in its issuer's account, with the policies that its token names, as far as they exist. */
import type { Credentials } from '../auth/credentials.ts'
import type { SessionHolder } from '../auth/session-token.ts'
import type { WebIdentity } from './oidc/web-identities.ts'
import { StsError } from './sts-error.ts'

/** Throws AccessDenied. */
export function webHolder(
  { provider, subject, policies }: Pick<WebIdentity, 'provider' | 'subject' | 'policies'>,
  credentials: Pick<Credentials, 'hasAccount' | 'identities'>,
): SessionHolder & { kind: 'web-identity' } {
  const { account } = provider
  if (!credentials.hasAccount(account)) {
    throw new StsError('AccessDenied', 'Not authorized to perform sts:AssumeRoleWithWebIdentity')
  }
  const found = policies.filter((policyName) => credentials.identities.policy(account, policyName) !== undefined)
  if (found.length === 0) {
    const reason = `no policy of account ${account} has a name that the claim ${provider.claim} lists`
    throw new StsError('AccessDenied', 'Not authorized to perform sts:AssumeRoleWithWebIdentity', reason)
  }
  return { kind: 'web-identity', provider: provider.name, issuer: provider.issuer, subject, policies: found }
}
