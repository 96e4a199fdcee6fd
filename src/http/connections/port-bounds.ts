/** How much one process may hold for its clients: its share of the limits for all processes, within the system's limit on open files. */
import { readFileSync } from 'node:fs'
import { limits } from '../../limits.ts'
import type { HttpBounds } from './bounds.ts'

/** The operator's limits for clients. */
export interface ClientSettings {
  /** Number of serving processes. */
  workers: number
  connectionsMax: number
  clientBytesMax: number
  clientBytesPerSecondMin: number
}

/** `descriptors`: how many files and sockets the process may open. Half are for connections, because each request can need one or two for files. */
export function portBounds(
  {
    workers = 1,
    connectionsMax = limits.connectionsMax,
    clientBytesMax = limits.clientBytesMax,
    clientBytesPerSecondMin = limits.clientBytesPerSecondMin,
  }: Partial<ClientSettings>,
  descriptors: number,
): Partial<HttpBounds> {
  const part = (whole: number): number => Math.max(1, Math.floor(whole / workers))
  return {
    connectionsMax: Math.min(part(connectionsMax), Math.floor(descriptors / 2)),
    requestsInFlightMax: Math.min(part(limits.requestsInFlightMax), Math.floor(descriptors / 4)),
    clientBytesMax: part(clientBytesMax),
    clientBytesPerSecondMin,
  }
}

/** Unlimited where the system reports no limit. */
export function descriptorsMax(): number {
  try {
    const reported = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1]
    return reported === undefined ? Number.POSITIVE_INFINITY : Number(reported)
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
