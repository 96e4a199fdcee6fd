/** The key ring of a data directory: a file next to the data, or an environment variable. A new ring never replaces one that objects need. */
import { chmodSync, readFileSync, statSync } from 'node:fs'
import { z } from 'zod'
import type { Clock } from '../clock.ts'
import type { KeysInUse } from '../commits/backend.ts'
import { ConfigurationError } from '../config/configuration-error.ts'
import {
  defaultKmsKeyName,
  formatKeyRing,
  type KeyRing,
  KeyRingInvalid,
  keyRing,
  parseKeyRing,
  type RingKey,
  storeKeyName,
  withKeysFor,
} from '../encryption/key-ring.ts'
import type { Check, Kv } from '../kv/kv.ts'
import { writeFileAtomically } from './atomic-file.ts'
import { changingKeyRing } from './key-ring-change.ts'
import { readRecord, systemRecord } from './sealed-record.ts'

export interface KeyRingSources {
  /** The ring's text, as `parseKeyRing` reads it. When given, no file is read or written. */
  keyRing: string | undefined
  /** Names of SSE-KMS keys that the ring must have. */
  kmsKeys: readonly string[]
}

/** The ring lacks keys with which objects were encrypted. The message says what to restore. */
export class KeyRingRefused extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'KeyRingRefused'
  }
}

const heading = `# Holdfast's key ring: the newest key of a name encrypts, older ones decrypt.
# Without it, what is encrypted at rest is lost. Keep a copy apart from the data.
`

/** The keys that encrypted objects may need. Ids only: they reveal nothing of the secrets. */
const keyId = z.object({ name: z.string(), id: z.string() })
type KeyId = z.infer<typeof keyId>
const knownKeysRecord = systemRecord('key-ring', z.object({ keys: z.array(keyId) }))

/**
 * Opens the ring. With `owner`, makes the missing keys and records all keys in the metadata: a later start that lacks one is refused. Throws
 * `KeyRingRefused`, `KeyRingBusy`, `ConfigurationError`.
 */
export async function openKeyRing(
  kv: Kv,
  file: string,
  { keyRing: given, kmsKeys }: KeyRingSources,
  { owner, clock }: { owner: boolean; clock: Clock },
): Promise<KeysInUse> {
  const keptIn = given === undefined ? file : undefined
  const names = [storeKeyName, defaultKmsKeyName, ...kmsKeys]
  const source: RingSource = {
    name: keptIn ?? 'HOLDFAST_KEY_RING',
    read: () => (given === undefined ? readRing(file) : parseRing(given, 'HOLDFAST_KEY_RING')),
  }
  let { ring, missing } = await knownRing(kv, source, names)
  if (given !== undefined && missing.length > 0) {
    throw new ConfigurationError(`HOLDFAST_KEY_RING has no key named ${missing.join(', nor ')}`)
  }
  // A worker makes no keys, because no other process would have them.
  if (!owner && missing.length > 0) throw new KeyRingRefused(`${file} has no key named ${missing.join(', nor ')}`)
  // A start that changes nothing writes nothing, because its metadata may be read-only.
  if (owner && (missing.length > 0 || !(await isRemembered(kv, ring)))) {
    await changingKeyRing(file, clock, async () => {
      const found = await knownRing(kv, source, names)
      ring = withKeysFor(found.ring, names, (bytes) => Buffer.from(clock.random(bytes)))
      await saveKeyRing(kv, keptIn, ring)
    })
  }
  const opened = new OpenKeyRing(kv, source, ring)
  await opened.refresh()
  return opened
}

/** Throws `KeyRingRefused` when the ring lacks a key that the metadata remembers. */
async function knownRing(kv: Kv, source: RingSource, names: readonly string[]) {
  const before = await rememberedKeys(kv)
  const ring = source.read() ?? keyRing([])
  const after = await rememberedKeys(kv)
  // A command in another process adds a key to the file before the metadata, and removes one from the metadata before the file.
  const throughout = before.filter(({ name, id }) => after.some((key) => key.name === name && key.id === id))
  refuseWithout(throughout, ring, source)
  return { ring, missing: names.filter((name) => ring.newest(name) === undefined) }
}

async function rememberedKeys(kv: Kv): Promise<readonly KeyId[]> {
  return (await readRecord(kv, knownKeysRecord))?.value.keys ?? []
}

function refuseWithout(known: readonly KeyId[], ring: KeyRing, source: RingSource): void {
  for (const { name, id } of known) {
    if (ring.find(name, id) !== undefined) continue
    throw new KeyRingRefused(
      `${source.name} lacks key ${id} of ${name}, with which objects may be encrypted. Restore it from a copy of the key ring`,
    )
  }
}

/** The file or variable that a ring comes from. */
interface RingSource {
  /** Its name, for messages to the operator. */
  name: string
  /** `undefined`: there is none yet. Throws `ConfigurationError` when it is malformed. */
  read(): KeyRing | undefined
}

/** The ring of a serving process. It finds keys that a command adds meanwhile, and never wraps with a replaced key. */
class OpenKeyRing implements KeysInUse {
  readonly #kv: Kv
  readonly #source: RingSource
  #ring: KeyRing
  #checks: readonly Check[] = []

