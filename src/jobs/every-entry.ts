/** Walks a range of the metadata page by page. An entry that changes meanwhile is seen either before or after its change. */
import type { Entry } from '../kv/kv.ts'
import { type KeyRange, keyAfter } from '../kv/ordered-key.ts'
import type { RangeReader } from './unhurried.ts'

const pageEntries = 500

export async function* everyEntry(kv: RangeReader, { start, end }: KeyRange): AsyncGenerator<Entry> {
  let from = start
  for (;;) {
    const page = await kv.range({ start: from, end, limit: pageEntries })
    yield* page
    const last = page.at(-1)
    if (last === undefined || page.length < pageEntries) return
    from = keyAfter(last.key)
  }
}
