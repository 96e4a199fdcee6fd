/** Remembers in the metadata which store the data directory has. A server must never mistake another store for it: all data there would look like garbage. */
import { z } from 'zod'
import type { Key, Kv } from '../kv/kv.ts'
import { readRecord, systemRecord } from './sealed-record.ts'

const record = systemRecord('default-store', z.object({ storeId: z.string() }))

/** `undefined` before the first start. */
export async function knownDefaultStore(kv: Kv): Promise<string | undefined> {
  return (await readRecord(kv, record))?.value.storeId
}

/** Records the store in the metadata. False: the metadata already knew one. */
export function learnDefaultStore(kv: Kv, storeId: string): Promise<boolean> {
  const { key } = record
  return kv.commit({ checks: [{ key, absent: true }], puts: [{ key, value: record.seal({ storeId }) }] })
}

/** The entry that records the store, or its absence. */
export function sealedDefaultStore(storeId: string | undefined): { key: Key; value: Buffer | undefined } {
  return { key: record.key, value: storeId === undefined ? undefined : record.seal({ storeId }) }
}

/** Records another store in place of the known one. */
export async function replaceDefaultStore(kv: Kv, storeId: string): Promise<void> {
  await kv.commit({ puts: [{ key: record.key, value: record.seal({ storeId }) }] })
}
