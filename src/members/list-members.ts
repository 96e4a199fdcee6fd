/** Lists the members of shared metadata, as an operator sees them. Needs no membership. */
import { readRecord } from '../instance/sealed-record.ts'
import type { Kv } from '../kv/kv.ts'
import { byMember, fenceOf, leaseOf, members, membersMax, postRecord } from './member-records.ts'
import type { MemberId, MemberKind } from './membership.ts'

export interface ListedMember {
  id: MemberId
  kind: MemberKind
  host: string
  pid: number
  /** Where clients reach it. */
  address?: string | undefined
  sinceMs: number
  /** What is left of its lease, by the database's clock. Below 0: it will soon be declared gone, unless it renews. */
  leaseLeftMs: number
  /** By how much the clock of its host was ahead of the database's at its last renewal. */
  clockAheadMs: number
  /** Its fencing number, when it is the maintainer. */
  maintainer?: number
}

/** The oldest first. Rejects with `KvUnavailable`. */
export async function listMembers(kv: Kv): Promise<ListedMember[]> {
  const [databaseMs, entries, post] = await Promise.all([
    kv.now(),
    kv.range({ ...members, limit: 2 * membersMax }),
    readRecord(kv, postRecord),
  ])
  const listed: ListedMember[] = []
  for (const [id, { fence, lease }] of byMember(entries)) {
    if (fence === undefined || lease === undefined) continue
    const { untilMs, clockAheadMs } = leaseOf(id).open(lease.value)
    listed.push({
      id,
      ...fenceOf(id).open(fence.value),
      leaseLeftMs: untilMs - databaseMs,
      clockAheadMs,
      ...(post?.value.member === id ? { maintainer: post.value.number } : {}),
    })
  }
  return listed.sort((a, b) => a.sinceMs - b.sinceMs)
}

/** Whether it serves clients. A command does not. */
export function isServer({ kind }: Pick<ListedMember, 'kind'>): boolean {
  return kind !== 'command'
}
