/** The store in the data directory, which the metadata remembers. No other store may ever be taken for it: all of its data would look like garbage. */
import { z } from 'zod'
import type { Kv } from '../kv/kv.ts'
import { readRecord, systemRecord } from './sealed-record.ts'

const record = systemRecord('default-store', z.object({ storeId: z.string() }))

/** `undefined` before the first start. */
export async function knownDefaultStore(kv: Kv): Promise<string | undefined> {
  return (await readRecord(kv, record))?.value.storeId
}

/** Makes the metadata remember its store. False: it knew one already. */
export function learnDefaultStore(kv: Kv, storeId: string): Promise<boolean> {
  const { key } = record
  return kv.commit({ checks: [{ key, absent: true }], puts: [{ key, value: record.seal({ storeId }) }] })
}

/** Makes the metadata remember another store instead. */
export async function replaceDefaultStore(kv: Kv, storeId: string): Promise<void> {
  await kv.commit({ puts: [{ key: record.key, value: record.seal({ storeId }) }] })
}
