/** Which commits go to PostgreSQL together, and as what. Pure. */
import { limits } from '../../limits.ts'
import { numberOfVersion } from '../entry-version.ts'
import type { Check, Commit, Key, Put } from '../kv.ts'
import { endOfPrefix, keyAfter } from '../ordered-key.ts'
import { fenceCount, fenceOf, fencesOf } from './fences.ts'
import type { Statement } from './session.ts'
import { boolArray, byteaArray, int4Array, int8Array } from './wire-arrays.ts'

const commitsMax = 256

/** The version of a key that is not there, as the database is told. Sequences begin at 1. */
const absent = 0

interface Range {
  start: Key
  end: Key
}

interface Checked {
  key: Key
  version: number
}

/** A commit, taken apart. */
export interface Prepared {
  checked: Checked[]
  empty: Range[]
  /** Puts whose keys must not be there. */
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
  const written = new Set([...puts.map(({ key }) => name(key)), ...deletes.map(name)])
  // No row stands for what is not there: what must not be added either is a range of one key.
  for (const { key, version } of checked)
    if (version === absent && !written.has(name(key))) empty.push({ start: key, end: keyAfter(key) })
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

/** Bounds may be longer than keys. */
function bounded({ emptyFrom, emptyTo }: { emptyFrom: Key; emptyTo: Key }): Range {
  const cut = (bound: Key): Key =>
    bound.length > limits.kvKeyBytesMax ? endOfPrefix(bound.subarray(0, limits.kvKeyBytesMax)) : bound
  return { start: cut(emptyFrom), end: cut(emptyTo) }
}

/** What commits that go together, or are under way, touch. */
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

  /** Whether the commit's checks could depend on these, or these on it. */
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

/** How far behind the first that has to wait others are looked at. */
const lookedAtMax = 2 * commitsMax

/**
 * The first of those that wait which have nothing to do with each other, nor with what is under way; the rest keep their order. Takes them out of `waiting`.
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
  for (; at < waiting.length && at < lookedAtMax; at++) {
    const one = waiting[at]
    if (one === undefined) break
    const { prepared } = one
    const isFull = batch.length === commitsMax || (batch.length > 0 && bytes + prepared.bytes > limits.kvBatchBytesMax)
    if (isFull) break
    if ([touched, passed, ...underWay].some((other) => other.conflictsWith(prepared))) {
      left.push(one)
      // Whoever comes later does not overtake it.
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

/** Who writes, as the database knows it. */
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
  const fences = fencesAround(batch)
  const { shared, own } = rowsToLock(batch)
  return {
    name: 'commit',
    text: `select holdfast_commit(${parameterTypes.map((type, i) => `$${i + 1}::${type}`).join(', ')})`,
    values: [
      ...[id, epoch, operation],
      ...[int4Array(fences.map(([number]) => number)), boolArray(fences.map(([, alone]) => alone))],
      ...[byteaArray(shared), byteaArray(own), !allBefore(shared, own)],
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
  ...['uuid', 'bigint', 'bigint', 'int[]', 'bool[]', 'bytea[]', 'bytea[]', 'bool'],
  ...['bytea[]', 'bigint[]', 'int[]', 'bytea[]', 'bytea[]', 'int[]'],
  ...['bytea[]', 'bytea[]', 'int[]', 'bytea[]', 'bytea[]', 'int[]', 'bytea[]', 'int[]'],
]

/** By number, and whether it is taken alone. Puts of keys that are there, which their version says, come into no range. */
function fencesAround(batch: readonly Prepared[]): [fence: number, alone: boolean][] {
  const fences = new Map<number, boolean>()
  for (const { checked, empty, added, put } of batch) {
    for (const { start, end } of empty) {
      const fence = fencesOf(start, end)
      if (fence !== 'all') fences.set(fence, true)
      else for (let i = 0; i < fenceCount; i++) fences.set(i, true)
    }
    const there = new Set(checked.filter(({ version }) => version !== absent).map(({ key }) => name(key)))
    for (const { key } of [...added, ...put]) {
      if (there.has(name(key))) continue
      const fence = fenceOf(key)
      if (!fences.has(fence)) fences.set(fence, false)
    }
  }
  return [...fences].sort(([a], [b]) => a - b)
}

/** Rows that are only looked at, and those that are written, which are locked alone. What is to be added has no row. */
function rowsToLock(batch: readonly Prepared[]): { shared: Key[]; own: Key[] } {
  const own = new Map<string, Key>()
  const shared = new Map<string, Key>()
  for (const { put, deleted } of batch) {
    for (const { key } of put) own.set(name(key), key)
    for (const key of deleted) own.set(name(key), key)
  }
  for (const { checked } of batch)
    for (const { key, version } of checked) if (version !== absent && !own.has(name(key))) shared.set(name(key), key)
  return { shared: [...shared.values()], own: [...own.values()] }
}

/** Whether locking first the ones and then the others is locking in the order of the keys. */
function allBefore(first: readonly Key[], then: readonly Key[]): boolean {
  const last = first.reduce<Key | undefined>(
    (max, key) => (max === undefined || key.compare(max) > 0 ? key : max),
    undefined,
  )
  return last === undefined || then.every((key) => last.compare(key) < 0)
}
