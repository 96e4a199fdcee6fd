/** MD5s of whole small bodies, computed together at the end of a turn of the event loop. */
import { hash } from 'node:crypto'
import { LaneMd5 } from './md5-lanes.ts'

interface Waiting {
  bytes: Buffer
  resolve: (md5: Buffer) => void
}

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
  const pieces = computed.length === 1 ? [] : lanePieces(computed)
  if (pieces.length < computed.length) {
    for (const { bytes, resolve } of computed) resolve(hash('md5', bytes, 'buffer'))
    return
  }
  LaneMd5.updateTogether(pieces)
  const md5s = LaneMd5.digestTogether(pieces.map(({ md5 }) => md5))
  for (const [i, md5] of md5s.entries()) computed[i]?.resolve(md5)
}

/** None on a machine that can't compute them together. */
function lanePieces(computed: readonly Waiting[]): { md5: LaneMd5; bytes: Buffer }[] {
  return computed.flatMap(({ bytes }) => {
    const md5 = LaneMd5.open()
    return md5 === undefined ? [] : { md5, bytes }
  })
}
