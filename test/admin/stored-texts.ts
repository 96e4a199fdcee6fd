/** Everything that the metadata holds, as text, so that a test can look for what must not be there. */
import type { Kv } from '../../src/kv/kv.ts'

export async function readRecordTexts(kv: Kv): Promise<string[]> {
  const entries = await kv.range({ start: Buffer.alloc(0), end: Buffer.of(0xff), limit: 100_000 })
  return entries.map(({ key, value }) => `${key.toString('latin1')} ${value.toString('latin1')}`)
}
