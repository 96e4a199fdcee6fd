/** `holdfast members`: lists the processes that share the metadata in PostgreSQL. */
import { ConfigurationError } from '../config/configuration-error.ts'
import { type ListedMember, listMembers } from '../members/list-members.ts'
import type { Invocation } from './command.ts'
import { withMetadata } from './stopped-data.ts'

export async function members(invocation: Invocation): Promise<number> {
  const { configuration, json, print } = invocation
  if (configuration.metadata === undefined) {
    throw new ConfigurationError('the metadata is in the data directory, which one server uses: there are no members')
  }
  const listed = (await withMetadata(invocation, ({ kv }) => listMembers(kv))).filter(
    ({ pid, kind }) => kind !== 'command' || pid !== process.pid,
  )
  if (json) for (const member of listed) print(JSON.stringify({ event: 'member', ...member }))
  else if (listed.length === 0) print('no server runs')
  else for (const member of listed) print(lineOf(member))
  return 0
}

function lineOf({
  id,
  kind,
  host,
  pid,
  address,
  sinceMs,
  leaseLeftMs,
  clockAheadMs,
  maintainer,
}: ListedMember): string {
  const lease =
    leaseLeftMs > 0 ? `lease ${seconds(leaseLeftMs)}` : `no sign of life: its lease ended ${seconds(-leaseLeftMs)} ago`
  const clock =
    Math.abs(clockAheadMs) < 100
      ? []
      : [`clock ${seconds(Math.abs(clockAheadMs))} ${clockAheadMs > 0 ? 'ahead' : 'behind'}`]
  return [
    `${kind}  ${host}  pid ${pid}`,
    ...(address === undefined ? [] : [address]),
    `since ${new Date(sinceMs).toISOString()}`,
    lease,
    ...clock,
    ...(maintainer === undefined ? [] : [`maintainer ${maintainer}`]),
    id,
  ].join('  ')
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`
