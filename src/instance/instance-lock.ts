/**
 * At most one instance owns a data directory. The owner's name is a metadata record that changes only by compare-and-swap, so one of several starters
 * wins. The name counts while a process of that instance lives, so a killed owner can be replaced. Worker processes join the owner.
 */
import { hostname } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { type Clock, randomId } from '../clock.ts'
import type { Key, Kv } from '../kv/kv.ts'
import { limits } from '../limits.ts'
import { isLiving, ownIdentity, processIdentity } from './process-identity.ts'
import { clearProofs, findProofs, livingProofs, proveLife } from './proof-of-life.ts'
import { readRecord, systemRecord } from './sealed-record.ts'

export interface InstanceLock {
  /** The id with which workers join. */
  readonly id: string
  release(): Promise<void>
}

interface Holder {
  pid: number
  host: string
  /** The owner that has ended, if `pid` is a worker that it left. */
  ended?: number
}

/** Another instance owns the data directory. */
export class InstanceInUse extends Error {
  readonly holder: { readonly pid: number; readonly host: string }
  constructor(directory: string, { pid, host, ended }: Holder) {
    const of = ended === undefined ? '' : `, a worker of process ${ended}, which has ended`
    super(`the data directory ${directory} is in use by process ${pid} on ${host}${of}; stop it first`)
    this.name = 'InstanceInUse'
    this.holder = { pid, host }
  }
}

const ownerSchema = z.object({
  id: z.string(),
  pid: z.number(),
  host: z.string(),
  startedMs: z.number(),
  /** The directory of the proofs of life. */
  proofs: z.string(),
  /** Absent on systems without `/proc`, and in records of older versions. */
  process: processIdentity.optional(),
  /** The owner is a command that ends soon when another process wants the directory, because that can continue its work. Records keep this name. */
  givesWay: z.boolean().optional(),
})
type Owner = z.infer<typeof ownerSchema>

const ownerRecord = systemRecord('instance', ownerSchema)
/** A process writes this record while it waits for an owner to yield. */
const wantedRecord = systemRecord('instance-wanted', z.object({ pid: z.number(), host: z.string() }))
export const instanceKeys: readonly Key[] = [ownerRecord.key, wantedRecord.key]
const pollMs = 20
const proofName = (instanceId: string): string => `instance-${instanceId}`
const workerProofName = (instanceId: string, pid: number): string => `${proofName(instanceId)}-${pid}`

/** Whom to stop. `living`: names of proofs. */
function holderOf({ id, pid, host }: Owner, living: readonly string[]): Holder {
  if (living.includes(proofName(id))) return { pid, host }
  const worker = living.map((name) => Number(name.slice(workerProofName(id, 0).length - 1))).find((found) => found > 0)
  return worker === undefined ? { pid, host } : { pid: worker, host, ended: pid }
}

/** `yieldsOwnership`: this owner ends when `isOwnershipWanted`, and does not wait for another owner. Throws `InstanceInUse`. */
export async function acquireInstanceLock(
  kv: Kv,
  directory: string,
  clock: Clock,
  { yieldsOwnership = false } = {},
): Promise<InstanceLock> {
  const id = randomId(clock)
  // The proof comes first, because a reader of the record must find this process alive.
  const proof = await proveLife(directory, proofName(id))
  const owner = {
    id,
    pid: process.pid,
    host: hostname(),
    startedMs: clock.now(),
    proofs: proof.directory,
    process: await ownIdentity(),
    givesWay: yieldsOwnership,
  }
  try {
    // When nothing can be written, only the proofs decide.
    if (await isReadOnly(kv)) await refuseOthers(kv, directory, owner)
    else await takeOwnership(kv, directory, owner)
  } catch (error) {
    await proof.end()
    throw error
  }
  return {
    id,
    release: async () => {
      if (!(await isReadOnly(kv))) await giveUpOwnership(kv, id)
      await proof.end()
    },
  }
}

/** Joins the owner as a worker. Throws when the owner is gone: this process must then end. */
export async function joinInstance(kv: Kv, directory: string, id: string): Promise<InstanceLock> {
  // The proof comes before the check, so that a process that takes over after the check finds it.
  const proof = await proveLife(directory, workerProofName(id, process.pid))
  const owner = await readRecord(kv, ownerRecord)
  if (owner?.value.id !== id && !(await isReadOnly(kv))) {
    await proof.end()
    throw new Error('the instance that this worker belongs to has ended')
  }
  return { id, release: () => proof.end() }
}

/** Whether an instance owns the data directory. The answer may be outdated when it arrives. */
export async function isOwned(kv: Kv): Promise<boolean> {
  return (await livingOwner(kv)) !== undefined
}

