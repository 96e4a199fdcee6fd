/** The interface of an action of the API for temporary keys, and what it works with. */
import type { Credentials } from '../auth/credentials.ts'
import type { Principal } from '../auth/principal.ts'
import type { TokenKeys } from '../auth/session-token.ts'
import type { Sessions } from '../auth/sessions.ts'
import type { Clock } from '../clock.ts'
import type { WebIdentities } from './oidc/web-identities.ts'
import type { Parameters } from './parameters.ts'
import type { StsErrorCode } from './sts-error.ts'

/** The API's version, which every request names. */
export const stsVersion = '2011-06-15'

export interface SealingKeys extends TokenKeys {
  /** Reads the ring again: another process may have added a key, and tokens sealed with an older key end when that key is retired. */
  refresh(): Promise<void>
}

export interface StsContext {
  clock: Clock
  /** The keys that seal sessions. */
  keys: SealingKeys
  sessions: Sessions
  credentials: Pick<Credentials, 'keyOf' | 'hasAccount' | 'identities'>
  webIdentities: WebIdentities
}

/** Who signed the request. */
export interface Caller {
  principal: Principal
  /** Throws AccessDenied (`S3Error`) when a policy of the caller explicitly denies it. No policy must allow it, because temporary keys add no rights. */
  refuseDenied(permission: string): void
}

/** The elements of the answer's result, in order. */
export interface StsResult {
  readonly [element: string]: string | StsResult
}

interface ActionParts {
  name: string
  /** Error codes in addition to those that any request can get. */
  errors: readonly StsErrorCode[]
}

export type StsAction =
  | (ActionParts & {
      authentication: 'signed'
      handle(context: StsContext, caller: Caller, parameters: Parameters): StsResult | Promise<StsResult>
    })
  /** An unsigned action: a token in the parameters identifies the sender. */
  | (ActionParts & {
      authentication: 'web identity'
      handle(context: StsContext, parameters: Parameters): Promise<StsResult>
    })
