/** What an action of the API for temporary keys is, and what it works with. */
import type { Credentials } from '../auth/credentials.ts'
import type { Principal } from '../auth/principal.ts'
import type { TokenKeys } from '../auth/session-token.ts'
import type { Sessions } from '../auth/sessions.ts'
import type { Clock } from '../clock.ts'
import type { WebIdentities } from './oidc/web-identities.ts'
import type { Parameters } from './parameters.ts'
import type { StsErrorCode } from './sts-error.ts'

/** Of the API, as every request names it. */
export const stsVersion = '2011-06-15'

export interface SealingKeys extends TokenKeys {
  /** Reads the ring again: another process may have added a key, and what an older one seals ends when that is retired. */
  refresh(): Promise<void>
}

export interface StsContext {
  clock: Clock
  /** Seals sessions. */
  keys: SealingKeys
  sessions: Sessions
  credentials: Pick<Credentials, 'keyOf' | 'hasAccount' | 'identities'>
  webIdentities: WebIdentities
}

/** Who signed the request. */
export interface Caller {
  principal: Principal
  /** Throws AccessDenied (`S3Error`) when one of the caller's policies denies it explicitly. Nothing needs to allow it: temporary keys add nothing. */
  refuseDenied(permission: string): void
}

/** Elements of the answer's result, in order. */
export interface StsResult {
  readonly [element: string]: string | StsResult
}

interface ActionParts {
  name: string
  /** Codes beyond those that any request can get. */
  errors: readonly StsErrorCode[]
}

export type StsAction =
  | (ActionParts & {
      authentication: 'signed'
      handle(context: StsContext, caller: Caller, parameters: Parameters): StsResult | Promise<StsResult>
    })
  /** The token in it says who asks. */
  | (ActionParts & {
      authentication: 'web identity'
      handle(context: StsContext, parameters: Parameters): Promise<StsResult>
    })
