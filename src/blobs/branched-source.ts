/**
 * Bytes for several stores at once. Nothing is kept: each takes its chunk before the next are asked for, so the slowest sets the pace, up to
 * a bound; one that fails, or takes nothing for too long, falls away while enough are left. Until a store has taken the first chunk, another may come in its place.
 */
import type { ByteSink, ByteSource } from '../byte-source.ts'

export interface BranchOptions {
  count: number
  /** Bytes that each is given in all. */
  size: number
  /** With fewer left there is no use in going on. */
  least: number
  stallMs: number
}

/** Where all stores hang alike, they may for so many times the bound. */
export const patience = 10

export interface Branches {
  /** They must be consumed side by side. */
  branches: readonly Branch[]
  /** `produce` gives all there is. Rejects with what it rejects with, or when too few are left; what drains the branches has then been rejected too. */
  run(produce: (give: GiveEach) => Promise<void>): Promise<void>
}

/** Gives each branch, by its number, a chunk; these are lent until what is returned settles. */
export type GiveEach = (chunkOf: (branch: number) => Buffer) => void | Promise<void>

/** What a store that fell behind sees as its payload's error. */
export class Stalled extends Error {
  constructor(stallMs: number) {
    super(`it took nothing for ${stallMs} ms while others went on`)
    this.name = 'Stalled'
  }
}

/** What the others see then. */
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
  /** Waits for all; who keeps the others waiting falls away. */
  const together = async (waits: readonly { branch: Branch; busy: Promise<unknown> }[]): Promise<void> => {
    const left = new Set(waits.map(({ branch }) => branch))
    const all = Promise.all(waits.map(({ branch, busy }) => busy.finally(() => left.delete(branch))))
    let stalls = 0
    await withinMs(all, stallMs, () => {
      stalls++
      // With nobody to wait for it, none of them is slow: all wait for the same. But not for ever.
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

/** Who drains a branch. */
interface Taker {
  sink: ByteSink
  resolve(): void
  reject(error: unknown): void
}

export class Branch {
  readonly #size: number
  /** Resolves when somebody reads, or nobody will. */
  readonly ready: Promise<void>
  #beReady: () => void = () => {}
  #taker: Taker | undefined
  #taken = false
  #end: { error: unknown } | undefined
  /** Waits for a taker, with the first chunk. */
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

  /** Whether one store may still come in the place of another: nothing was taken yet. */
  get isWhole(): boolean {
    return !this.#taken && !this.ended
  }

  /** All bytes, for one store; that it fails, or does not want them, leaves a whole branch to another. */
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

  /** Never rejects: a failing sink ends its branch alone. */
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

  /** The chunk is lent until somebody has it, or nobody will. */
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

/** Waits for `work`; each time `ms` have passed, `late` says whether to wait no longer. */
async function withinMs(work: Promise<unknown>, ms: number, late: () => boolean): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const waited = new Promise<void>((resolve) => {
    timer = setInterval(() => {
      if (late()) resolve()
    }, ms)
  })
  try {
    await Promise.race([work, waited])
  } finally {
    clearInterval(timer)
  }
}
