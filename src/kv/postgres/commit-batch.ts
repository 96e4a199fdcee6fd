/** Decides which commits go to PostgreSQL together, and builds their statement. Pure. */
import { limits } from '../../limits.ts'
import { numberOfVersion } from '../entry-version.ts'
import type { Check, Commit, Key, Put } from '../kv.ts'
import { endOfPrefix, keyAfter } from '../ordered-key.ts'
import { fencesOfKey, fencesOfRange } from './fences.ts'
import { byKey, byNumber, type Lock, runsOf } from './lock-runs.ts'
import type { Statement } from './session.ts'
import { boolArray, byteaArray, int4Array, int8Array } from './wire-arrays.ts'

const commitsMax = 256

/** The version that stands for a missing key in statements. Real versions come from a sequence, which begins at 1. */
const absent = 0

interface Range {
  start: Key
  end: Key
}

interface Checked {
  key: Key
  version: number
}

/** A commit, split by what the database has to do. */
export interface Prepared {
  checked: Checked[]
  empty: Range[]
  /** Puts whose keys must not exist. */
  added: Put[]
  /** Other puts. */
  put: Put[]
  deleted: Key[]
  bytes: number
}

export function prepare({ checks = [], puts = [], deletes = [] }: Commit): Prepared {
  const checked: Checked[] = []
  const empty: Range[] = []
  const missing = new Set<string>()
  for (const check of checks) {
    if ('emptyFrom' in check) {
      if (check.emptyFrom.compare(check.emptyTo) < 0) empty.push(bounded(check))
      continue
    }
    checked.push({ key: check.key, version: versionOf(check) })
    if ('absent' in check) missing.add(name(check.key))
  }
  const withPut = new Set(puts.map(({ key }) => name(key)))
  // A missing key has no row to lock. Unless the commit puts the key, the check becomes an empty range of that one key. A delete guards nothing:
  // it would delete what another commit has put since the check.
  for (const { key, version } of checked)
    if (version === absent && !withPut.has(name(key))) empty.push({ start: key, end: keyAfter(key) })
  const isAdded = ({ key }: Put): boolean => missing.has(name(key))
  return {
    checked,
    empty,
    added: puts.filter(isAdded),
    put: puts.filter((each) => !isAdded(each)),
    deleted: [...deletes],
    bytes: puts.reduce((sum, { value }) => sum + value.length, 0),
  }
}

const name = (key: Key): string => key.toString('latin1')
const versionOf = (check: Exclude<Check, { emptyFrom: Key }>): number =>
  'absent' in check ? absent : numberOfVersion(check.version)

/** Cuts bounds to the length of a key: callers can pass longer ones. */
function bounded({ emptyFrom, emptyTo }: { emptyFrom: Key; emptyTo: Key }): Range {
  const cut = (bound: Key): Key =>
    bound.length > limits.kvKeyBytesMax ? endOfPrefix(bound.subarray(0, limits.kvKeyBytesMax)) : bound
  return { start: cut(emptyFrom), end: cut(emptyTo) }
}

/** The keys and ranges of the commits of one batch. */
export class Touched {
  readonly #checked = new Set<string>()
  readonly #written = new Set<string>()
  readonly #puts: Key[] = []
  readonly #empty: Range[] = []

  add({ checked, empty, added, put, deleted }: Prepared): void {
    for (const { key } of checked) this.#checked.add(name(key))
    for (const { key } of [...added, ...put]) {
      this.#written.add(name(key))
      this.#puts.push(key)
    }
    for (const key of deleted) this.#written.add(name(key))
    this.#empty.push(...empty)
  }

