/**
 * The kernel's identity of a process. A process id alone is not enough: ids are reused, and differ between containers. Linux only.
 */
import { readFile, readlink } from 'node:fs/promises'
import { z } from 'zod'

export const processIdentity = z.object({
  pid: z.number(),
  /** Id of the machine's running kernel. */
  bootId: z.string(),
  /** The namespace of the process id. */
  pidNamespace: z.string(),
  /** When the process started, in the kernel's ticks since boot. */
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

/** `undefined`: unknown. The process is in another container or on another machine, or is this one, which may have released the directory. */
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
  // The fields follow the name, which is in parentheses and may hold any characters.
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ')
  return fields === undefined || fields[0] === 'Z' ? undefined : fields[19]
}
