/** Secrets of access keys at rest: sealed by the key ring, each bound to its access key id. */
import { createCipheriv, createDecipheriv } from 'node:crypto'
import { type RingKey, storeKeyName } from '../encryption/key-ring.ts'
import type { KeyRecord, SealedSecret } from '../records/identity-records.ts'
import { ObjectKeyLost, type Wrapping } from './encryption.ts'

const nonceBytes = 12
const tagBytes = 16

/** The commit that writes the result must include `keys.checks`, so that a replaced ring key seals nothing. Throws `ObjectKeyLost` when the ring has no key. */
export function sealSecret(backend: Wrapping, accessKeyId: string, secret: string): SealedSecret {
  const ringKey = backend.keys.newest(storeKeyName)
  if (ringKey === undefined) throw new ObjectKeyLost(`the key ring has no key named ${storeKeyName}`)
  const nonce = backend.clock.random(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', ringKey.secret, nonce, { authTagLength: tagBytes })
  cipher.setAAD(binding(accessKeyId))
  const sealed = Buffer.concat([nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return { sealed: sealed.toString('base64'), sealedBy: { name: ringKey.name, id: ringKey.id } }
}

/** Throws `ObjectKeyLost` when the ring lacks the key, or when it does not open the secret. */
export function openSecret({ keys }: Pick<Wrapping, 'keys'>, accessKeyId: string, secret: SealedSecret): string {
  const { name, id } = secret.sealedBy
  const ringKey = keys.find(name, id)
  if (ringKey === undefined) throw new ObjectKeyLost(`the key ring lacks key ${id} of ${name}`)
  const opened = unsealed(ringKey, accessKeyId, secret)
  if (opened === undefined)
    throw new ObjectKeyLost(`the secret of access key ${accessKeyId} does not open with key ${id} of ${name}`)
  return opened
}

/** The same record with its secret sealed by the newest key. `undefined` when it already is. Throws `ObjectKeyLost`. */
export function resealed(backend: Wrapping, accessKeyId: string, record: KeyRecord): KeyRecord | undefined {
  if (backend.keys.newest(storeKeyName)?.id === record.secret.sealedBy.id) return undefined
  return { ...record, secret: sealSecret(backend, accessKeyId, openSecret(backend, accessKeyId, record.secret)) }
}

function unsealed({ secret }: RingKey, accessKeyId: string, { sealed }: SealedSecret): string | undefined {
  const bytes = Buffer.from(sealed, 'base64')
  if (bytes.length < nonceBytes + tagBytes) return undefined
  const decipher = createDecipheriv('aes-256-gcm', secret, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes })
  decipher.setAAD(binding(accessKeyId))
  decipher.setAuthTag(bytes.subarray(-tagBytes))
  const opened = decipher.update(bytes.subarray(nonceBytes, -tagBytes))
  try {
    return Buffer.concat([opened, decipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}

/** Objects' keys are bound to a JSON list, so a sealed secret never opens as an object's key, nor the reverse. */
const binding = (accessKeyId: string): Buffer => Buffer.from(`access key ${accessKeyId}`)
