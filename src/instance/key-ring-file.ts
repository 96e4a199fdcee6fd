/** The key ring of a data directory: a file next to the data, or an environment variable. A new ring never replaces one that objects need. */
import { chmodSync, readFileSync, statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
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
  { owner, clock, shared = false }: KeyRingUse,
): Promise<KeysInUse> {
  const keptIn = given === undefined ? file : undefined
  const names = [storeKeyName, defaultKmsKeyName, ...kmsKeys]
  const source: RingSource = {
    name: keptIn ?? 'HOLDFAST_KEY_RING',
    read: () => (given === undefined ? readRing(file) : parseRing(given, 'HOLDFAST_KEY_RING')),
    advice: shared ? fromOthers(file) : 'Restore it from a copy of the key ring',
  }
  let { ring, missing, known } = await knownRing(kv, source, names)
  if (given !== undefined && missing.length > 0) {
    throw new ConfigurationError(`HOLDFAST_KEY_RING has no key named ${missing.join(', nor ')}`)
  }
  // A worker makes no keys, because no other process would have them.
  if (!owner && missing.length > 0) throw new KeyRingRefused(`${file} has no key named ${missing.join(', nor ')}`)
  if (shared && known.length > 0 && missing.length > 0) {
    throw new KeyRingRefused(
      `${file} has no key named ${missing.join(', nor ')}. Add one with holdfast key-ring --rotate ${missing[0]}, and copy ${file} to every server`,
    )
  }
  // A start that changes nothing writes nothing, because its metadata may be read-only.
  if (owner && (missing.length > 0 || !isList(known, listedAtStart(ring, known, shared)))) {
    await changingKeyRing(file, clock, async () => {
      const found = await knownRing(kv, source, names)
      ring = withKeysFor(found.ring, names, (bytes) => Buffer.from(clock.random(bytes)))
      await saveKeyRing(kv, keptIn, ring, found.unchanged, listedAtStart(ring, found.known, shared))
    })
  }
  const opened = new OpenKeyRing(kv, source, ring)
  await opened.refresh()
  return opened
}

interface KeyRingUse {
  owner: boolean
  clock: Clock
  /** Other servers use the metadata too, each with a copy of the ring. */
  shared?: boolean
}

/** Where the metadata is shared, a start lists no further key of a known name: the other servers may not have it yet. `key-ring --rewrap` lists it. */
function listedAtStart({ keys }: KeyRing, known: readonly KeyId[], shared: boolean): readonly KeyId[] {
  if (!shared) return keys
  return [...keys.filter(({ name }) => !known.some((key) => key.name === name)), ...known]
}

function isList(known: readonly KeyId[], wanted: readonly KeyId[]): boolean {
  return (
    known.length === wanted.length && known.every(({ name, id }, i) => wanted[i]?.name === name && wanted[i]?.id === id)
  )
}

const fromOthers = (file: string): string =>
  `Every server over this metadata needs the same key ring: copy the file named keys from another server's data directory to ${file}, or set HOLDFAST_KEY_RING to its content`

/** Throws `KeyRingRefused` when the ring lacks a key that the metadata remembers. */
async function knownRing(kv: Kv, source: RingSource, names: readonly string[]) {
  const before = await rememberedKeys(kv)
  const ring = source.read() ?? keyRing([])
  const { keys: after, unchanged } = await readRemembered(kv)
  // A command in another process adds a key to the file before the metadata, and removes one from the metadata before the file.
  const throughout = before.filter(({ name, id }) => after.some((key) => key.name === name && key.id === id))
  refuseWithout(throughout, ring, source)
  return { ring, known: after, unchanged, missing: names.filter((name) => ring.newest(name) === undefined) }
}

/** `unchanged` no longer holds when the list is written again. */
async function readRemembered(kv: Kv): Promise<{ keys: readonly KeyId[]; unchanged: Check }> {
  const { key } = knownKeysRecord
  const found = await readRecord(kv, knownKeysRecord)
  if (found === undefined) return { keys: [], unchanged: { key, absent: true } }
  return { keys: found.value.keys, unchanged: { key, version: found.version } }
}

async function rememberedKeys(kv: Kv): Promise<readonly KeyId[]> {
  return (await readRecord(kv, knownKeysRecord))?.value.keys ?? []
}

function refuseWithout(known: readonly KeyId[], ring: KeyRing, source: RingSource): void {
  for (const { name, id } of known) {
    if (ring.find(name, id) !== undefined) continue
    throw new KeyRingRefused(
      `${source.name} lacks key ${id} of ${name}, with which objects may be encrypted. ${source.advice}`,
    )
  }
}

