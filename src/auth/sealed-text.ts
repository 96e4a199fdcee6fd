/** Texts that clients keep for the server. They are encrypted and authenticated with a key of the key ring, so that any process with the ring can open them. */
import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto'

/** A key of the ring, from which the sealing key is derived. */
interface TokenKey {
  /** 16 hexadecimal digits. */
  readonly id: string
  readonly secret: Buffer
}

export interface TokenKeys {
  /** The key that seals new texts. */
  newest(): TokenKey
  /** A key by id: older keys still open what they sealed. */
  find(id: string): TokenKey | undefined
}

const version = 1
const idBytes = 8
const ivBytes = 12
const tagBytes = 16
/** The head holds the version and the id of the key. It is not encrypted, but authenticated. */
const headBytes = 1 + idBytes

/** `label`: the purpose of the text. It opens only under the label with which it was sealed. `random` returns that many random bytes. */
export function sealText(text: string, label: string, keys: TokenKeys, random: (bytes: number) => Buffer): string {
  const { id, secret } = keys.newest()
  const head = Buffer.concat([Buffer.of(version), Buffer.from(id, 'hex')])
  const iv = Buffer.from(random(ivBytes))
  const cipher = createCipheriv('aes-256-gcm', sealingKey(secret, label), iv)
  cipher.setAAD(head)
  const sealed = Buffer.concat([cipher.update(text), cipher.final()])
  return Buffer.concat([head, iv, sealed, cipher.getAuthTag()]).toString('base64url')
}

/** `undefined`: no process with these keys has sealed it under this label. */
export function openText(sealed: string, label: string, keys: TokenKeys): string | undefined {
  if (!/^[\w-]+$/.test(sealed)) return undefined
  const bytes = Buffer.from(sealed, 'base64url')
  // Refuses other spellings of the same bytes.
  if (bytes.toString('base64url') !== sealed) return undefined
  if (bytes.length <= headBytes + ivBytes + tagBytes || bytes[0] !== version) return undefined
  const key = keys.find(bytes.toString('hex', 1, headBytes))
  if (key === undefined) return undefined
  const sealedAt = headBytes + ivBytes
  const iv = bytes.subarray(headBytes, sealedAt)
  const decipher = createDecipheriv('aes-256-gcm', sealingKey(key.secret, label), iv, { authTagLength: tagBytes })
  decipher.setAAD(bytes.subarray(0, headBytes))
  decipher.setAuthTag(bytes.subarray(-tagBytes))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(sealedAt, -tagBytes)), decipher.final()]).toString()
  } catch {
    return undefined
  }
}

/** Derived keys by secret and label. Every text needs one, and a ring has few. */
const sealingKeys = new WeakMap<Buffer, Map<string, Buffer>>()

function sealingKey(secret: Buffer, label: string): Buffer {
  const ofSecret = sealingKeys.get(secret) ?? new Map<string, Buffer>()
  sealingKeys.set(secret, ofSecret)
  const known = ofSecret.get(label)
  if (known !== undefined) return known
  const key = Buffer.from(hkdfSync('sha256', secret, '', label, 32))
  ofSecret.set(label, key)
  return key
}