/** The owner of the data directory, if a process of it lives. */
export async function livingOwner(kv: Kv): Promise<Pick<Owner, 'pid' | 'host' | 'startedMs' | 'givesWay'> | undefined> {
  const owner = (await readRecord(kv, ownerRecord))?.value
  return owner !== undefined && (await livingProcesses(kv, owner)).length > 0 ? owner : undefined
}

/**
 * The owner and its workers, by the names of their proofs. Asks the kernel first, because a socket can be removed. When the kernel does not know, as for
 * a process in another container, an owner whose socket is missing gets time to make it again.
 */
async function livingProcesses(kv: Kv, owner: Owner): Promise<string[]> {
  const name = proofName(owner.id)
  const lives = owner.process && (await isLiving(owner.process))
  for (let waitedMs = 0; ; waitedMs += pollMs) {
    const proofs = await findProofs(owner.proofs, name)
    const living = proofs.filter(({ lives }) => lives).map((proof) => proof.name)
    // The owner has released the directory, though its process may still live. Its workers end.
    if ((await readRecord(kv, ownerRecord))?.value.id !== owner.id) return living
    if (lives !== undefined) return lives && !living.includes(name) ? [name, ...living] : living
    // Decided from the same listing: a proof made between two listings would exist in the second without being alive in the first.
    const hasDied = proofs.some((proof) => proof.name === name && !proof.lives)
    if (living.length > 0 || hasDied || waitedMs > limits.proofMissingMs) return living
    await delay(pollMs)
  }
}

/** Whether a process waits for an owner to yield. */
export async function isOwnershipWanted(kv: Kv): Promise<boolean> {
  return (await readRecord(kv, wantedRecord)) !== undefined
}

async function isReadOnly(kv: Kv): Promise<boolean> {
  return (await kv.integrity.damage()) !== undefined
}

async function refuseOthers(kv: Kv, directory: string, owner: Owner): Promise<void> {
  const found = await readRecord(kv, ownerRecord)
  for (let waitedMs = 0; ; waitedMs += pollMs) {
    const living = await livingProofs(owner.proofs, proofName(''))
    if (living.every((name) => name === proofName(owner.id))) return
    if (waitedMs > limits.instanceTakeoverMs)
      throw new InstanceInUse(directory, holderOf(found?.value ?? owner, living))
    await delay(pollMs)
  }
}

async function takeOwnership(kv: Kv, directory: string, owner: Owner): Promise<void> {
  for (;;) {
    const found = await readRecord(kv, ownerRecord)
    if (found !== undefined) await untilEnded(kv, found.value, directory, owner)
    const { key } = ownerRecord
    const check = found === undefined ? ({ key, absent: true } as const) : { key, version: found.version }
    const won = await kv.commit({
      checks: [check],
      puts: [{ key, value: ownerRecord.seal(owner) }],
      deletes: [wantedRecord.key],
    })
    if (!won) continue
    if (found === undefined) return
    // A worker that joined just before the swap is visible now. One that joins later sees the new owner and ends.
    try {
      await untilEnded(kv, found.value, directory, owner)
    } catch (error) {
      await giveUpOwnership(kv, owner.id)
      throw error
    }
    return clearProofs(found.value.proofs, proofName(found.value.id))
  }
}

/** Resolves when no process of the instance lives. Workers of a killed owner end by themselves. */
async function untilEnded(kv: Kv, owner: Owner, directory: string, waiting: Owner): Promise<void> {
  const name = proofName(owner.id)
  const isAsked = owner.givesWay === true && waiting.givesWay !== true
  const waitMsMax = isAsked ? limits.giveWayMs : limits.instanceTakeoverMs
  for (let waitedMs = 0; ; waitedMs += pollMs) {
    const living = await livingProcesses(kv, owner)
    if (living.length === 0) return
    if ((living.includes(name) && !isAsked) || waitedMs > waitMsMax)
      throw new InstanceInUse(directory, holderOf(owner, living))
    if (isAsked && waitedMs === 0) {
      const { pid, host } = waiting
      await kv.commit({ puts: [{ key: wantedRecord.key, value: wantedRecord.seal({ pid, host }) }] })
    }
    await delay(pollMs)
  }
}

async function giveUpOwnership(kv: Kv, id: string): Promise<void> {
  const found = await readRecord(kv, ownerRecord)
  if (found?.value.id !== id) return
  await kv.commit({ checks: [{ key: ownerRecord.key, version: found.version }], deletes: [ownerRecord.key] })
}
