/** The values of condition keys, from the principal or from the request. */
import {
  type AccessPrincipal,
  type AccessRequest,
  accountOf,
  type ContextValue,
  type SessionFacts,
} from './access-request.ts'
import type { Lookup } from './glob.ts'

const tagPrefix = 'aws:PrincipalTag/'
/** Claims of web identities, as MinIO names them: `jwt:groups`. */
const claimPrefix = 'jwt:'

type PrincipalValue = (principal: AccessPrincipal) => string | undefined

/** Documented in the IAM user guide under "Information available in all requests" and "principal key values". */
const principalValues: ReadonlyMap<string, PrincipalValue> = new Map<string, PrincipalValue>([
  ['aws:PrincipalAccount', (principal) => (principal.kind === 'anonymous' ? 'anonymous' : accountOf(principal))],
  ['aws:PrincipalArn', principalArn],
  ['aws:PrincipalType', ({ kind }) => typeNames[kind]],
  ['aws:userid', userId],
  ['aws:username', (principal) => (principal.kind === 'user' ? principal.name : undefined)],
  ['aws:PrincipalIsAWSService', ({ kind }) => (kind === 'anonymous' ? undefined : String(kind === 'service'))],
  ['aws:PrincipalServiceName', (principal) => (principal.kind === 'service' ? principal.name : undefined)],
  // No service sends requests for a principal.
  ['aws:ViaAWSService', () => 'false'],
])

/** As in AWS, only temporary keys have these. This server has no multi-factor authentication. */
const sessionValues: ReadonlyMap<string, (session: SessionFacts) => string> = new Map<
  string,
  (session: SessionFacts) => string
>([
  ['aws:MultiFactorAuthPresent', () => 'false'],
  ['aws:TokenIssueTime', ({ issuedMs }) => new Date(issuedMs).toISOString()],
])

const typeNames = { anonymous: 'Anonymous', account: 'Account', user: 'User', service: undefined } as const

/** `undefined` for a principal without an account. */
export function principalArn(principal: AccessPrincipal): string | undefined {
  if (principal.kind === 'anonymous' || principal.kind === 'service') return undefined
  const resource = principal.kind === 'account' ? 'root' : `user/${principal.name}`
  return `arn:aws:iam::${principal.accountId}:${resource}`
}

function sessionOf(principal: AccessPrincipal): SessionFacts | undefined {
  return principal.kind === 'anonymous' || principal.kind === 'service' ? undefined : principal.session
}

export function userId(principal: AccessPrincipal): string {
  if (principal.kind === 'anonymous') return 'anonymous'
  if (principal.kind === 'service') return principal.name
  return principal.kind === 'account' ? principal.accountId : principal.id
}

/** Whether the key's value comes from the principal and not from the request. */
export const isSaidByPrincipal = (key: string): boolean => principalValues.has(key) || key.startsWith(tagPrefix)

/** `key`: spelled as in the table of condition keys. */
export function contextValue(request: AccessRequest, key: string): ContextValue {
  const { principal } = request
  const own = principalValues.get(key)
  if (own !== undefined) return own(principal)
  const session = sessionOf(principal)
  if (key.startsWith(claimPrefix)) return session?.claims?.get(key.slice(claimPrefix.length))
  const ofSession = sessionValues.get(key)
  if (session !== undefined && ofSession !== undefined) return ofSession(session)
  if (!key.startsWith(tagPrefix)) return request.value(key)
  if (principal.kind === 'anonymous' || principal.kind === 'service') return undefined
  return principal.tags?.get(key.slice(tagPrefix.length).toLowerCase())
}

/** Looks up values of policy variables. A key with several values counts as having none. */
export function contextLookup(request: AccessRequest): Lookup {
  return (key) => {
    const value = contextValue(request, key)
    return typeof value === 'string' ? value : undefined
  }
}
