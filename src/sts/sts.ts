/** The API for temporary keys: the table of actions, and the function that runs them. Knows no HTTP. */

import { type Caller, type StsAction, type StsContext, type StsResult, stsVersion } from './action.ts'
import { assumeRole } from './assume-role.ts'
import { assumeRoleWithWebIdentity } from './assume-role-with-web-identity.ts'
import { getCallerIdentity } from './get-caller-identity.ts'
import { getSessionToken } from './get-session-token.ts'
import type { Parameters } from './parameters.ts'
import { StsError } from './sts-error.ts'

export const stsActions: readonly StsAction[] = [
  assumeRole,
  assumeRoleWithWebIdentity,
  getCallerIdentity,
  getSessionToken,
]

/** Actions of AWS or MinIO that this server refuses by name. */
const refusedActions: ReadonlySet<string> = new Set([
  'AssumeRoleWithCertificate',
  'AssumeRoleWithClientGrants',
  'AssumeRoleWithCustomToken',
  'AssumeRoleWithLDAPIdentity',
  'AssumeRoleWithSAML',
  'AssumeRoot',
  'DecodeAuthorizationMessage',
  'GetAccessKeyInfo',
  'GetDelegatedAccessToken',
  'GetFederationToken',
  'GetWebIdentityToken',
])

/** Throws MissingAction, InvalidAction, NotImplemented. */
export function findAction(parameters: Parameters): StsAction {
  const name = parameters.get('Action')
  if (name === undefined || name === '') throw new StsError('MissingAction', 'The request names no Action.')
  const version = parameters.get('Version') ?? ''
  const action = stsActions.find((known) => known.name === name)
  if (version === stsVersion && refusedActions.has(name)) {
    throw new StsError('NotImplemented', `${name} is not implemented by this server.`)
  }
  if (action !== undefined && version === stsVersion) return action
  throw new StsError('InvalidAction', `Could not find operation ${name} for version ${version}`)
}

/** `caller`: who signed. Throws `StsError`, `S3Error`. */
export async function runAction(
  action: StsAction,
  context: StsContext,
  caller: Caller | undefined,
  parameters: Parameters,
): Promise<StsResult> {
  if (action.authentication === 'web identity') return action.handle(context, parameters)
  if (caller === undefined) {
    throw new StsError('MissingAuthenticationToken', 'Request is missing Authentication Token')
  }
  return action.handle(context, caller, parameters)
}
