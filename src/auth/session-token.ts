/**
 * Session tokens: what a process must know of temporary keys, sealed so that any process with the key ring can open it. Nothing is stored. Knows no requests.
 * Reasons: docs/adr/0038-temporary-keys.md
 */
import { createCipheriv, createDecipheriv, hash, hkdfSync } from 'node:crypto'
import { S3Error } from '../errors.ts'
import { limits } from '../limits.ts'

/** What temporary keys stand for. They end with it. */
export type SessionHolder =
  | {
      readonly kind: 'key'
      readonly accessKeyId: string
      /** Of the key's secret at that time: a rotated key has another one. See `secretTag`. */
      readonly secretTag: string
    }
  | {
      readonly kind: 'web-identity'
      /** As the configuration names the issuer. */
      readonly provider: string
      readonly issuer: string
      readonly subject: string
      /** Names of policies of the account. */
      readonly policies: readonly string[]
    }

/** The content of a token. Stored by clients alone, for as long as the longest session. */
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
  /** Of a web identity, by name. */
  readonly claims?: Readonly<Record<string, string | readonly string[]>> | undefined
}

/** A key of the ring, from which that of tokens is derived. */
export interface TokenKey {
  /** 16 hexadecimal digits. */
  readonly id: string
  readonly secret: Buffer
}

export interface TokenKeys {
  /** Seals. */
  newest(): TokenKey
  /** Opens what it sealed, also after a newer one has come. */
  find(id: string): TokenKey | undefined
}

const version = 1
const idBytes = 8
const ivBytes = 12
const tagBytes = 16
/** Version and id, in clear, and covered by the seal. */
const headBytes = 1 + idBytes
const label = 'holdfast session token'

/** `random` gives that many random bytes. */
export function sealSession(session: Session, keys: TokenKeys, random: (bytes: number) => Buffer): string {
  const { id, secret } = keys.newest()
  const head = Buffer.concat([Buffer.of(version), Buffer.from(id, 'hex')])
  const iv = Buffer.from(random(ivBytes))
  const cipher = createCipheriv('aes-256-gcm', sealingKey(secret), iv)
  cipher.setAAD(head)
  const sealed = Buffer.concat([cipher.update(JSON.stringify(session)), cipher.final()])
  return Buffer.concat([head, iv, sealed, cipher.getAuthTag()]).toString('base64url')
}

/** Throws InvalidToken for what no process with these keys has sealed. */
export function openSession(token: string, keys: TokenKeys): Session {
  // Some clients pad base64.
  const text = token.replace(/={1,2}$/, '')
  if (text.length > limits.sessionTokenCharsMax || !/^[\w-]+$/.test(text)) throw invalidToken()
  const bytes = Buffer.from(text, 'base64url')
  // One token has one spelling.
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
  // Only `sealSession` can have written it.
  return JSON.parse(json) as Session
}

export const invalidToken = (): S3Error => new S3Error('InvalidToken')

/** Tells secrets of one key apart. It travels only sealed. */
export const secretTag = (secretAccessKey: string): string =>
  hash('sha256', `holdfast session parent\n${secretAccessKey}`).slice(0, 32)

/** A ring has few keys, and every token needs one. */
const sealingKeys = new WeakMap<Buffer, Buffer>()

function sealingKey(secret: Buffer): Buffer {
  const known = sealingKeys.get(secret)
  if (known !== undefined) return known
  const key = Buffer.from(hkdfSync('sha256', secret, '', label, 32))
  sealingKeys.set(secret, key)
  return key
}
