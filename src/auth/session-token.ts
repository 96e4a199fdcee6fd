/**
 * Session tokens: everything about temporary keys, sealed so that any process with the key ring can open it. The server stores nothing. Knows no requests.
 * Reasons: docs/adr/0038-temporary-keys.md
 */
import { createCipheriv, createDecipheriv, hash, hkdfSync } from 'node:crypto'
import { S3Error } from '../errors.ts'
import { limits } from '../limits.ts'

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

/** A key of the ring, from which the key for tokens is derived. */
export interface TokenKey {
  /** 16 hexadecimal digits. */
  readonly id: string
  readonly secret: Buffer
}

export interface TokenKeys {
  /** The key that seals new tokens. */
  newest(): TokenKey
  /** A key by id: older keys still open the tokens that they sealed. */
  find(id: string): TokenKey | undefined
}

const version = 1
const idBytes = 8
const ivBytes = 12
const tagBytes = 16
/** The token's head holds the version and the key's id, unencrypted but authenticated. */
const headBytes = 1 + idBytes
const label = 'holdfast session token'

/** `random` returns that many random bytes. */
export function sealSession(session: Session, keys: TokenKeys, random: (bytes: number) => Buffer): string {
  const { id, secret } = keys.newest()
  const head = Buffer.concat([Buffer.of(version), Buffer.from(id, 'hex')])
  const iv = Buffer.from(random(ivBytes))
  const cipher = createCipheriv('aes-256-gcm', sealingKey(secret), iv)
  cipher.setAAD(head)
  const sealed = Buffer.concat([cipher.update(JSON.stringify(session)), cipher.final()])
  return Buffer.concat([head, iv, sealed, cipher.getAuthTag()]).toString('base64url')
}

/** Throws InvalidToken for anything that no process with these keys has sealed. */
export function openSession(token: string, keys: TokenKeys): Session {
  // Some clients pad base64.
  const text = token.replace(/={1,2}$/, '')
  if (text.length > limits.sessionTokenCharsMax || !/^[\w-]+$/.test(text)) throw invalidToken()
  const bytes = Buffer.from(text, 'base64url')
  // Refuses other spellings of the same bytes.
  if (bytes.toString('base64url') !== text) throw invalidToken()
  if (bytes.length <= headBytes + ivBytes + tagBytes || bytes[0] !== version) throw invalidToken()
  const key = keys.find(bytes.toString('hex', 1, headBytes))
  if (key === undefined) throw invalidToken()
  const sealedAt = headBytes + ivBytes
  const decipher = createDecipheriv('aes-256-gcm', sealingKey(key.secret), bytes.subarray(headBytes, sealedAt), {
    authTagLength: tagBytes,
  })
  decipher.setAAD(bytes.subarray(0, headBytes))
  decipher.setAuthTag(bytes.subarray(-tagBytes))
  let json: string
  try {
    json = Buffer.concat([decipher.update(bytes.subarray(sealedAt, -tagBytes)), decipher.final()]).toString()
  } catch {
    throw invalidToken()
  }
  // Authenticated, so `sealSession` wrote it.
  return JSON.parse(json) as Session
}

export const invalidToken = (): S3Error => new S3Error('InvalidToken')

/** Distinguishes the secrets that one key has had. It travels only inside sealed tokens. */
export const secretTag = (secretAccessKey: string): string =>
  hash('sha256', `holdfast session parent\n${secretAccessKey}`).slice(0, 32)

/** Derived keys by the ring's secrets: every token needs one, and a ring has few. */
const sealingKeys = new WeakMap<Buffer, Buffer>()

function sealingKey(secret: Buffer): Buffer {
  const known = sealingKeys.get(secret)
  if (known !== undefined) return known
  const key = Buffer.from(hkdfSync('sha256', secret, '', label, 32))
  sealingKeys.set(secret, key)
  return key
}
