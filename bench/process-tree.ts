/** What a process and its children have used, as Linux tells it in /proc. Elsewhere nothing is known: everything is `undefined`. */
import { readdirSync, readFileSync } from 'node:fs'

/** Linux counts in hundredths of a second on every machine that Node runs on. */
const tickUs = 10_000

export interface Usage {
  cpuUs: number
  /** Without mapped files: LMDB's pages belong to the page cache. */
  residentBytes: number
}

/** The usage of all the trees together. */
export function usageOf(...rootPids: readonly number[]): Usage | undefined {
  try {
    const usages = rootPids.flatMap(treeOf).map(usageOfOne)
    return {
      cpuUs: usages.reduce((sum, { cpuUs }) => sum + cpuUs, 0),
      residentBytes: usages.reduce((sum, { residentBytes }) => sum + residentBytes, 0),
    }
  } catch {
    // A thread or process that ended between two looks, or no /proc.
    return undefined
  }
}

/** The ids of a process and of all its descendants. */
export function treeOf(pid: number): number[] {
  const threads = readdirSync(`/proc/${pid}/task`)
  const children = threads.flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean),
  )
  return [pid, ...children.flatMap((child) => treeOf(Number(child)))]
}

function usageOfOne(pid: number): Usage {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name may hold spaces and parentheses. Behind it, the state is field 3.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const kibibytes = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0)
  return {
    cpuUs: (Number(fields[11]) + Number(fields[12])) * tickUs,
    residentBytes: (kibibytes('RssAnon') + kibibytes('RssShmem')) * 1024,
  }
}

/** Looks at the processes until `stop` is called, which returns the most memory that they held at once. */
export function watchResident(rootPids: readonly number[], everyMs = 50): { stop(): number } {
  let peak = usageOf(...rootPids)?.residentBytes ?? 0
  const timer = setInterval(() => {
    peak = Math.max(peak, usageOf(...rootPids)?.residentBytes ?? 0)
  }, everyMs)
  return {
    stop: () => {
      clearInterval(timer)
      return Math.max(peak, usageOf(...rootPids)?.residentBytes ?? 0)
    },
  }
}
