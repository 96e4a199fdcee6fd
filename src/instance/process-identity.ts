/**
 * How the kernel knows a process. An id alone is not enough: ids are reused, and mean other processes in other containers. Linux only.
 */
import { readFile, readlink } from 'node:fs/promises'
import { z } from 'zod'

export const processIdentity = z.object({
  pid: z.number(),
  /** Id of the machine's running kernel. */
  bootId: z.string(),
  /** The namespace of the id. */
  pidNamespace: z.string(),
  /** Start time since the machine's start, in the kernel's ticks. */
  startedTicks: z.string(),
})

export type ProcessIdentity = z.infer<typeof processIdentity>

export async function ownIdentity(): Promise<ProcessIdentity | undefined> {
  try {
    const startedTicks = await startOf('self')
    return startedTicks === undefined ? undefined : { pid: process.pid, startedTicks, ...(await ownNamespace()) }
  } catch {
    return undefined
  }
}

/** `undefined`: unknown, because the process is in another container or on another machine, or is this one, which may have given up. */
export async function isLiving(identity: ProcessIdentity): Promise<boolean | undefined> {
  try {
    const { bootId, pidNamespace } = await ownNamespace()
    const isElsewhere = bootId !== identity.bootId || pidNamespace !== identity.pidNamespace
    if (isElsewhere || identity.pid === process.pid) return undefined
    return (await startOf(`${identity.pid}`)) === identity.startedTicks
  } catch {
    return undefined
  }
}

async function ownNamespace(): Promise<Pick<ProcessIdentity, 'bootId' | 'pidNamespace'>> {
  const bootId = await readFile('/proc/sys/kernel/random/boot_id', 'utf8')
  return { bootId: bootId.trim(), pidNamespace: await readlink('/proc/self/ns/pid') }
}

/** `undefined`: no such process, or a zombie. */
async function startOf(pid: string): Promise<string | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ESRCH') return undefined
    throw error
  })
  // The name, in parentheses, may hold anything.
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ')
  return fields === undefined || fields[0] === 'Z' ? undefined : fields[19]
}
