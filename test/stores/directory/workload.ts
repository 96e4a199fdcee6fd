/**
 * A scripted life of a store, with a ledger that plays the metadata: it knows what was acknowledged. The checker compares a store
 * that was opened again with the ledger. Both drive only the interface.
 */
import { bytesSource } from '../../../src/byte-source.ts'
import { ShardDamaged, type ShardId, type ShardStore } from '../../../src/stores/shard-store.ts'
import { patternBytes } from '../../support/seeded.ts'
import { listed } from '../suite.ts'

class Violation extends Error {}

export class Ledger {
  /** Acknowledged shards that metadata refers to. Their bytes follow from their description. */
  readonly referenced = new Map<ShardId, string>()
  /** Shards that metadata has on its list of garbage: it will delete them again until that is acknowledged. */
  readonly garbage = new Set<ShardId>()
  /** Shards whose deletion was acknowledged. */
  readonly gone = new Set<ShardId>()
  #made = 0

  async put(store: ShardStore, size: number): Promise<ShardId> {
    const description = `${this.#made++}:${size}`
    const id = await store.put({
      payload: bytesSource(payloadOf(description)),
      describe: () => Buffer.from(description),
    })
    this.referenced.set(id, description)
    return id
  }

  /** As an overwrite does, and reclaim after it: metadata forgets first, then the store. */
  async delete(store: ShardStore, ids: readonly ShardId[]): Promise<void> {
    for (const id of ids) if (this.referenced.delete(id)) this.garbage.add(id)
    await this.reclaim(store, ids)
  }

  async reclaim(store: ShardStore, ids: readonly ShardId[] = [...this.garbage]): Promise<void> {
    await store.delete(ids)
    for (const id of ids) if (this.garbage.delete(id)) this.gone.add(id)
  }

  /** As compaction's caller does: copy, then swap the reference in the commit that makes the old one garbage. */
  async move(store: ShardStore, id: ShardId): Promise<boolean> {
    const description = this.referenced.get(id)
    if (description === undefined) return true
    const source = await store.get(id, { start: 0, end: payloadOf(description).length })
    const moved = await store.put({ payload: source, describe: () => Buffer.from(description) })
    if (!this.referenced.delete(id)) return true
    this.referenced.set(moved, description)
    this.garbage.add(id)
    return true
  }
}

function payloadOf(description: string): Buffer {
  const [seed = '0', size = '0'] = description.split(':')
  return patternBytes(Number(seed), Number(size))
}

/** As the orphan check does: whatever is unreferenced in a closed batch goes; then nobody needs to look there again. */
async function checkBatches(store: ShardStore, ledger: Ledger): Promise<void> {
  for (const batch of await store.unchecked()) {
    if (!batch.closed) continue
    const orphans = (await listed(store, batch.id)).filter(({ id }) => !ledger.referenced.has(id))
    await store.delete(orphans.map(({ id }) => id))
    await store.markChecked(batch.id)
  }
}

export async function runWorkload(store: ShardStore, ledger: Ledger): Promise<void> {
  const putAll = (sizes: readonly number[]): Promise<ShardId[]> =>
    Promise.all(sizes.map((size) => ledger.put(store, size)))
  const mixed = await putAll([0, 100, 2900, 1024, 5000, 1025, 20_000, 700])
  await ledger.delete(store, [mixed[1] ?? '', mixed[6] ?? ''])
  const failing = { ...bytesSource(Buffer.alloc(9000)), drain: () => Promise.reject(new Error('the client went away')) }
  await store.put({ payload: failing, describe: () => Buffer.alloc(0) }).catch(() => {})
  await putAll([16_384])
  const batches: ShardId[][] = []
  for (let round = 0; round < 5; round++)
    batches.push(await putAll(Array.from({ length: 12 }, (_, index) => 900 + 150 * index)))
  await checkBatches(store, ledger)
  await Promise.all([
    ledger.delete(store, batches[0]?.slice(1) ?? []),
    ledger.delete(store, batches[1] ?? []),
    putAll([50, 6000]),
  ])
  await store.compact({ graceMs: 0, move: ({ id }) => ledger.move(store, id) })
  await putAll([10, 4000])
  await store.close()
}

/** What must hold of a store opened after a crash, and that its housekeeping still ends in order. */
export async function checkStore(store: ShardStore, ledger: Ledger): Promise<void> {
  await checkReferences(store, ledger)
  await checkListing(store, ledger)
  await ledger.reclaim(store)
  await checkBatches(store, ledger)
  await store.compact({ graceMs: 0, move: ({ id }) => ledger.move(store, id) })
  await checkReferences(store, ledger)
  await ledger.put(store, 200)
  await ledger.put(store, 5000)
  await store.close()
}

export async function checkReferences(store: ShardStore, ledger: Ledger): Promise<void> {
  for (const [id, description] of ledger.referenced) {
    const expected = payloadOf(description)
    const read = await store.get(id, { start: 0, end: expected.length }).then((source) => source.read())
    if (!read.equals(expected)) throw new Violation(`${id} (${description}) reads wrong bytes`)
  }
}

async function checkListing(store: ShardStore, ledger: Ledger): Promise<void> {
  const all = await listed(store)
  const findable = new Set<ShardId>()
  for (const { id } of await store.unchecked()) for (const shard of await listed(store, id)) findable.add(shard.id)
  const seen = new Set(all.map(({ id }) => id))
  for (const id of ledger.referenced.keys())
    if (!seen.has(id)) throw new Violation(`${id} is referenced and not listed`)
  for (const { id, description, payloadBytes } of all) {
    if (ledger.gone.has(id)) throw new Violation(`${id} was deleted and is back`)
    if (ledger.referenced.has(id)) continue
    if (!findable.has(id) && !ledger.garbage.has(id))
      throw new Violation(`${id} is an orphan that no unchecked batch holds`)
    const read = await store.get(id, { start: 0, end: payloadBytes }).then(
      (source) => source.read(),
      (error) => {
        if (error instanceof ShardDamaged) return undefined
        throw error
      },
    )
    if (read !== undefined && !read.equals(payloadOf(description.toString())))
      throw new Violation(`${id} reads wrong bytes`)
  }
}

export interface OrderlyEnd {
  files: readonly string[]
  warnings: readonly string[]
}

/** After all batches were checked nothing temporary is left, and no segment is suspected of damage. */
export function checkOrder({ files, warnings }: OrderlyEnd): void {
  const temporary = files.filter((path) => path.endsWith('.part'))
  if (temporary.length > 0) throw new Violation(`left behind: ${temporary.join(', ')}`)
  const suspicion = warnings.find((warning) => warning.includes('cannot be read') || warning.includes('damaged'))
  if (suspicion !== undefined) throw new Violation(`a crash was taken for damage: ${suspicion}`)
}