  /** Whether the commit's checks depend on writes of the batch, or the other way round. */
  conflictsWith({ checked, empty, added, put, deleted }: Prepared): boolean {
    if (checked.some(({ key }) => this.#written.has(name(key)))) return true
    const puts = [...added, ...put].map(({ key }) => key)
    if ([...puts, ...deleted].some((key) => this.#written.has(name(key)) || this.#checked.has(name(key)))) return true
    if (this.#empty.length > 0 && puts.some((key) => this.#empty.some((range) => isIn(range, key)))) return true
    return empty.length > 0 && this.#puts.some((key) => empty.some((range) => isIn(range, key)))
  }
}

const isIn = ({ start, end }: Range, key: Key): boolean => key.compare(start) >= 0 && key.compare(end) < 0

export interface Waiting {
  prepared: Prepared
}

/** The number of waiting commits to look at for one batch. */
const scannedMax = 2 * commitsMax

/**
 * Removes the first waiting commits that conflict neither with each other nor with batches under way. The rest keep their order.
 */
export function takeBatch<W extends Waiting>(
  waiting: W[],
  underWay: readonly Touched[],
): { batch: W[]; touched: Touched } {
  const batch: W[] = []
  const left: W[] = []
  const touched = new Touched()
  const passed = new Touched()
  let bytes = 0
  let at = 0
  for (; at < waiting.length && at < scannedMax; at++) {
    const one = waiting[at]
    if (one === undefined) break
    const { prepared } = one
    const isFull = batch.length === commitsMax || (batch.length > 0 && bytes + prepared.bytes > limits.kvBatchBytesMax)
    if (isFull) break
    if ([touched, passed, ...underWay].some((other) => other.conflictsWith(prepared))) {
      left.push(one)
      // A later commit that conflicts with this one must not overtake it.
      passed.add(prepared)
    } else {
      batch.push(one)
      touched.add(prepared)
      bytes += prepared.bytes
    }
  }
  waiting.splice(0, at, ...left)
  return { batch, touched }
}

/** Identifies a writer in the database. */
export interface WriterId {
  id: string
  epoch: string
}

export function commitStatement(batch: readonly Prepared[], { id, epoch }: WriterId, operation: number): Statement {
  const each = <T>(of: (commit: Prepared) => readonly T[]): { items: T[]; commits: Buffer } => {
    const items: T[] = []
    const commits: number[] = []
    for (const [number, commit] of batch.entries()) {
      for (const item of of(commit)) {
        items.push(item)
        commits.push(number)
      }
    }
    return { items, commits: int4Array(commits) }
  }
  const keysOf = (puts: readonly { key: Key }[]): Buffer => byteaArray(puts.map(({ key }) => key))
  const valuesOf = (puts: readonly Put[]): Buffer => byteaArray(puts.map(({ value }) => value))
  const checked = each((commit) => commit.checked)
  const empty = each((commit) => commit.empty)
  const added = each((commit) => commit.added)
  const put = each((commit) => commit.put)
  const deleted = each((commit) => commit.deleted)
  const fences = runsOf(fencesAround(batch))
  const rows = runsOf(rowsToLock(batch))
  return {
    name: 'commit',
    text: `select holdfast_commit(${parameterTypes.map((type, i) => `$${i + 1}::${type}`).join(', ')})`,
    values: [
      ...[id, epoch, operation],
      ...[int4Array(fences.items), int4Array(fences.ends), boolArray(fences.alone)],
      ...[byteaArray(rows.items), int4Array(rows.ends), boolArray(rows.alone)],
      ...[keysOf(checked.items), int8Array(checked.items.map(({ version }) => version)), checked.commits],
      ...[
        byteaArray(empty.items.map(({ start }) => start)),
        byteaArray(empty.items.map(({ end }) => end)),
        empty.commits,
      ],
      ...[keysOf(added.items), valuesOf(added.items), added.commits],
      ...[keysOf(put.items), valuesOf(put.items), put.commits],
      ...[byteaArray(deleted.items), deleted.commits],
    ],
  }
}

const parameterTypes = [
  ...['uuid', 'bigint', 'bigint', 'int[]', 'int[]', 'bool[]', 'bytea[]', 'int[]', 'bool[]'],
  ...['bytea[]', 'bigint[]', 'int[]', 'bytea[]', 'bytea[]', 'int[]'],
  ...['bytea[]', 'bytea[]', 'int[]', 'bytea[]', 'bytea[]', 'int[]', 'bytea[]', 'int[]'],
]

/** The fences to lock, in order. A put of an existing key needs none: it adds no key to any range. */
function fencesAround(batch: readonly Prepared[]): Lock<number>[] {
  const shared: number[] = []
  const exclusive: number[] = []
  for (const { checked, empty, added, put } of batch) {
    for (const { start, end } of empty) {
      const fences = fencesOfRange(start, end)
      shared.push(...fences.shared)
      exclusive.push(...fences.exclusive)
    }
    const there = new Set(checked.filter(({ version }) => version !== absent).map(({ key }) => name(key)))
    for (const { key } of [...added, ...put]) if (!there.has(name(key))) shared.push(...fencesOfKey(key))
  }
  const alone = new Set(exclusive)
  return [...new Set([...shared, ...exclusive])].map((of) => ({ of, alone: alone.has(of) })).sort(byNumber)
}

/** The rows to lock, in order: alone what is written, shared what is only read. Keys to be added have no row. */
function rowsToLock(batch: readonly Prepared[]): Lock<Key>[] {
  const locks = new Map<string, Lock<Key>>()
  const write = (key: Key): void => void locks.set(name(key), { of: key, alone: true })
  for (const { put, deleted } of batch) {
    for (const { key } of put) write(key)
    for (const key of deleted) write(key)
  }
  for (const { checked } of batch) {
    for (const { key, version } of checked)
      if (version !== absent && !locks.has(name(key))) locks.set(name(key), { of: key, alone: false })
  }
  return [...locks.values()].sort(byKey)
}
