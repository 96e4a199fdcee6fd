/** The records of members in the metadata: each member has a fence and a lease, and one record names the maintainer (ADR 0043). */
import { z } from 'zod'
import { readRecord, systemRecord } from '../instance/sealed-record.ts'
import type { Entry, Key, Kv } from '../kv/kv.ts'
import { type KeyRange, rangeOf, unpackKey } from '../kv/ordered-key.ts'
import type { MemberId } from './membership.ts'

/** Written once. As long as it exists, the member may commit, because every commit of the member checks it. */
const fenceSchema = z.object({
  kind: z.enum(['server', 'worker', 'command']),
  host: z.string(),
  pid: z.number(),
  /** Where its clients reach it. */
  address: z.string().optional(),
  sinceMs: z.number(),
})

const leaseSchema = z.object({
  /** By the clock of the database. */
  untilMs: z.number(),
  leaseMs: z.number(),
  /** By how much the clock of the member's host is ahead of the database's. */
  clockAheadMs: z.number(),
  /** Makes each renewal differ from the one before, even if the clocks stand still. */
  renewals: z.number(),
})
export type LeaseRecord = z.infer<typeof leaseSchema>

const postSchema = z.object({
  /** Rises with each hand-over. */
  number: z.number(),
  /** `null`: the post is free. */
  member: z.string().nullable(),
})

export const postRecord = systemRecord('maintainer', postSchema)

/** For metadata that came from elsewhere: its holder is no member here. The number stays, because numbers only rise. */
export async function vacatePost(kv: Kv): Promise<void> {
  const found = await readRecord(kv, postRecord)
  if (found === undefined) return
  const value = postRecord.seal({ number: found.value.number, member: null })
  await kv.commit({ puts: [{ key: postRecord.key, value }] })
}

/** All members in one range, so that one read finds them all. */
export const members: KeyRange = rangeOf('s', 'member')
/** More than there ever are, so one read is enough. */
export const membersMax = 5_000

export const fenceOf = (member: MemberId) => systemRecord(['member', member, 'fence'], fenceSchema)
export const leaseOf = (member: MemberId) => systemRecord(['member', member, 'lease'], leaseSchema)

export interface FoundMember {
  fence?: Entry
  lease?: Entry
}

/** Groups the entries of `members` by member. */
export function byMember(entries: readonly Entry[]): Map<MemberId, FoundMember> {
  const found = new Map<MemberId, FoundMember>()
  for (const entry of entries) {
    const { member, part } = partsOf(entry.key)
    found.set(member, { ...found.get(member), [part]: entry })
  }
  return found
}

function partsOf(key: Key): { member: MemberId; part: 'fence' | 'lease' } {
  const [, , member, part] = unpackKey(key, ['string', 'string', 'string', 'string'])
  return { member, part: part === 'fence' ? 'fence' : 'lease' }
}
