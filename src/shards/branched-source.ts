/**
 * Bytes for several stores at once. Nothing is kept: each takes its chunk before the next are asked for, so the slowest sets the pace, up to
 * a bound; one that fails, or takes nothing for too long, falls away while enough are left.
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
  /** One for each store; they must be consumed side by side. */
  sources: readonly ByteSource[]
  /** `produce` gives all there is. Rejects with what it rejects with, or when too few are left; the sources have then rejected too. */
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
    sources: branches,
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

class Branch implements ByteSource {
  readonly size: number
  /** Resolves when somebody reads, or nobody will. */
  readonly ready: Promise<void>
  #beReady: () => void = () => {}
  readonly #done: Promise<void>
  #settle: { resolve(): void; reject(error: unknown): void } = { resolve: () => {}, reject: () => {} }
  #sink: ByteSink | undefined
  ended = false

  constructor(size: number) {
    this.size = size
    this.ready = new Promise((resolve) => {
      this.#beReady = resolve
    })
    this.#done = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject }
    })
    // Seen by whoever drains, if anybody does.
    this.#done.catch(() => {})
  }

  drain(sink: ByteSink): Promise<void> {
    this.#sink = sink
    this.#beReady()
    return this.#done
  }

  async read(): Promise<Buffer> {
    const bytes = Buffer.allocUnsafe(this.size)
    let at = 0
    await this.drain((chunk) => {
      at += chunk.copy(bytes, at)
    })
    return bytes
  }

  cancel(): void {
    this.end(new Error('the store does not want the payload'))
  }

  end(error?: unknown): void {
    if (this.ended) return
    this.ended = true
    this.#beReady()
    if (error === undefined) this.#settle.resolve()
    else this.#settle.reject(error)
  }

  /** Never rejects: a failing sink ends its branch alone. */
  give(chunk: Buffer): Promise<void> | undefined {
    try {
      const busy = this.#sink?.(chunk)
      return busy?.catch((error) => this.end(error))
    } catch (error) {
      this.end(error)
      return undefined
    }
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
