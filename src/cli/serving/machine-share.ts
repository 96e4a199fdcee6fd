/** How much of the machine this process may use: processors and memory, as its control groups allow. Reads; decides nothing. */
import { readFileSync } from 'node:fs'
import { availableParallelism, totalmem } from 'node:os'
import { posix } from 'node:path'

export interface MachineShare {
  /** May be a fraction. */
  cores: number
  memoryBytes: number
}

/** Returns the text of a file. `undefined`: there is no such file, or it can't be read. */
export type ReadText = (path: string) => string | undefined

const root = '/sys/fs/cgroup'

/** The machine's own numbers, or less where a control group of this process, or one around it, allows less. */
export function machineShare(
  host: MachineShare = { cores: availableParallelism(), memoryBytes: totalmem() },
  read: ReadText = readText,
): MachineShare {
  const groups = groupsOf(read('/proc/self/cgroup') ?? '')
  const cores = groups.flatMap((group) => coresOf(group, read))
  const memory = groups.flatMap((group) => memoryOf(group, read))
  return { cores: Math.min(host.cores, ...cores), memoryBytes: Math.min(host.memoryBytes, ...memory) }
}

interface Group {
  /** Empty: a group of version 2, which has all controllers in one tree. */
  controllers: readonly string[]
  /** Directories that may describe this group and the groups around it. */
  directories: readonly string[]
}

/**
 * The groups of a process, as `/proc/self/cgroup` lists them: `0::/a/b` for version 2, `4:cpu,cpuacct:/a/b` for version 1. A container may see its own group
 * as the root of the tree while the list names the path outside, so directories that don't exist are usual.
 */
function groupsOf(listed: string): Group[] {
  return listed.split('\n').flatMap((line) => {
    const [, names, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? []
    if (names === undefined || path === undefined) return []
    const controllers = names.split(',').filter((name) => name !== '')
    const trees = names === '' ? [root] : [...new Set([names, ...controllers])].map((name) => `${root}/${name}`)
    return [{ controllers, directories: trees.flatMap((tree) => upwards(path).map((group) => tree + group)) }]
  })
}

/** `/a/b`, `/a` and the root itself, which is empty. Never climbs above the root, as paths of processes outside the namespace would. */
function upwards(path: string): string[] {
  const groups: string[] = []
  for (let at = posix.resolve('/', path); at !== '/'; at = posix.dirname(at)) groups.push(at)
  return [...groups, '']
}

function coresOf({ controllers, directories }: Group, read: ReadText): number[] {
  if (controllers.length === 0) {
    return directories.flatMap((directory) => quota(...words(read(`${directory}/cpu.max`))))
  }
  if (!controllers.includes('cpu')) return []
  return directories.flatMap((directory) =>
    quota(read(`${directory}/cpu.cfs_quota_us`), read(`${directory}/cpu.cfs_period_us`)),
  )
}

function memoryOf({ controllers, directories }: Group, read: ReadText): number[] {
  if (controllers.length > 0 && !controllers.includes('memory')) return []
  const name = controllers.length === 0 ? 'memory.max' : 'memory.limit_in_bytes'
  return directories.flatMap((directory) => whole(read(`${directory}/${name}`)))
}

const words = (text: string | undefined): string[] => text?.trim().split(/\s+/) ?? []

/** Processor time over the time in which it may be used. Without a limit the first is `max`, or -1. */
function quota(used?: string, period?: string): number[] {
  return whole(used).flatMap((usedUs) => whole(period).map((periodUs) => usedUs / periodUs))
}

function whole(text: string | undefined): number[] {
  const number = /^\d+$/.test(text?.trim() ?? '') ? Number(text) : 0
  return number > 0 ? [number] : []
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
