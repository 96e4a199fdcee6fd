/**
 * Makes one engine's entries equal to another's: reads both window by window, in order of keys, and writes only differences. So an interrupted copy
 * continues by starting again, and the same walk compares both at the end. Records that belong to one side only are left out.
 */

import { unfinishedKey } from '../../instance/unfinished-metadata.ts'
import type { Entry, Key, Kv, Put } from '../../kv/kv.ts'
import { type KeyRange, keyAfter } from '../../kv/ordered-key.ts'
import { isOfProcess, isWithin } from '../metadata/process-records.ts'

/** Whether the entry is moved. Records of running processes and the mark of the move are not. */
export const isTravelling = (key: Key): boolean => !isOfProcess(key) && !unfinishedKey.equals(key)

/** An entry with another value on the target. `undefined`: the target does not have it. */
export interface ChangedEntry {
  key: Key
  value: Buffer | undefined
}

export interface CopyOptions {
  source: Pick<Kv, 'range'>
  target: Kv
  changed: readonly ChangedEntry[]
  /** Called with the number of entries looked at since the last call. */
  did(entries: number): void
}

export interface CopyReport {
  /** How many entries both sides have now. */
  entries: number
  /** Entries that differed on the target. */
  differing: number
}

/** Nothing else may write to either side. */
export function copyMetadata(options: CopyOptions): Promise<CopyReport> {
  return walk(options, async ({ puts, deletes }) => {
    if (!(await options.target.commit({ puts, deletes }))) throw new Error('a copy without conditions was refused')
  })
}

/** Counts the differences and changes nothing. */
export function compareMetadata(options: CopyOptions): Promise<CopyReport> {
  return walk(options, async () => {})
}

/** Empties a target when its move is given up. */
export async function emptyMetadata(target: Kv): Promise<void> {
  await copyMetadata({ source: { range: async () => [] }, target, changed: [], did: () => {} })
}

const windowEntries = 1000
/** Windows that are copied at once. There are more connections that write, so the lease is renewed in time. */
const windowsAtOnce = 3
const lastKey: Key = Buffer.from([0xff])

interface Window extends KeyRange {
  wanted: readonly Put[]
}

interface Difference {
  puts: Put[]
  deletes: Key[]
}

async function walk(
  { source, target, changed, did }: CopyOptions,
  settle: (difference: Difference) => Promise<void>,
): Promise<CopyReport> {
  const report = { entries: 0, differing: 0 }
  const windows = windowsOf(source, changed)
  const work = async (): Promise<void> => {
    for (let next = await windows.next(); next.done !== true; next = await windows.next()) {
      for await (const difference of differencesIn(target, next.value)) {
        const differing = difference.puts.length + difference.deletes.length
        if (differing > 0) await settle(difference)
        report.differing += differing
      }
      const { length } = next.value.wanted
      report.entries += length
      did(length)
    }
  }
  await Promise.all(Array.from({ length: windowsAtOnce }, work))
  return report
}

/** Covers all keys, also those behind the last entry. */
async function* windowsOf(source: Pick<Kv, 'range'>, changed: readonly ChangedEntry[]): AsyncGenerator<Window> {
  for (let start: Key = Buffer.alloc(0); ; ) {
    const page = await source.range({ start, end: lastKey, limit: windowEntries })
    const last = page.at(-1)
    const end = last === undefined || page.length < windowEntries ? lastKey : keyAfter(last.key)
    yield { start, end, wanted: wantedIn({ start, end }, page, changed) }
    if (end === lastKey) return
    start = end
  }
}

function wantedIn(range: KeyRange, page: readonly Entry[], changed: readonly ChangedEntry[]): Put[] {
  const here = changed.filter(({ key }) => isWithin(range, key))
  const kept = page.filter(({ key }) => isTravelling(key) && !here.some((other) => other.key.equals(key)))
  const added = here.flatMap(({ key, value }) => (value === undefined ? [] : [{ key, value }]))
  if (added.length === 0) return kept
  return [...kept, ...added].sort((one, other) => Buffer.compare(one.key, other.key))
}

/** Page by page, because the target can have many entries where the source has none. */
async function* differencesIn(target: Kv, { start, end, wanted }: Window): AsyncGenerator<Difference> {
  let left = wanted
  for (let from = start; Buffer.compare(from, end) < 0; ) {
    const page = await target.range({ start: from, end, limit: windowEntries })
    const last = page.at(-1)
    const to = last === undefined || page.length < windowEntries ? end : keyAfter(last.key)
    const behind = left.findIndex(({ key }) => Buffer.compare(key, to) >= 0)
    const here = behind < 0 ? left : left.slice(0, behind)
    left = left.slice(here.length)
    yield differenceOf(
      here,
      page.filter(({ key }) => isTravelling(key)),
    )
    from = to
  }
}

/** Both in order of keys. */
function differenceOf(wanted: readonly Put[], found: readonly Entry[]): Difference {
  const puts: Put[] = []
  const deletes: Key[] = []
  let at = 0
  for (const { key, value } of wanted) {
    for (; at < found.length; at++) {
      const other = found[at]
      if (other === undefined || Buffer.compare(other.key, key) >= 0) break
      deletes.push(other.key)
    }
    const there = found[at]
    const isThere = there?.key.equals(key) === true
    if (isThere) at++
    if (!isThere || !there.value.equals(value)) puts.push({ key, value })
  }
  for (const { key } of found.slice(at)) deletes.push(key)
  return { puts, deletes }
}
