/** The keys that wrap objects' keys, by name: `sse-s3`, and the keys of SSE-KMS. The newest key of a name wraps; older ones only unwrap. */
import { createHash } from 'node:crypto'
import { keyBytes } from './object-key.ts'

/** The name of the key that wraps for SSE-S3. */
export const storeKeyName = 'sse-s3'
/** The SSE-KMS key for requests that name none, as in AWS. */
export const defaultKmsKeyName = 'aws/s3'

export interface RingKey {
  name: string
  /** Distinguishes the keys of one name. It is derived from the secret, but does not reveal it. */
  id: string
  secret: Buffer
}

export interface KeyRing {
  /** The key that wraps now; `undefined` when no key has this name. */
  newest(name: string): RingKey | undefined
  find(name: string, id: string): RingKey | undefined
  /** All keys, grouped by name, newest first. */
  readonly keys: readonly RingKey[]
}

/** Says what is wrong with a key ring, without its secrets. */
export class KeyRingInvalid extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'KeyRingInvalid'
  }
}

export function keyRing(keys: readonly RingKey[]): KeyRing {
  return {
    keys,
    newest: (name) => keys.find((key) => key.name === name),
    find: (name, id) => keys.find((key) => key.name === name && key.id === id),
  }
}

export function ringKey(name: string, secret: Buffer): RingKey {
  const id = createHash('sha256').update('holdfast key ').update(secret).digest('hex').slice(0, 16)
  return { name, id, secret }
}

const keyName = /^[A-Za-z0-9][A-Za-z0-9/_-]{0,63}$/

/** Whether a key may have this name. */
export const isKeyName = (name: string): boolean => keyName.test(name)

/** Reads `name secret` by line, or `name:secret` by comma; secrets are 32 bytes in base64. Throws `KeyRingInvalid`. */
export function parseKeyRing(text: string): KeyRing {
  const entries = text
    .split('\n')
    // Comments are removed before splitting at commas, because they may contain commas.
    .filter((line) => !line.trimStart().startsWith('#'))
    .flatMap((line) => line.split(','))
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
  const keys = entries.map((entry, i) => {
    const [name = '', secret = '', ...rest] = entry.split(/[\s:]+/)
    const bytes = Buffer.from(secret, 'base64')
    if (rest.length > 0 || !isKeyName(name)) throw new KeyRingInvalid(`key ${i + 1} is not 'NAME SECRET'`)
    if (bytes.length !== keyBytes || bytes.toString('base64') !== secret) {
      // The message leaves the name out: if name and secret were swapped, the name is the secret.
      throw new KeyRingInvalid(`the secret of key ${i + 1} is not ${keyBytes} bytes in base64`)
    }
    return ringKey(name, bytes)
  })
  return keyRing(keys)
}

/** Formats the ring for `parseKeyRing`, one key per line. */
export function formatKeyRing({ keys }: KeyRing): string {
  return keys.map(({ name, secret }) => `${name} ${secret.toString('base64')}\n`).join('')
}

/** The same ring with a new newest key of `name`. `random` gives that many random bytes. */
export function withNewKey(ring: KeyRing, name: string, random: (bytes: number) => Buffer): KeyRing {
  return keyRing([ringKey(name, random(keyBytes)), ...ring.keys])
}

/** The same ring with a key for each of `names` that has none. */
export function withKeysFor(ring: KeyRing, names: readonly string[], random: (bytes: number) => Buffer): KeyRing {
  return names.reduce(
    (extended, name) => (extended.newest(name) === undefined ? withNewKey(extended, name, random) : extended),
    ring,
  )
}

/** The same ring without the keys that only unwrap. */
export function onlyNewest(ring: KeyRing): KeyRing {
  return keyRing(ring.keys.filter((key) => ring.newest(key.name) === key))
}
