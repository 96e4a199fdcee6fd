/** Opens as many shards of an erasure code as a read needs. Others replace those that are missing, failing or slow. */
import type { ByteSource } from '../../byte-source.ts'
import type { ShardRange } from '../../stores/shard-store.ts'
import { type CopyReading, type ReadableCopy, unreadable } from '../copies/read-copies.ts'

export interface ReadableShard extends ReadableCopy {
  index: number
}

/** The shards that can still be read. */
export class ShardsLeft {
  readonly #left: Map<number, ReadableShard>
  readonly #slow = new Set<number>()
  readonly #errors: unknown[] = []

  constructor(shards: readonly ReadableShard[]) {
    this.#left = new Map(shards.map((shard) => [shard.index, shard]))
  }

  /** In order of preference: data before parity, slow ones last. */
  get indexes(): number[] {
    const rank = (index: number): number => index + (this.#slow.has(index) ? 256 : 0)
    return [...this.#left.keys()].sort((a, b) => rank(a) - rank(b))
  }

  isSlow(index: number): boolean {
    return this.#slow.has(index)
  }

  /** From now on, other shards are preferred. */
  markSlow(index: number): void {
    this.#slow.add(index)
  }

  fail(index: number, error: unknown): void {
    this.#left.get(index)?.failed(error)
    this.#left.delete(index)
    this.#errors.push(error)
  }

  /** The error for a reader when too few shards are left. */
  get error(): unknown {
    return unreadable(this.#errors)
  }

  /**
   * Opens the same range of several shards. `undefined`, with none left open, when one failed or was so slow that another should be tried.
   * `mayRace`: there are others to try.
   */
  async open(
    wanted: ReadonlyMap<number, ShardRange>,
    mayRace: boolean,
    { raceMs, stallMs }: CopyReading,
  ): Promise<Map<number, ByteSource> | undefined> {
    const opened = new Map<number, ByteSource>()
    let isOver = false
    let complete = true
    const openings = [...wanted].map(async ([index, range]) => {
      try {
        const source = await this.#left.get(index)?.open(range)
        if (source === undefined) return
        if (isOver) source.cancel()
        else opened.set(index, source)
      } catch (error) {
        complete = false
        this.fail(index, error)
      }
    })
    const waitMs = mayRace ? raceMs : stallMs
    await settledWithin(openings, waitMs)
    isOver = true
    for (const index of wanted.keys()) {
      if (opened.has(index) || !this.#left.has(index)) continue
      if (mayRace) this.markSlow(index)
      else this.fail(index, new Error(`the store did not answer for ${waitMs} ms`))
      complete = false
    }
    if (complete && opened.size === wanted.size) return opened
    for (const source of opened.values()) source.cancel()
    return undefined
  }
}

async function settledWithin(work: readonly Promise<void>[], ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([Promise.all(work), timeout])
  clearTimeout(timer)
}
