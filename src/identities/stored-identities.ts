/** Reads all stored identities from one snapshot. A record that has not changed since the last read stays the same object. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { IdentityPolicy } from '../auth/principal.ts'
import { ObjectKeyLost, type Wrapping } from '../commits/encryption.ts'
import { openSecret } from '../commits/sealed-secrets.ts'
import type { Check, Entry, Kv } from '../kv/kv.ts'
import { keyAfter } from '../kv/ordered-key.ts'
import type { PublicAccessBlock } from '../records/bucket-record.ts'
import {
  type AccountRecord,
  accountCodec,
  accountSettingsCodec,
  generationCodec,
  type KeyRecord,
  keyCodec,
  type PolicyRecord,
  policyCodec,
  type UserRecord,
  userCodec,
} from '../records/identity-records.ts'
import { identities, identityGenerationKey, identityOf } from '../records/keyspace.ts'
import { RecordDamaged } from '../records/record-format.ts'

export interface StoredKey {
  record: KeyRecord
  /** `undefined`: the key ring can't open it. */
  secretAccessKey: string | undefined
}

export type StoredPolicy = IdentityPolicy & PolicyRecord

/** By account id, then by name. */
type ByAccount<T> = Map<string, Map<string, T>>

export class StoredIdentities {
  generation = 0
  /** Fails in a commit if any identity has changed since this read. */
  check: Check = { key: identityGenerationKey, absent: true }
  entries = 0
  readonly accounts = new Map<string, AccountRecord>()
  readonly blocks = new Map<string, PublicAccessBlock>()
  readonly users: ByAccount<UserRecord> = new Map()
  readonly policies: ByAccount<StoredPolicy> = new Map()
  readonly keys = new Map<string, StoredKey>()
}

const pageEntries = 500

interface Decoded {
  bytes: Buffer
  content: Content
}

type Content =
  | { kind: 'account'; id: string; record: AccountRecord }
  | { kind: 'settings'; id: string; block: PublicAccessBlock | undefined }
  | { kind: 'user'; account: string; name: string; record: UserRecord }
  | { kind: 'policy'; account: string; policy: StoredPolicy }
  | { kind: 'key'; id: string; key: StoredKey }
  | { kind: 'unreadable' }

const allBlocked: PublicAccessBlock = {
  blockPublicAcls: true,
  ignorePublicAcls: true,
  blockPublicPolicy: true,
  restrictPublicBuckets: true,
}

export interface IdentityReaderOptions {
  backend: Wrapping & { kv: Kv }
  warn(message: string): void
}

export class IdentityReader {
  readonly #backend: Wrapping & { kv: Kv }
  readonly #warn: (message: string) => void
  #decoded = new Map<string, Decoded>()
  readonly #warned = new Set<string>()

  constructor({ backend, warn }: IdentityReaderOptions) {
    this.#backend = backend
    this.#warn = warn
  }

  /** The generation of the last change; NaN when its record is damaged. Cheap enough to call often. */
  async generation(): Promise<number> {
    const [entry] = await this.#backend.kv.get([identityGenerationKey])
    return entry === undefined ? 0 : (generationOf(entry) ?? Number.NaN)
  }

  async read(): Promise<StoredIdentities> {
    const snapshot = await this.#backend.kv.snapshot()
    try {
      const stored = new StoredIdentities()
      const decoded = new Map<string, Decoded>()
      for (let start = identities.start; ; ) {
        const page = await snapshot.range({ start, end: identities.end, limit: pageEntries })
        for (const entry of page) this.#take(stored, decoded, entry)
        const last = page.at(-1)
        if (last === undefined || page.length < pageEntries) break
        start = keyAfter(last.key)
        // Lets requests have their turn.
        await nextTurn()
      }
      this.#decoded = decoded
      return stored
    } finally {
      await snapshot.close()
    }
  }

  #take(stored: StoredIdentities, decoded: Map<string, Decoded>, entry: Entry): void {
    stored.entries += 1
    if (entry.key.equals(identityGenerationKey)) {
      // For a damaged record, the time is above all earlier generations. The next change writes the record again.
      stored.generation = generationOf(entry) ?? this.#backend.clock.now()
      stored.check = { key: identityGenerationKey, version: entry.version }
      return
    }
    const name = entry.key.toString('latin1')
    const before = this.#decoded.get(name)
    const isSame = before?.bytes.equals(entry.value) === true
    const now = isSame ? before : { bytes: entry.value, content: this.#content(entry) }
    // A secret that did not open is tried again at the next read, because the key ring can be restored.
    if (now.content.kind !== 'key' || now.content.key.secretAccessKey !== undefined) decoded.set(name, now)
    put(stored, now.content)
  }

  /** A damaged record never widens access. It is left out, except for settings, where a block of everything takes its place. */
  #content(entry: Entry): Content {
    const { kind, accountId, name } = identityOf(entry.key)
    try {
      return this.#readable(entry, kind, accountId, name)
    } catch (error) {
      if (!(error instanceof RecordDamaged)) throw error
      this.#warn(`the ${kind} ${name || accountId} cannot be read: ${error.message}`)
      return kind === 'settings' ? { kind, id: accountId, block: allBlocked } : { kind: 'unreadable' }
    }
  }

  #readable({ key, value }: Entry, kind: string, account: string, name: string): Content {
    switch (kind) {
      case 'account':
        return { kind, id: account, record: accountCodec.decode(key, value) }
      case 'settings':
        return { kind, id: account, block: accountSettingsCodec.decode(key, value).publicAccessBlock }
      case 'user':
        return { kind, account, name, record: userCodec.decode(key, value) }
      case 'policy':
        return { kind, account, policy: { name, ...policyCodec.decode(key, value) } }
      case 'key':
        return { kind, id: name, key: this.#key(name, keyCodec.decode(key, value)) }
      default:
        // Written by a later version of this server.
        return { kind: 'unreadable' }
    }
  }

  #warnOnce(message: string): void {
    if (!this.#warned.has(message)) this.#warn(message)
    this.#warned.add(message)
  }

  #key(accessKeyId: string, record: KeyRecord): StoredKey {
    try {
      return { record, secretAccessKey: openSecret(this.#backend, accessKeyId, record.secret) }
    } catch (error) {
      if (!(error instanceof ObjectKeyLost)) throw error
      this.#warnOnce(
        `access key ${accessKeyId} is refused until it is rotated or the key ring is restored: ${error.message}`,
      )
      return { record, secretAccessKey: undefined }
    }
  }
}

/** `undefined`: the record is damaged. */
function generationOf({ key, value }: Entry): number | undefined {
  try {
    return generationCodec.decode(key, value).generation
  } catch (error) {
    if (error instanceof RecordDamaged) return undefined
    throw error
  }
}

function put(stored: StoredIdentities, content: Content): void {
  switch (content.kind) {
    case 'account':
      stored.accounts.set(content.id, content.record)
      return
    case 'settings':
      if (content.block !== undefined) stored.blocks.set(content.id, content.block)
      return
    case 'user':
      within(stored.users, content.account).set(content.name, content.record)
      return
    case 'policy':
      within(stored.policies, content.account).set(content.policy.name, content.policy)
      return
    case 'key':
      stored.keys.set(content.id, content.key)
      return
    case 'unreadable':
      return
  }
}

function within<T>(byAccount: ByAccount<T>, account: string): Map<string, T> {
  let names = byAccount.get(account)
  if (names === undefined) {
    names = new Map()
    byAccount.set(account, names)
  }
  return names
}
