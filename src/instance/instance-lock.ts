/**
 * At most one instance owns a data directory. The owner's name is a record of the metadata that only compare-and-swap changes, so one of several
 * starters wins. A name counts as long as a process of that instance lives, so a killed owner is replaced. Worker processes join the owner.
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

/** Another instance owns the data directory. */
export class InstanceInUse extends Error {
  readonly pid: number
  constructor(directory: string, holder: { pid: number; host: string }) {
    super(`the data directory ${directory} is in use by process ${holder.pid} on ${holder.host}; stop it first`)
    this.name = 'InstanceInUse'
    this.pid = holder.pid
  }
}

const ownerSchema = z.object({
  id: z.string(),
  pid: z.number(),
  host: z.string(),
  startedMs: z.number(),
  /** Where the proofs of life lie. */
  proofs: z.string(),
  /** Absent where the kernel can't be asked, and in records of older versions. */
  process: processIdentity.optional(),
  /** The owner ends soon when another process wants to own the directory: it is a command whose work somebody else can continue. Records keep this name. */
  givesWay: z.boolean().optional(),
})
type Owner = z.infer<typeof ownerSchema>

const ownerRecord = systemRecord('instance', ownerSchema)
export const instanceKey: Key = ownerRecord.key
/** A process writes it while it waits for an owner to give way. */
const wantedRecord = systemRecord('instance-wanted', z.object({ pid: z.number(), host: z.string() }))
const pollMs = 20
const proofName = (instanceId: string): string => `instance-${instanceId}`

/** `yieldsOwnership`: this owner ends when `isOwnershipWanted`, and waits for no other. Throws `InstanceInUse`. */
export async function acquireInstanceLock(
  kv: Kv,
  directory: string,
  clock: Clock,
  { yieldsOwnership = false } = {},
): Promise<InstanceLock> {
  const id = randomId(clock)
  // The proof comes first: whoever reads the record must find it alive.
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
    // Where nothing can be written, the proofs alone decide.
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

/** For a worker of the owner. Throws when the owner is gone: then this process must end. */
export async function joinInstance(kv: Kv, directory: string, id: string): Promise<InstanceLock> {
  // The proof comes before the check, so that whoever takes over after the check finds it.
  const proof = await proveLife(directory, `${proofName(id)}-${process.pid}`)
  const owner = await readRecord(kv, ownerRecord)
  if (owner?.value.id !== id && !(await isReadOnly(kv))) {
    await proof.end()
    throw new Error('the instance that this worker belongs to has ended')
  }
  return { id, release: () => proof.end() }
}

/** Whether an instance owns the data directory. The answer may be outdated when it arrives. */
export async function isOwned(kv: Kv): Promise<boolean> {
  const owner = (await readRecord(kv, ownerRecord))?.value
  return owner !== undefined && (await livingProcesses(kv, owner)).length > 0
}

/**
 * The owner and its workers, by the names of their proofs. The kernel is asked first, because a socket can be removed. Where the kernel does not know, as
 * with a process of another container, an owner whose socket is missing gets time to make it again.
 */
async function livingProcesses(kv: Kv, owner: Owner): Promise<string[]> {
  const name = proofName(owner.id)
  const lives = owner.process && (await isLiving(owner.process))
  for (let waitedMs = 0; ; waitedMs += pollMs) {
    const proofs = await findProofs(owner.proofs, name)
    const living = proofs.filter(({ lives }) => lives).map((proof) => proof.name)
    // It has given up, though its process may still live; its workers end.
    if ((await readRecord(kv, ownerRecord))?.value.id !== owner.id) return living
    if (lives !== undefined) return lives && !living.includes(name) ? [name, ...living] : living
    // Told by the same look: a proof that is made between two would be one that is there, and was not found to live.
    const hasDied = proofs.some((proof) => proof.name === name && !proof.lives)
    if (living.length > 0 || hasDied || waitedMs > limits.proofMissingMs) return living
    await delay(pollMs)
  }
}

/** Whether a process waits for an owner to give way. */
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
    if (waitedMs > limits.instanceTakeoverMs) throw new InstanceInUse(directory, found?.value ?? owner)
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
    // A worker that joined just before the swap shows itself now; one that joins later sees the new owner and ends.
    try {
      await untilEnded(kv, found.value, directory, owner)
    } catch (error) {
      await giveUpOwnership(kv, owner.id)
      throw error
    }
    return clearProofs(found.value.proofs, proofName(found.value.id))
  }
}

/** Resolves when no process of the instance lives. Workers of a killed owner end by themselves: this waits for them. */
async function untilEnded(kv: Kv, owner: Owner, directory: string, waiting: Owner): Promise<void> {
  const name = proofName(owner.id)
  const isAsked = owner.givesWay === true && waiting.givesWay !== true
  const waitMsMax = isAsked ? limits.giveWayMs : limits.instanceTakeoverMs
  for (let waitedMs = 0; ; waitedMs += pollMs) {
    const living = await livingProcesses(kv, owner)
    if (living.length === 0) return
    if ((living.includes(name) && !isAsked) || waitedMs > waitMsMax) throw new InstanceInUse(directory, owner)
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