/** The file or variable that a ring comes from. */
interface RingSource {
  /** Its name, for messages to the operator. */
  name: string
  /** `undefined`: there is none yet. Throws `ConfigurationError` when it is malformed. */
  read(): KeyRing | undefined
  /** Where a missing key can come from. */
  advice: string
}

/** The ring of a serving process. It finds keys that a command adds meanwhile, and never wraps with a replaced key. */
class OpenKeyRing implements KeysInUse {
  readonly #kv: Kv
  readonly #source: RingSource
  #ring: KeyRing
  #checks: readonly Check[] = []
  /** The keys that the metadata lists. */
  #listed: readonly KeyId[] = []

  constructor(kv: Kv, source: RingSource, ring: KeyRing) {
    this.#kv = kv
    this.#source = source
    this.#ring = ring
  }

  get keys(): readonly RingKey[] {
    return this.#ring.keys
  }

  /** Prefers keys that the metadata lists: until a new key is listed, other servers may lack it. */
  newest(name: string): RingKey | undefined {
    const isListed = ({ id }: RingKey): boolean => this.#listed.some((known) => known.name === name && known.id === id)
    return this.#ring.keys.find((key) => key.name === name && isListed(key)) ?? this.#ring.newest(name)
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
    this.#listed = known.value.keys
    for (const { name } of this.#ring.keys) {
      const remembered = known.value.keys.filter((key) => key.name === name)
      const newest = this.newest(name)?.id
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
 * and removed from it last. Only one process of a host may change the ring at a time: see `changingKeyRing`. `unchanged`: the list as the caller read it. `listed`: the keys to list.
 * Throws `KeyRingRefused` when another server has changed the list since then.
 */
export async function saveKeyRing(
  kv: Kv,
  file: string | undefined,
  ring: KeyRing,
  unchanged: Check | undefined,
  listed: readonly KeyId[] = ring.keys,
): Promise<void> {
  const before = file === undefined ? undefined : readRing(file)
  const kept = file === undefined ? ring : (before ?? keyRing([]))
  const removed = kept.keys.filter(({ name, id }) => ring.find(name, id) === undefined)
  await writeRing(file, keyRing([...ring.keys, ...removed]))
  const put = { key: knownKeysRecord.key, value: knownKeysRecord.seal({ keys: idsOf(listed) }) }
  const checks = [unchanged ?? ({ key: put.key, absent: true } as const)]
  const isSaved = async (): Promise<boolean> => (await kv.get([put.key]))[0]?.value.equals(put.value) === true
  // Another server that starts at the same moment may have listed the same keys.
  if ((await isSaved()) || (await kv.commit({ checks, puts: [put] })) || (await isSaved())) return writeRing(file, ring)
  await restoreRing(file, before)
  throw new KeyRingRefused(
    `another server has changed the key ring of this metadata at the same moment. ${fromOthers(file ?? 'this host')}`,
  )
}

/** Undoes a change of the file, so that the keys that were made are never taken for the ones that encrypt. */
async function restoreRing(file: string | undefined, before: KeyRing | undefined): Promise<void> {
  if (file === undefined) return
  if (before === undefined) await rm(file, { force: true })
  else await writeRing(file, before)
}

/** The keys that are in the file or variable now. Empty if it can't be read. */
export function keysAt(file: string, { keyRing: given }: Pick<KeyRingSources, 'keyRing'>): readonly KeyId[] {
  try {
    return idsOf((given === undefined ? readRing(file) : parseRing(given, 'HOLDFAST_KEY_RING'))?.keys ?? [])
  } catch {
    return []
  }
}

/** Whether the metadata lists any keys. It does once a start has made a ring, or taken one over. */
export async function remembersKeys(kv: Kv): Promise<boolean> {
  return (await rememberedKeys(kv)).length > 0
}

/** Whether the metadata lists exactly these keys. */
export async function isRemembered(kv: Kv, ring: KeyRing): Promise<boolean> {
  const [kept] = await kv.get([knownKeysRecord.key])
  return kept?.value.equals(knownKeysRecord.seal({ keys: idsOf(ring.keys) })) === true
}

const idsOf = (keys: readonly KeyId[]): KeyId[] => keys.map(({ name, id }) => ({ name, id }))

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
  await addToRing(file, parseRing(text, 'the backup'))
}

/** Adds keys that the metadata must not list yet. */
export async function addToRing(file: string, other: KeyRing): Promise<void> {
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
