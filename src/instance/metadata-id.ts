/** Identifies this metadata to its stores, by its own id and by the latest server starts on it. */
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { z } from 'zod'
import { type Clock, randomId } from '../clock.ts'
import type { Kv } from '../kv/kv.ts'
import { limits } from '../limits.ts'
import { type Claimant, startNumber } from '../stores/store-claim.ts'
import { readRecord, systemRecord } from './sealed-record.ts'

const record = systemRecord(
  'metadata-id',
  z.object({
    id: z.string(),
    /** Newest first. */
    predecessors: z.array(z.string()),
    /** Oldest first. */
    starts: z.array(z.string()),
  }),
)

/** The claimant for a process that only reads stores. */
export async function readClaimant(kv: Kv): Promise<Claimant> {
  const { id, predecessors, starts } = (await readRecord(kv, record))?.value ?? { id: '', predecessors: [], starts: [] }
  return { metadataId: id, predecessors, starts }
}

/**
 * The claimant for a process that claims stores. Each start, and each command that claims, writes its name to the metadata and then to the stores,
 * where a server that still runs finds it.
 */
export async function recordStart(kv: Kv, clock: Clock, path: string): Promise<Claimant> {
  // When nothing can be written, nothing is claimed, and the earlier starts count.
  if ((await kv.integrity.damage()) !== undefined) return readClaimant(kv)
  for (;;) {
    const found = await readRecord(kv, record)
    const { id, predecessors, starts } = found?.value ?? { id: randomId(clock), predecessors: [], starts: [] }
    const start = `${startNumber(starts.at(-1) ?? '0') + 1}-${clock.random(8).toString('hex')}`
    const value = { id, predecessors, starts: [...starts, start].slice(-limits.startsRemembered) }
    const { key } = record
    const check = found === undefined ? ({ key, absent: true } as const) : { key, version: found.version }
    if (!(await kv.commit({ checks: [check], puts: [{ key, value: record.seal(value) }] }))) continue
    return claiming({ metadataId: id, predecessors, starts: value.starts }, path)
  }
}

function claiming(claimant: Claimant, path: string): Claimant {
  const start = claimant.starts.at(-1) ?? ''
  const server = `${hostname()}:${resolve(path)}`
  return { ...claimant, claims: { metadataId: claimant.metadataId, start, server } }
}

/**
 * Gives metadata that came from a backup or from stores a new id, because its origin may still be in use. It may claim the stores of that origin, and
 * those of the `owners` that were found on its stores.
 */
export async function succeedMetadata(kv: Kv, clock: Clock, owners: Iterable<string>): Promise<void> {
  const { metadataId, predecessors } = await readClaimant(kv)
  const known = [metadataId, ...owners, ...predecessors].filter((id) => id !== '')
  const value = { id: randomId(clock), predecessors: [...new Set(known)].slice(0, limits.predecessorsMax), starts: [] }
  await kv.commit({ puts: [{ key: record.key, value: record.seal(value) }] })
}
