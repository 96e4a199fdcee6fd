/** `holdfast members`: lists the processes that share the metadata in PostgreSQL, or the one that owns a data directory. */
import { livingOwner } from '../instance/instance-lock.ts'
import { limits } from '../limits.ts'
import { type ListedMember, listMembers } from '../members/list-members.ts'
import type { OpenMetadata } from '../opening/open-backend.ts'
import type { Invocation } from './command.ts'
import { withMetadata } from './stopped-data.ts'

export function members(invocation: Invocation): Promise<number> {
  return withMetadata(invocation, async (metadata) => {
    if (metadata.shared === true) await listShared(metadata, invocation)
    else await showOwner(metadata, invocation)
    return 0
  })
}

async function listShared({ kv, clock }: OpenMetadata, { json, print, notice }: Invocation): Promise<void> {
  const listed = (await listMembers(kv)).filter(({ pid, kind }) => kind !== 'command' || pid !== process.pid)
  if (json) for (const member of listed) print(JSON.stringify({ event: 'member', ...member }))
  else if (listed.length === 0) print('no server runs')
  else for (const line of memberTable(listed, clock.now())) print(line)
  for (const line of listed.flatMap(clockWarning)) notice(line)
}

/** One server owns a data directory, so there are no leases. */
async function showOwner({ kv, clock }: OpenMetadata, { json, print }: Invocation): Promise<void> {
  const owner = await livingOwner(kv)
  if (owner === undefined) {
    if (!json) print('no server runs')
    return
  }
  const { pid, host, startedMs: sinceMs, givesWay } = owner
  const kind = givesWay === true ? 'command' : 'server'
  if (json) print(JSON.stringify({ event: 'member', kind, host, pid, sinceMs }))
  else {
    const row = [kind, host, `${pid}`, age(clock.now() - sinceMs)]
    for (const line of alignedTable([['KIND', 'HOST', 'PID', 'AGE'], row])) print(line)
  }
}

const heads = ['KIND', 'HOST', 'PID', 'ADDRESS', 'AGE', 'LEASE', 'CLOCK', 'MAINTAINER', 'ID']

/** A table with a row for each member. `nowMs`: the time by the database's clock. Pure. */
export function memberTable(members: readonly ListedMember[], nowMs: number): string[] {
  const rows = members.map(({ id, kind, host, pid, address, sinceMs, leaseLeftMs, clockAheadMs, maintainer }) => [
    kind,
    host,
    `${pid}`,
    address ?? '-',
    age(nowMs - sinceMs),
    leaseLeftMs > 0 ? seconds(leaseLeftMs) : `over for ${seconds(-leaseLeftMs)}`,
    `${clockAheadMs < 0 ? '-' : '+'}${seconds(Math.abs(clockAheadMs))}`,
    maintainer === undefined ? '-' : `number ${maintainer}`,
    id,
  ])
  return alignedTable([heads, ...rows])
}

function alignedTable(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const lineOf = (row: readonly string[]): string =>
    row.map((text, column) => text.padEnd(widths[column] ?? 0)).join('  ')
  return rows.map((row) => lineOf(row).trimEnd())
}

/** A warning for the operator if the clock of the member's host should be set. Pure. */
export function clockWarning({ kind, host, pid, clockAheadMs }: ListedMember): string[] {
  if (Math.abs(clockAheadMs) < limits.clockDifferenceMs) return []
  const way = clockAheadMs > 0 ? 'ahead of' : 'behind'
  return [
    `the clock of ${host} (${kind} ${pid}) is ${seconds(Math.abs(clockAheadMs))} ${way} the metadata database's: set it, for instance by NTP. The database's clock is used`,
  ]
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

const units: readonly [name: string, ms: number][] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
]

/** In the largest unit that gives at least 2. */
function age(ms: number): string {
  const [name, unitMs] = units.find(([, each]) => ms >= 2 * each) ?? ['s', 1000]
  return `${Math.max(0, Math.floor(ms / unitMs))} ${name}`
}