  constructor(kv: Kv, source: RingSource, ring: KeyRing) {
    this.#kv = kv
    this.#source = source
    this.#ring = ring
  }

  get keys(): readonly RingKey[] {
    return this.#ring.keys
  }

  newest(name: string): RingKey | undefined {
    return this.#ring.newest(name)
  }

  /** Reads the ring again for an unknown key, because a record may name a key added since the last read. */
  find(name: string, id: string): RingKey | undefined {
    const found = this.#ring.find(name, id)
    if (found !== undefined) return found
    try {
      this.#readAgain()
    } catch {
      // The caller reports that the object can't be read without the key.
      return undefined
    }
    return this.#ring.find(name, id)
  }

  get checks(): readonly Check[] {
    return this.#checks
  }

  async refresh(): Promise<void> {
    const known = await readRecord(this.#kv, knownKeysRecord)
    this.#readAgain()
    if (known === undefined) return
    refuseWithout(known.value.keys, this.#ring, this.#source)
    for (const { name } of this.#ring.keys) {
      const remembered = known.value.keys.filter((key) => key.name === name)
      const newest = this.#ring.newest(name)?.id
      // A key that the metadata does not list yet is newer.
      if (remembered.slice(1).some(({ id }) => id === newest)) {
        throw new KeyRingRefused(`${this.#source.name} has an older key of ${name} before its newest one`)
      }
    }
    this.#checks = [{ key: knownKeysRecord.key, version: known.version }]
  }

  #readAgain(): void {
    const fresh = this.#source.read() ?? keyRing([])
    // Retired keys stay in memory for reads under way.
    this.#ring = keyRing([...fresh.keys, ...this.#ring.keys.filter(({ name, id }) => !fresh.find(name, id))])
  }
}

/**
 * Writes a ring to its file, if it has one, and lists its keys in the metadata. Every listed key is always in the file: keys are added to the file first,
 * and removed from it last. Only one process may change the ring at a time: see `changingKeyRing`.
 */
export async function saveKeyRing(kv: Kv, file: string | undefined, ring: KeyRing): Promise<void> {
  const kept = file === undefined ? ring : (readRing(file) ?? keyRing([]))
  const removed = kept.keys.filter(({ name, id }) => ring.find(name, id) === undefined)
  await writeRing(file, keyRing([...ring.keys, ...removed]))
  const value = knownKeysRecord.seal({ keys: idsOf(ring) })
  if (!(await isRemembered(kv, ring))) await kv.commit({ puts: [{ key: knownKeysRecord.key, value }] })
  await writeRing(file, ring)
}

/** Whether the metadata lists any keys: a start has made or taken over a ring. */
export async function remembersKeys(kv: Kv): Promise<boolean> {
  return (await rememberedKeys(kv)).length > 0
}

/** Whether the metadata lists exactly these keys. */
export async function isRemembered(kv: Kv, ring: KeyRing): Promise<boolean> {
  const [kept] = await kv.get([knownKeysRecord.key])
  return kept?.value.equals(knownKeysRecord.seal({ keys: idsOf(ring) })) === true
}

const idsOf = ({ keys }: KeyRing): KeyId[] => keys.map(({ name, id }) => ({ name, id }))

async function writeRing(file: string | undefined, ring: KeyRing): Promise<void> {
  if (file === undefined || formatKeyRing(readRing(file) ?? keyRing([])) === formatKeyRing(ring)) return
  await writeFileAtomically(file, heading + formatKeyRing(ring), 0o600)
}

/** Adds keys that recovered data needs, each as `name id`, to the metadata's list: a start that lacks one is refused. */
export async function rememberKeys(kv: Kv, found: ReadonlySet<string>): Promise<void> {
  const known = await rememberedKeys(kv)
  const others = [...found].flatMap((text) => {
    const [name = '', id = ''] = text.split(' ')
    return known.some((key) => key.name === name && key.id === id) ? [] : [{ name, id }]
  })
  const value = knownKeysRecord.seal({ keys: [...known, ...others] })
  if (others.length > 0) await kv.commit({ puts: [{ key: knownKeysRecord.key, value }] })
}

/** Adds the keys of another ring to the file. The other ring's keys count as newer. */
export async function mergeKeyRing(file: string, text: string): Promise<void> {
  const other = parseRing(text, 'the backup')
  const kept = readRing(file)?.keys ?? []
  const ring = keyRing([...other.keys, ...kept.filter(({ name, id }) => other.find(name, id) === undefined)])
  await writeFileAtomically(file, heading + formatKeyRing(ring), 0o600)
}

/** Synchronous, so that a reader gets a missing key at once. The file is small. */
function readRing(file: string): KeyRing | undefined {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
    // A file restored from a backup may have laxer permissions.
    if ((statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
  return parseRing(text, file)
}

function parseRing(text: string, source: string): KeyRing {
  try {
    return parseKeyRing(text)
  } catch (error) {
    if (error instanceof KeyRingInvalid) throw new ConfigurationError(`${source}: ${error.message}`)
    throw error
  }
}
