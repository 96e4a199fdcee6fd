/** Opens the two sides of a move of the metadata: the engine in a stopped data directory, and a database that no server uses. */
import { stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { systemClock } from '../../clock.ts'
import { opening } from '../../closing-stack.ts'
import { databaseName, type SharedMetadata } from '../../config/metadata-options.ts'
import { absent, makeDirectories } from '../../instance/atomic-file.ts'
import { type DataDirectory, ownDirectory } from '../../instance/data-directory.ts'
import { acquireInstanceLock, InstanceInUse } from '../../instance/instance-lock.ts'
import { readClaimant } from '../../instance/metadata-id.ts'
import type { SideState } from '../../instance/metadata-move.ts'
import { type Mark, readMark, replaceMark } from '../../instance/unfinished-metadata.ts'
import type { Key, Kv, Version } from '../../kv/kv.ts'
import { keyAfter } from '../../kv/ordered-key.ts'
import { limits } from '../../limits.ts'
import { joinMembers } from '../../members/join-members.ts'
import { isServer, listMembers } from '../../members/list-members.ts'
import { fenceOf, leaseOf } from '../../members/member-records.ts'
import { MetadataMoveRefused, SharedMetadataRefused } from '../metadata/metadata-failures.ts'
import { openEngine, openSharedEngine } from '../metadata/open-engine.ts'
import { patientKv } from '../metadata/patient-kv.ts'
import { isTravelling } from './metadata-copy.ts'

export interface MetadataSide {
  kv: Kv
  /** For people: `name` begins a sentence, `place` fits into one. */
  name: string
  place: string
  state: SideState
  /** Replaces the mark that was read last. */
  mark(next: Mark | undefined): Promise<void>
  /** Rejects with `SharedMetadataRefused` while other processes use the metadata. */
  requireAlone(): Promise<void>
  close(): Promise<void>
}

export interface SharedSide extends MetadataSide {
  /** The member that this process is. */
  member: string
  /** Declares a member gone that is known to be dead, so that nobody waits for its lease to end. */
  retire(member: string): Promise<void>
}

/** Why servers must be stopped first. */
const couldChange = 'which could still change what is moved'

export interface SideOptions {
  onFatal(error: Error): void
  warn(message: string): void
}

/** `undefined`: there is no metadata in the directory, and `create` is not set. Throws `MetadataMoveRefused` while another process owns the directory. */
export async function openOwnSide(
  path: string,
  { create, onFatal, warn }: SideOptions & { create: boolean },
): Promise<(MetadataSide & { directory: DataDirectory }) | undefined> {
  const directory = ownDirectory(path)
  if (!create && (await stat(directory.meta).catch(absent)) === undefined) return undefined
  await makeDirectories(directory.meta, 0o700)
  return opening(async (opened) => {
    const kv = await openEngine({ path: directory.meta, onFatal, onDamage: warn, takesOver: true })
    opened.add(() => kv.close())
    const lock = await acquireInstanceLock(kv, path, systemClock).catch((error: unknown) => {
      if (!(error instanceof InstanceInUse)) throw error
      const { pid, host } = error.holder
      throw new MetadataMoveRefused(
        `the data directory ${path} is in use by process ${pid} on ${host}, ${couldChange}; stop it first`,
      )
    })
    opened.add(() => lock.release())
    const name = `the metadata in the data directory ${path}`
    const place = `the data directory ${resolve(path)} of ${hostname()}`
    // The lock of the directory keeps all others away.
    const requireAlone = async (): Promise<void> => {}
    return { ...(await sideOver(kv)), name, place, requireAlone, directory, close: opened.close }
  })
}

/** Makes this process a member of the database, so that it can't write once others take it for dead. Throws `MetadataUnreachable`. */
export function openSharedSide(
  { url, connections }: SharedMetadata,
  { onFatal, warn }: SideOptions,
): Promise<SharedSide> {
  return opening(async (opened) => {
    const engine = await openSharedEngine({ url, connections, patienceMs: limits.metadataPatienceMs, warn, onFatal })
    opened.add(() => engine.close())
    const who = { kind: 'command', host: hostname(), pid: process.pid } as const
    const membership = await joinMembers(engine, { ...who, clock: systemClock, onFatal, warn })
    opened.add(() => membership.leave())
    const { id } = membership
    const kv = patientKv(membership.kv)
    const requireAlone = (): Promise<void> => untilAlone(kv, id, url)
    const retire = async (member: string): Promise<void> => {
      await kv.commit({ deletes: [fenceOf(member).key, leaseOf(member).key] })
    }
    const name = `the metadata in ${databaseName(url)}`
    const place = `the database ${databaseName(url)}`
    return { ...(await sideOver(kv)), name, place, requireAlone, member: id, retire, close: opened.close }
  })
}

async function sideOver(kv: Kv): Promise<Pick<MetadataSide, 'kv' | 'state' | 'mark'>> {
  const { metadataId, predecessors } = await readClaimant(kv)
  const state: SideState = {
    mark: undefined,
    ids: [metadataId, ...predecessors].filter((id) => id !== ''),
    isEmpty: await isEmpty(kv),
  }
  let version: Version | undefined
  const look = async (): Promise<void> => {
    const found = await readMark(kv)
    state.mark = found?.value
    version = found?.version
  }
  await look()
  const mark = async (next: Mark | undefined): Promise<void> => {
    if (!(await replaceMark(kv, version, next))) throw new Error('another process has marked the metadata meanwhile')
    await look()
  }
  return { kv, state, mark }
}

async function isEmpty(kv: Kv): Promise<boolean> {
  for (let start: Key = Buffer.alloc(0); ; ) {
    const page = await kv.range({ start, end: Buffer.from([0xff]), limit: 100 })
    const last = page.at(-1)
    if (last === undefined) return true
    if (page.some(({ key }) => isTravelling(key))) return false
    start = keyAfter(last.key)
  }
}

const pollMs = 200

/** Waits for commands to end, and for dead members to be declared gone, because they could still commit. */
async function untilAlone(kv: Kv, self: string, url: string): Promise<void> {
  const givesUpMs = performance.now() + 3 * limits.memberLeaseMs
  for (;;) {
    const others = (await listMembers(kv)).filter(({ id }) => id !== self)
    const other = others.find(isServer) ?? others[0]
    if (other === undefined) return
    if ((isServer(other) && other.leaseLeftMs > 0) || performance.now() > givesUpMs) {
      const { kind, pid, host, address } = other
      throw new SharedMetadataRefused(
        url,
        `is in use by ${kind} ${pid} on ${host}${address === undefined ? '' : ` (${address})`}${isServer(other) ? `, ${couldChange}` : ''}; stop it first`,
      )
    }
    await delay(pollMs)
  }
}
