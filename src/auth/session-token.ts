/**
 * Session tokens: everything about temporary keys, sealed so that any process with the key ring can open it. The server stores nothing. Knows no requests.
 * Reasons: docs/adr/0038-temporary-keys.md
 */
import { hash } from 'node:crypto'
import { S3Error } from '../errors.ts'
import { limits } from '../limits.ts'
import { openText, sealText, type TokenKeys } from './sealed-text.ts'

export type { TokenKeys }

/** The parent of temporary keys. They become invalid with it. */
export type SessionHolder =
  | {
      readonly kind: 'key'
      readonly accessKeyId: string
      /** The tag of the key's secret when the session began. A rotated key has another tag. See `secretTag`. */
      readonly secretTag: string
    }
  | {
      readonly kind: 'web-identity'
      /** The issuer's name in the configuration. */
      readonly provider: string
      readonly issuer: string
      readonly subject: string
      /** Names of the account's policies. */
      readonly policies: readonly string[]
    }

/** The content of a token. Only clients store it, at most for the length of the longest session. */
export interface Session {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly accountId: string
  readonly holder: SessionHolder
  readonly kind: 'assumed-role' | 'session-token' | 'web-identity'
  readonly name?: string | undefined
  /** The document of the session policy. Absent: the session may do what its holder may. */
  readonly policy?: string | undefined
  readonly issuedMs: number
  readonly expiresMs: number
  /** The claims of a web identity, by name. */
  readonly claims?: Readonly<Record<string, string | readonly string[]>> | undefined
}

const label = 'holdfast session token'

/** `random` returns that many random bytes. */
export function sealSession(session: Session, keys: TokenKeys, random: (bytes: number) => Buffer): string {
  return sealText(JSON.stringify(session), label, keys, random)
}

/** Throws InvalidToken for anything that no process with these keys has sealed. */
export function openSession(token: string, keys: TokenKeys): Session {
  // Some clients pad base64.
  const text = token.replace(/={1,2}$/, '')
  const json = text.length > limits.sessionTokenCharsMax ? undefined : openText(text, label, keys)
  if (json === undefined) throw invalidToken()
  // Authenticated, so `sealSession` wrote it.
  return JSON.parse(json) as Session
}

export const invalidToken = (): S3Error => new S3Error('InvalidToken')

/** Distinguishes the secrets that one key has had. It travels only inside sealed tokens. */
export const secretTag = (secretAccessKey: string): string =>
  hash('sha256', `holdfast session parent\n${secretAccessKey}`).slice(0, 32)
