/**
 * `holdfast key-ring`: shows the key ring of a data directory, or replaces the newest key of a name and wraps objects' keys with the new one. A server
 * may run meanwhile.
 */

import { setTimeout as delay } from 'node:timers/promises'
import type { KeysInUse } from '../commits/backend.ts'
import { ConfigurationError } from '../config/configuration-error.ts'
import { isKeyName, type KeyRing, onlyNewest, keyRing as ringOf, withNewKey } from '../encryption/key-ring.ts'
import type { DataDirectory } from '../instance/data-directory.ts'
import { changingKeyRing } from '../instance/key-ring-change.ts'
import {
  addToRing,
  isRemembered,
  KeyRingRefused,
  type KeyRingSources,
  openKeyRing,
  saveKeyRing,
} from '../instance/key-ring-file.ts'
import { readOffers } from '../instance/placement-offers.ts'
import { type RewrapReport, rewrapKeys } from '../jobs/rewrap.ts'
import type { Kv } from '../kv/kv.ts'
import { limits } from '../limits.ts'
import { listMembers } from '../members/list-members.ts'
import type { OpenMetadata } from '../opening/open-backend.ts'
import { audited } from './audited-command.ts'
import type { Invocation } from './command.ts'
import { withMetadata } from './stopped-data.ts'

interface Result {
  ring: KeyRing
  /** The file with a new key. The key is not used until the other servers have it. */
  toCopy?: string
  report?: RewrapReport
}

export async function keyRing(invocation: Invocation): Promise<number> {
  const { configuration, extra, json, print, notice } = invocation
  const asked: KeyChange = {
    rotate: typeof extra.rotate === 'string' ? extra.rotate : undefined,
    rewrap: extra.rewrap === true,
    retire: extra.retire === true,
  }
  const change = (): Promise<Result> =>
    withMetadata(invocation, (metadata) => changeKeyRing(metadata, configuration, asked))
  const entry = entryOf(asked)
  const { ring, report, toCopy } = await (entry === undefined ? change() : audited(invocation, entry, change))
  const shown = ring.keys.map(({ name, id }, i) => ({
    name,
    id,
    newest: ring.keys.findIndex((key) => key.name === name) === i,
  }))
  if (json) print(JSON.stringify({ event: 'keys', keys: shown, ...report, toCopy }))
  else {
    for (const { name, id, newest } of shown) print(`${name}  ${id}${newest ? '' : '  decrypts only'}`)
    if (toCopy !== undefined) {
      notice(
        `the new key is in ${toCopy}, and not used yet: copy that file to every server, then run holdfast key-ring --rewrap`,
      )
    }
    if (report === undefined) return 0
    print(`${report.rewrapped} of ${report.encrypted} objects' keys wrapped anew`)
    if (report.secrets > 0) print(`${report.resealed} of ${report.secrets} access keys' secrets sealed anew`)
  }
  return 0
}

/** What the audit log says of the change. `undefined`: nothing is changed. */
function entryOf({ rotate, retire, rewrap }: KeyChange) {
  if (rotate !== undefined) return { operation: 'RotateKeyRing', target: { key: rotate } }
  if (retire === true) return { operation: 'RetireKeyRing', target: {} }
  return rewrap === true ? { operation: 'RewrapKeyRing', target: {} } : undefined
}

/** The metadata that uses the ring. */
type RingMetadata = Pick<OpenMetadata, 'kv' | 'clock' | 'isServed' | 'shared'> & {
  directory: Pick<DataDirectory, 'keyRing'>
}

/** What to do. When several are set, the first counts. */
export interface KeyChange {
  /** The name of the key. */
  rotate?: string | undefined
  retire?: boolean
  rewrap?: boolean
}

/** Without an action, changes nothing. Throws what `openKeyRing` and `rewrapKeys` throw. */
export async function changeKeyRing(
  metadata: RingMetadata,
  sources: KeyRingSources,
  { rotate, retire, rewrap }: KeyChange,
): Promise<Result> {
  const { kv, directory, clock, shared } = metadata
  // Where servers share the metadata, this command makes the key for a new name.
  const known = shared === true ? { ...sources, kmsKeys: [] } : sources
  const open = (): Promise<KeysInUse> => openKeyRing(kv, directory.keyRing, known, { owner: false, clock, shared })
  if (rotate === undefined && retire !== true && rewrap !== true) return { ring: await open() }
  const change = async (): Promise<Result> => {
    const changed = new ChangedRing(metadata, sources, await open())
    if (rotate !== undefined) return changed.rotate(rotate)
    return retire === true ? changed.retire() : changed.rewrap()
  }
  // A ring in the environment has no file that two processes could write. The data directory may not even exist.
  return sources.keyRing === undefined ? changingKeyRing(directory.keyRing, clock, change) : change()
}

