/** MD5s of whole small bodies, computed together at the end of a turn of the event loop. */
import { hash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { known } from '../known.ts'
import { LaneMd5 } from './md5-lanes.ts'

/** With fewer bytes in all, there is little to gain. A server with little to do so never assembles the programs, each of which takes milliseconds. */
const togetherBytesMin = 16 * 1024

interface Turn {
  bodies: Buffer[]
  md5s: Promise<readonly Buffer[]>
}

let turn: Turn | undefined

/** Resolves at the end of this turn. Nothing may change `bytes` before. */
export async function md5InCompany(bytes: Buffer): Promise<Buffer> {
  turn ??= beginTurn()
  const { bodies, md5s } = turn
  const place = bodies.push(bytes) - 1
  return known((await md5s)[place])
}

function beginTurn(): Turn {
  const bodies: Buffer[] = []
  const md5s = setImmediate().then(() => {
    turn = undefined
    return (
      (gainTogether(bodies) ? LaneMd5.ofWhole(bodies) : undefined) ??
      bodies.map((bytes) => hash('md5', bytes, 'buffer'))
    )
  })
  return { bodies, md5s }
}

function gainTogether(bodies: readonly Buffer[]): boolean {
  return bodies.length > 1 && bodies.reduce((sum, { length }) => sum + length, 0) >= togetherBytesMin
}
