/** Decides how many processes serve requests when the configuration leaves it to the machine. Pure. */
import type { Configuration } from '../../config/configuration.ts'
import { limits } from '../../limits.ts'
import type { Invocation } from '../command.ts'
import type { MachineShare } from './machine-share.ts'

/** A configuration in which the number of workers is decided. */
export interface ServedConfiguration extends Configuration {
  workers: number
}

export interface ServedInvocation extends Invocation {
  configuration: ServedConfiguration
}

export interface WorkerCount {
  workers: number
  /** Why it is this number, for people. Absent: the configuration says so. */
  reason?: string
}

/** A fraction of a core does not count, because a worker on it would wait for its turn. Calls `share` only when the machine decides. */
export function workerCount(configured: number | 'auto', share: () => MachineShare): WorkerCount {
  if (configured !== 'auto') return { workers: configured }
  const { cores, memoryBytes } = share()
  if (memoryBytes < limits.severalWorkersMemoryBytes) {
    const [memory, least] = [memoryBytes, limits.severalWorkersMemoryBytes].map(asMiB)
    return { workers: 1, reason: `of ${memory} of memory; several begin at ${least}` }
  }
  const workers = Math.min(Math.max(1, Math.floor(cores)), limits.workersAutoMax)
  return { workers, reason: `of ${Math.floor(cores * 100) / 100} ${cores === 1 ? 'core' : 'cores'}` }
}

/**
 * Whether the primary makes the commits of its workers, so that one fsync serves those of all. With few workers, another process that wakes for each
 * commit costs more than it saves (ADR 0060). Metadata in PostgreSQL has a server of its own for that.
 */
export function primaryCommits({ workers, metadata }: Pick<ServedConfiguration, 'workers' | 'metadata'>): boolean {
  return metadata === undefined && workers >= limits.relayedWorkersMin
}

const asMiB = (bytes: number): string => `${Math.floor(bytes / 1024 / 1024)} MiB`
