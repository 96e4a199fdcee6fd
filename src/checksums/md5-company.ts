/** MD5s of whole small bodies, computed together at the end of a turn of the event loop. */
import { hash } from 'node:crypto'
import { LaneMd5 } from './md5-lanes.ts'

interface Waiting {
  bytes: Buffer
  resolve: (md5: Buffer) => void
}

/** With fewer bytes in all, there is little to gain. A server with little to do so never assembles the programs, each of which takes milliseconds. */
const togetherBytesMin = 16 * 1024

let waiting: Waiting[] = []

/** Resolves at the end of this turn. Nothing may change `bytes` before. */
export function md5InCompany(bytes: Buffer): Promise<Buffer> {
  return new Promise((resolve) => {
    waiting.push({ bytes, resolve })
    if (waiting.length === 1) setImmediate(computeWaiting)
  })
}

function computeWaiting(): void {
  const computed = waiting
  waiting = []
  const bodies = computed.map(({ bytes }) => bytes)
  const md5s = gainTogether(bodies) ? LaneMd5.ofWhole(bodies) : undefined
  for (const [i, { bytes, resolve }] of computed.entries()) resolve(md5s?.[i] ?? hash('md5', bytes, 'buffer'))
}

function gainTogether(bodies: readonly Buffer[]): boolean {
  return bodies.length > 1 && bodies.reduce((sum, { length }) => sum + length, 0) >= togetherBytesMin
}