/** A ring under change. No other process changes it, but a server may use it. */
class ChangedRing {
  readonly #metadata: RingMetadata
  /** Absent: the ring is in the environment. */
  readonly #file: string | undefined
  readonly #ring: KeysInUse

  constructor(metadata: RingMetadata, { keyRing }: KeyRingSources, ring: KeysInUse) {
    this.#metadata = metadata
    this.#file = keyRing === undefined ? metadata.directory.keyRing : undefined
    this.#ring = ring
  }

  /** Saves the new key before anything is wrapped with it. */
  async rotate(name: string): Promise<Result> {
    if (this.#file === undefined) {
      throw new ConfigurationError(
        'the key ring is in HOLDFAST_KEY_RING: put a new key before the others there, start the server with it, then run holdfast key-ring --rewrap',
      )
    }
    const { kv, clock, shared = false } = this.#metadata
    if (!isKeyName(name) || (!shared && this.#ring.newest(name) === undefined)) {
      throw new ConfigurationError(`--rotate: the key ring has no key named '${name}'`)
    }
    if (shared) return this.#prepare(this.#file, name)
    const ring = withNewKey(this.#ring, name, (bytes) => Buffer.from(clock.random(bytes)))
    await saveKeyRing(kv, this.#file, ring, this.#ring.checks[0])
    return this.rewrap()
  }

  /** Other servers can't read what is wrapped with a key that they lack. So they get the key first, and the list names it later. */
  async #prepare(file: string, name: string): Promise<Result> {
    const { clock } = this.#metadata
    const made = withNewKey(ringOf([]), name, (bytes) => Buffer.from(clock.random(bytes)))
    await addToRing(file, made)
    return { ring: ringOf([...made.keys, ...this.#ring.keys]), toCopy: file }
  }

  /** Removes the older keys, which nothing needs when the newest keys wrap everything. */
  async retire(): Promise<Result> {
    const { report } = await this.rewrap()
    const ring = onlyNewest(this.#ring)
    await saveKeyRing(this.#metadata.kv, this.#file, ring, this.#ring.checks[0])
    return { ring, report }
  }

  /** Wraps objects' keys again, after the ring is recorded: from then on, every writing process wraps with the newest keys. */
  async rewrap(): Promise<Result> {
    const { kv, clock, isServed, shared = false } = this.#metadata
    if (!shared && this.#file === undefined && (await isServed()) && !(await isRemembered(kv, this.#ring))) {
      throw new ConfigurationError(
        'the server that runs has another HOLDFAST_KEY_RING: start it again with this one, then run holdfast key-ring --rewrap',
      )
    }
    await this.#ring.refresh()
    if (shared) await refuseWithoutOthers(kv, this.#ring.keys)
    await saveKeyRing(kv, this.#file, this.#ring, this.#ring.checks[0])
    await this.#ring.refresh()
    return { ring: this.#ring, report: await rewrapKeys({ kv, clock, keys: this.#ring }) }
  }
}

const pollMs = 200

/** Throws `KeyRingRefused` when another server lacks a key, because it could not read what others wrap with it. */
async function refuseWithoutOthers(kv: Kv, keys: KeyRing['keys']): Promise<void> {
  // Servers look at their key ring files every second.
  for (let waitedMs = 0; ; waitedMs += pollMs) {
    const lacking = await lackingServer(kv, keys)
    if (lacking === undefined) return
    if (waitedMs > 3 * limits.placementLookMs) throw new KeyRingRefused(lacking)
    await delay(pollMs)
  }
}

/** Resolves with a text that says which server lacks which key. `undefined`: none does. */
async function lackingServer(kv: Kv, keys: KeyRing['keys']): Promise<string | undefined> {
  const { all } = await readOffers(kv)
  const living = new Set((await listMembers(kv)).map(({ id }) => id))
  for (const { id, host, address, keys: theirs } of all) {
    if (theirs === undefined || !living.has(id)) continue
    const lacking = keys.find((key) => !theirs.some((other) => other.name === key.name && other.id === key.id))
    if (lacking === undefined) continue
    return `the server ${host} (${address}) lacks key ${lacking.id} of ${lacking.name}: copy the file keys to its data directory, or start it with the same HOLDFAST_KEY_RING, then run holdfast key-ring --rewrap again`
  }
  return undefined
}
