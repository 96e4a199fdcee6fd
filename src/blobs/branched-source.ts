/**
 * Feeds several stores at once. Nothing is buffered: every store takes its chunk before the next one is produced, so the slowest store sets the pace, within a
 * time limit. A store that fails, or takes nothing for too long, is dropped while enough are left. Until a store has taken its first chunk, another can replace it.
 */
import type { ByteSink, ByteSource } from '../byte-source.ts'

export interface BranchOptions {
  count: number
  /** The total bytes of each branch. */
  size: number
  /** The fewest branches with which the write can still succeed. */
  least: number
  stallMs: number
}

/** If all stores stall together, the time limit is multiplied by this. */
export const patience = 10

export interface Branches {
  /** They must be consumed concurrently. */
  branches: readonly Branch[]
  /** `produce` gives all bytes. Rejects with what `produce` rejects with, or when too few branches are left; whatever drains the branches has been rejected by then. */
  run(produce: (give: GiveEach) => Promise<void>): Promise<void>
}

/** Gives each branch, by its number, a chunk. The chunks are lent until the returned promise settles. */
export type GiveEach = (chunkOf: (branch: number) => Buffer) => void | Promise<void>

/** The payload rejects with this for a store that fell behind. */
export class Stalled extends Error {
  constructor(stallMs: number) {
    super(`it took nothing for ${stallMs} ms while others went on`)
    this.name = 'Stalled'
  }
}

/** The payload rejects with this for the remaining stores when too few are left. */
export class TooFewLeft extends Error {
  constructor() {
    super('too few stores are left to take the data')
    this.name = 'TooFewLeft'
  }
}

export function branchesOf({ count, size, least, stallMs }: BranchOptions): Branches {
  const branches = Array.from({ length: count }, () => new Branch(size))
  const living = (): Branch[] => branches.filter((branch) => !branch.ended)
  const requireEnough = (): void => {
    if (living().length < least) throw new TooFewLeft()
  }
  /** Waits for all. A branch that keeps the others waiting is dropped. */
  const together = async (waits: readonly { branch: Branch; busy: Promise<unknown> }[]): Promise<void> => {
    const left = new Set(waits.map(({ branch }) => branch))
    const all = Promise.all(waits.map(({ branch, busy }) => busy.finally(() => left.delete(branch))))
    let stalls = 0
    await withinMs(all, stallMs, () => {
      stalls++
      // When every branch is still busy, none is slower than the others: they all wait, but not for ever.
      if (left.size === living().length && left.size > 0 && stalls < patience) return false
      for (const branch of left) branch.end(new Stalled(stallMs))
      return true
    })
  }
  const give: GiveEach = (chunkOf) => {
    const waits: { branch: Branch; busy: Promise<void> }[] = []
    for (const [i, branch] of branches.entries()) {
      const busy = branch.ended ? undefined : branch.give(chunkOf(i))
      if (busy !== undefined) waits.push({ branch, busy })
    }
    if (waits.length === 0) return requireEnough()
    return together(waits).then(requireEnough)
  }
  return {
    branches,
    async run(produce) {
      try {
        await together(branches.map((branch) => ({ branch, busy: branch.ready })))
        requireEnough()
        await produce(give)
        for (const branch of living()) branch.end()
      } catch (error) {
        for (const branch of living()) branch.end(error)
        throw error
      }
    },
  }
}

/** The sink of a branch's reader. */
interface Taker {
  sink: ByteSink
  resolve(): void
  reject(error: unknown): void
}

export class Branch {
  readonly #size: number
  /** Resolves when a reader has come, or when none ever will. */
  readonly ready: Promise<void>
  #beReady: () => void = () => {}
  #taker: Taker | undefined
  #taken = false
  #end: { error: unknown } | undefined
  /** Wakes the first chunk, which waits for a taker. */
  #wake: () => void = () => {}

  constructor(size: number) {
    this.#size = size
    this.ready = new Promise((resolve) => {
      this.#beReady = resolve
    })
  }

  get ended(): boolean {
    return this.#end !== undefined
  }

  /** Whether another store can still replace this one: nothing has been taken yet. */
  get isWhole(): boolean {
    return !this.#taken && !this.ended
  }

  /** All bytes, for one store. If it fails or cancels before it takes any, the branch is still whole for another store. */
  source(): ByteSource {
    let taker: Taker | undefined
    const drain = (sink: ByteSink): Promise<void> =>
      new Promise((resolve, reject) => {
        taker = { sink, resolve, reject }
        this.#begin(taker)
      })
    return {
      size: this.#size,
      drain,
      read: async () => {
        const bytes = Buffer.allocUnsafe(this.#size)
        let at = 0
        await drain((chunk) => {
          at += chunk.copy(bytes, at)
        })
        return bytes
      },
      cancel: () => {
        if (taker !== undefined) this.#drop(taker, new Error('the store does not want the payload'))
      },
    }
  }

  end(error?: unknown): void {
    if (this.ended) return
    this.#end = { error }
    this.#beReady()
    this.#wake()
    if (error === undefined) this.#taker?.resolve()
    else this.#taker?.reject(error)
  }

  /** Never rejects: a failing sink ends only its own branch. */
  give(chunk: Buffer): Promise<void> | undefined {
    if (!this.#taken) return this.#giveFirst(chunk)
    try {
      const busy = this.#taker?.sink(chunk)
      return busy?.catch((error) => this.end(error))
    } catch (error) {
      this.end(error)
      return undefined
    }
  }

  /** The chunk is lent until a reader has taken it, or until none ever will. */
  async #giveFirst(chunk: Buffer): Promise<void> {
    while (this.isWhole) {
      const taker = this.#taker
      if (taker === undefined) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
        continue
      }
      try {
        await taker.sink(chunk)
        this.#taken = true
      } catch (error) {
        this.#drop(taker, error)
      }
    }
  }

  #begin(taker: Taker): void {
    if (this.#end !== undefined) {
      taker.reject(this.#end.error ?? new Error('the bytes are given already'))
      return
    }
    this.#taker = taker
    this.#beReady()
    this.#wake()
  }

  #drop(taker: Taker, error: unknown): void {
    if (this.#taker !== taker) return
    if (this.#taken) {
      this.end(error)
      return
    }
    this.#taker = undefined
    taker.reject(error)
  }
}

/** Waits for `work`. Each time `ms` have passed, `isOver` says whether to stop waiting. */
async function withinMs(work: Promise<unknown>, ms: number, isOver: () => boolean): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const waited = new Promise<void>((resolve) => {
    timer = setInterval(() => {
      if (isOver()) resolve()
    }, ms)
  })
  try {
    await Promise.race([work, waited])
  } finally {
    clearInterval(timer)
  }
}
