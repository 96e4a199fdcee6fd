/** Lets only one member at a time make what a first start on shared metadata makes: keys and stores. Two at once would each make their own. */
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import type { Key, Kv } from '../kv/kv.ts'
import { readRecord, systemRecord } from './sealed-record.ts'

const record = systemRecord('settling', z.object({ member: z.string() }))
export const settlingKey: Key = record.key
const pollMs = 100

export interface SettlingMember {
  id: string
  kv: Kv
  isGone(member: string): Promise<boolean>
}

/** Waits while another living member is at it. Rejects with what `settle` and the engine reject with. */
export async function settlingAlone<T>(member: SettlingMember, settle: () => Promise<T>): Promise<T> {
  const { id, kv } = member
  const { key } = record
  for (;;) {
    const found = await readRecord(kv, record)
    const isFree = found === undefined || found.value.member === id || (await member.isGone(found.value.member))
    const check = found === undefined ? ({ key, absent: true } as const) : { key, version: found.version }
    if (isFree && (await kv.commit({ checks: [check], puts: [{ key, value: record.seal({ member: id }) }] }))) break
    await delay(pollMs)
  }
  try {
    return await settle()
  } finally {
    const own = await readRecord(kv, record).catch(() => undefined)
    // If the mark can't be removed, the others wait until this member is gone.
    if (own?.value.member === id) {
      await kv.commit({ checks: [{ key, version: own.version }], deletes: [key] }).catch(() => {})
    }
  }
}
