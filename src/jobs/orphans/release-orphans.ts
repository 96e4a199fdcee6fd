/** Turns orphans into garbage when they have been in quarantine long enough and a check has shown that nothing references them. */

import type { Manifest } from '../../blobs/blobs.ts'
import type { Backend } from '../../commits/backend.ts'
import { garbagePut } from '../../commits/commit.ts'
import { lockNow } from '../../commits/lock-clock.ts'
import { type FoundOrphan, readOrphan } from '../../commits/orphans.ts'
import { isClean, type Put } from '../../kv/kv.ts'
import { keyAfter } from '../../kv/ordered-key.ts'
import { limits } from '../../limits.ts'
import { orphans } from '../../records/keyspace.ts'
import { everyEntry } from '../every-entry.ts'
import { findOwner } from '../shard-owner.ts'

export interface ReleaseOptions {
  quarantineMs: number
  /** Runs a check of all metadata. */
  check(): Promise<void>
}

/** Everything in quarantine, oldest first. */
export async function* quarantined(backend: Pick<Backend, 'kv'>): AsyncGenerator<FoundOrphan> {
  for await (const entry of everyEntry(backend.kv, orphans)) yield readOrphan(entry)
}

/** Resolves with the number of orphans that became garbage. An orphan that a record references after all only leaves the quarantine. */
export async function releaseOrphans(backend: Backend, { quarantineMs, check }: ReleaseOptions): Promise<number> {
  // The quarantine began by the machine's clock. If that is set ahead by mistake, the clock of locks does not follow, and nothing leaves early.
  const before = Math.min(backend.clock.now(), await lockNow(backend)) - quarantineMs
  let released = 0
  for (let { start } = orphans; ; ) {
    const batch = (await backend.kv.range({ start, end: orphans.end, limit: limits.reclaimBatch })).map(readOrphan)
    const due = batch.filter(({ sinceMs }) => sinceMs <= before)
    const last = due.at(-1)
    if (last === undefined) return released
    if (!(await areCovered(backend, due))) await check()
    if (!(await areCovered(backend, due))) return released
    released += await release(backend, due)
    if (due.length < limits.reclaimBatch) return released
    start = keyAfter(last.dbKey)
  }
}

/** Whether the last check of all metadata began after these orphans were recorded, and found no damage. */
async function areCovered({ kv: { integrity } }: Backend, due: readonly FoundOrphan[]): Promise<boolean> {
  if ((await integrity.damage()) !== undefined) return false
  const last = await integrity.lastCheck()
  return last !== undefined && isClean(last) && due.every(({ version }) => integrity.covers(last, version))
}

async function release(backend: Backend, due: readonly FoundOrphan[]): Promise<number> {
  const puts: Put[] = []
  const forgotten: FoundOrphan[] = []
  for (const orphan of due) {
    const shards = backend.blobs.stores.find(({ storeId }) => storeId === orphan.storeId)
    // Its description can't be read until its store is back.
    if (shards === undefined) continue
    forgotten.push(orphan)
    if (!(await isOwned(backend, orphan))) puts.push(asGarbage(backend, orphan))
  }
  if (forgotten.length === 0) return 0
  const applied = await backend.kv.commit({
    checks: forgotten.map(({ dbKey: key, version }) => ({ key, version })),
    puts,
    deletes: forgotten.map(({ dbKey }) => dbKey),
  })
  return applied ? puts.length : 0
}

async function isOwned(backend: Backend, { storeId, id, payloadBytes, description }: FoundOrphan): Promise<boolean> {
  const shard = { id, payloadBytes, description: Buffer.from(description, 'base64') }
  return (await findOwner(backend, storeId, shard)) !== undefined
}

function asGarbage(backend: Backend, { storeId, id, payloadBytes }: FoundOrphan): Put {
  const manifest: Manifest = {
    location: '',
    locationVersion: 0,
    scheme: 'replica',
    size: payloadBytes,
    shards: [{ storeId, id }],
  }
  return garbagePut(backend, { kind: 'blob', manifest })
}
