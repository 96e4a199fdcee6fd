/** Opens an empty database in PostgreSQL for a command that fills it all or nothing while nobody else uses it. */
import { hostname } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { systemClock } from '../../clock.ts'
import { opening } from '../../closing-stack.ts'
import type { SharedMetadata } from '../../config/metadata-options.ts'
import { prepareHostDirectory } from '../../instance/data-directory.ts'
import { readMark, replaceMark, whyUnusable } from '../../instance/unfinished-metadata.ts'
import { limits } from '../../limits.ts'
import { joinMembers } from '../../members/join-members.ts'
import { isServer, type ListedMember, listMembers } from '../../members/list-members.ts'
import type { Membership } from '../../members/membership.ts'
import { SharedMetadataRefused } from '../metadata/metadata-failures.ts'
import { openSharedEngine } from '../metadata/open-engine.ts'
import { clear, type FilledMetadata, type FillOptions, fillMarked, isEmpty } from './filling.ts'

export type FillSharedOptions = FillOptions & { metadata: SharedMetadata }

/** Throws `SharedMetadataRefused`, `DataDirectoryRefused`, `MetadataUnreachable`, `ConfigurationRefused`. */
export async function fillSharedMetadata<T>(
  options: FillSharedOptions,
  fill: (metadata: FilledMetadata) => Promise<T>,
): Promise<T> {
  const { path, metadata, onFatal, warn } = options
  const directory = await prepareHostDirectory(path, { create: true })
  return opening(async (opened) => {
    const engine = await openSharedEngine({ ...metadata, patienceMs: limits.metadataPatienceMs, warn, onFatal })
    opened.add(() => engine.close())
    const who = { kind: 'command', host: hostname(), pid: process.pid } as const
    const membership = await joinMembers(engine, { ...who, clock: systemClock, onFatal, warn })
    opened.add(() => membership.leave())
    const { id: member, kv, clock } = membership
    await markAlone(membership, options)
    await clear(kv)
    const result = await fillMarked({ kv, clock, directory, member }, fill)
    await opened.close()
    return result
  })
}

/**
 * Marks the metadata as begun when this process is alone with it. A server joins and then looks for a mark; this process makes a mark and then looks for members. So one of
 * the two notices the other. Every commit of this process checks that nobody has declared it gone, so a command that was stopped and goes on can't write into what another one filled.
 */
async function markAlone(
  { id: member, kv }: Membership,
  { metadata, command, warn }: FillSharedOptions,
): Promise<void> {
  const refuse = (reason: string): never => {
    throw new SharedMetadataRefused(metadata.url, reason)
  }
  const found = await readMark(kv)
  // A move from or to another engine is under way. What lies here is not left over from this command.
  if (found?.value.move !== undefined) refuse(whyUnusable(found.value))
  const goesOn = found?.value.begun === true
  const isThere = async (): Promise<boolean> => !goesOn && !(await isEmpty(kv))
  const another = `is there already. Name an empty database to ${command} into`
  if (found === undefined && (await isThere())) refuse(another)
  const changed = 'is being filled by another process'
  const mark = { command, member }
  // `begun` never changes back, whatever happens to this process.
  if (!(await replaceMark(kv, found?.version, { ...mark, begun: goesOn }))) refuse(changed)
  const own = await readMark(kv)
  if (own?.value.member !== member) return refuse(changed)
  try {
    await requireAlone({ id: member, kv }, metadata.url, warn)
    if (await isThere()) refuse(another)
  } catch (error) {
    if (!goesOn) await replaceMark(kv, own.version, undefined).catch(() => {})
    throw error
  }
  if (!(await replaceMark(kv, own.version, { ...mark, begun: true }))) refuse(changed)
}

const pollMs = 200
/** Longer than it takes to declare a dead member gone. */
const patienceMs = 3 * limits.memberLeaseMs

/** Waits for members that died. Throws `SharedMetadataRefused` when another one lives. */
async function requireAlone(
  { id, kv }: Pick<Membership, 'id' | 'kv'>,
  url: string,
  warn: FillOptions['warn'],
): Promise<void> {
  const leases = new Map<string, number>()
  for (let waitedMs = 0; ; waitedMs += pollMs) {
    const others = (await listMembers(kv)).filter((member) => member.id !== id)
    const [other] = others
    if (other === undefined) return
    const renewed = others.find((member) => member.leaseLeftMs > (leases.get(member.id) ?? Number.POSITIVE_INFINITY))
    if (renewed !== undefined || waitedMs > patienceMs) throw inUse(url, renewed ?? other)
    if (waitedMs === 0) warn(`waiting for ${nameOf(other)}, which may have died, to be declared gone`)
    for (const member of others) leases.set(member.id, member.leaseLeftMs)
    await delay(pollMs)
  }
}

const nameOf = ({ kind, pid, host, address }: ListedMember): string =>
  `${kind} ${pid} on ${host}${address === undefined ? '' : ` (${address})`}`

const inUse = (url: string, member: ListedMember): Error =>
  new SharedMetadataRefused(
    url,
    `is in use by ${nameOf(member)}${isServer(member) ? ', which could write while the metadata is filled. Stop it first' : '. Wait until it has ended'}`,
  )
