/** The key ring of a data directory: kept in a file beside the data, or given by the environment; never made anew where objects need the old one. */
import { chmod, readFile, stat } from 'node:fs/promises'
import { z } from 'zod'
import type { Clock } from '../clock.ts'
import { ConfigurationError } from '../config/configuration-error.ts'
import {
  defaultKmsKeyName,
  formatKeyRing,
  type KeyRing,
  KeyRingInvalid,
  keyRing,
  parseKeyRing,
  storeKeyName,
  withKeysFor,
} from '../encryption/key-ring.ts'
import type { Kv } from '../kv/kv.ts'
import { writeFileAtomically } from './atomic-file.ts'
import { readRecord, systemRecord } from './sealed-record.ts'

export interface KeyRingSources {
  /** As `parseKeyRing` reads it; then no file is read or written. */
  keyRing: string | undefined
  /** Names of keys for SSE-KMS that there must be. */
  kmsKeys: readonly string[]
}

/** The ring is not the one that objects were encrypted with. The message says what to restore. */
export class KeyRingRefused extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'KeyRingRefused'
  }
}

const heading = `# Holdfast's key ring: the newest key of a name encrypts, older ones decrypt.
# Without it, what is encrypted at rest is lost. Keep a copy apart from the data.
`

/** Which keys encrypted objects may need. Ids only: they reveal nothing of the secrets. */
const knownKeysRecord = systemRecord(
  'key-ring',
  z.object({ keys: z.array(z.object({ name: z.string(), id: z.string() })) }),
)

/**
 * Opens the ring. With `owner`, makes the keys that are missing, and remembers all of them in the metadata: a later start without one of them is
 * refused. Throws `KeyRingRefused`, `ConfigurationError`.
 */
export async function openKeyRing(
  kv: Kv,
  file: string,
  { keyRing: given, kmsKeys }: KeyRingSources,
  { owner, clock }: { owner: boolean; clock: Clock },
): Promise<KeyRing> {
  const known = await readRecord(kv, knownKeysRecord)
  const kept = given === undefined ? await readRing(file) : parseRing(given, 'HOLDFAST_KEY_RING')
  for (const { name, id } of known?.value.keys ?? []) {
    if (kept?.find(name, id) !== undefined) continue
    const from = given === undefined ? file : 'HOLDFAST_KEY_RING'
    throw new KeyRingRefused(
      `${from} lacks key ${id} of ${name}, with which objects may be encrypted. Restore it from a copy of the key ring`,
    )
  }
  const names = [storeKeyName, defaultKmsKeyName, ...kmsKeys]
  const ring = withKeysFor(kept ?? parseKeyRing(''), names, (bytes) => Buffer.from(clock.random(bytes)))
  const missing = names.filter((name) => kept?.newest(name) === undefined).join(', nor ')
  if (given !== undefined && missing !== '') {
    throw new ConfigurationError(`HOLDFAST_KEY_RING has no key named ${missing}`)
  }
  // What a worker made, no other process would have.
  if (!owner && missing !== '') throw new KeyRingRefused(`${file} has no key named ${missing}`)
  if (owner) await keepKeyRing(kv, given === undefined ? file : undefined, ring)
  return ring
}

/** Keeps a ring in its file, if it has one, and remembers which keys it holds. The file first: what is remembered must be there. */
export async function keepKeyRing(kv: Kv, file: string | undefined, ring: KeyRing): Promise<void> {
  if (file !== undefined && formatKeyRing((await readRing(file)) ?? parseKeyRing('')) !== formatKeyRing(ring)) {
    await writeFileAtomically(file, heading + formatKeyRing(ring), 0o600)
  }
  const keys = ring.keys.map(({ name, id }) => ({ name, id }))
  await kv.commit({ puts: [{ key: knownKeysRecord.key, value: knownKeysRecord.seal({ keys }) }] })
}

/** What was found encrypted needs these keys, too: a start without one of them is refused. As `name id`. */
export async function rememberKeys(kv: Kv, found: ReadonlySet<string>): Promise<void> {
  const known = (await readRecord(kv, knownKeysRecord))?.value.keys ?? []
  const others = [...found].flatMap((text) => {
    const [name = '', id = ''] = text.split(' ')
    return known.some((key) => key.name === name && key.id === id) ? [] : [{ name, id }]
  })
  const value = knownKeysRecord.seal({ keys: [...known, ...others] })
  if (others.length > 0) await kv.commit({ puts: [{ key: knownKeysRecord.key, value }] })
}

/** Adds the keys of another ring to the file; those of the other are the newer. */
export async function mergeKeyRing(file: string, text: string): Promise<void> {
  const other = parseRing(text, 'the backup')
  const kept = (await readRing(file))?.keys ?? []
  const ring = keyRing([...other.keys, ...kept.filter(({ name, id }) => other.find(name, id) === undefined)])
  await writeFileAtomically(file, heading + formatKeyRing(ring), 0o600)
}

async function readRing(file: string): Promise<KeyRing | undefined> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (text === undefined) return undefined
  // A restored backup may have been laxer.
  if (((await stat(file)).mode & 0o077) !== 0) await chmod(file, 0o600)
  return parseRing(text, file)
}

function parseRing(text: string, place: string): KeyRing {
  try {
    return parseKeyRing(text)
  } catch (error) {
    if (error instanceof KeyRingInvalid) throw new ConfigurationError(`${place}: ${error.message}`)
    throw error
  }
}
