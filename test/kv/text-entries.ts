/** Entries written and read as text, so that rows of tests read easily. */
import type { Entry, Key, Kv } from '../../src/kv/kv.ts'

export const bytes = (text: string): Buffer => Buffer.from(text)
export const put = (key: string, value = ''): { key: Key; value: Buffer } => ({ key: bytes(key), value: bytes(value) })
export const texts = (entries: readonly (Entry | undefined)[]): (string | undefined)[] =>
  entries.map((entry) => (entry === undefined ? undefined : `${entry.key}=${entry.value}`))

export async function entryOf(kv: Kv, key: string): Promise<Entry> {
  const [entry] = await kv.get([bytes(key)])
  if (entry === undefined) throw new Error(`${key} is not there`)
  return entry
}

export const keysOf = async (kv: Kv): Promise<string[]> =>
  (await kv.range({ start: bytes('\0'), end: bytes('\xff'), limit: 1_000_000 })).map(({ key }) => key.toString())

/** Adds one to a number, `times` times, each time reading and then committing against what was read. */
export async function increment(kv: Kv, key: Key, times: number): Promise<void> {
  for (let done = 0; done < times; ) {
    const [entry] = await kv.get([key])
    if (entry === undefined) throw new Error('nothing to increment')
    const value = Buffer.from(String(Number(entry.value) + 1))
    if (await kv.commit({ checks: [{ key, version: entry.version }], puts: [{ key, value }] })) done++
  }
}
