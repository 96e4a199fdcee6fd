/** Reads one of several whole copies. Another takes over when it is missing, damaged, failing or slow. The store has verified everything that is given out. */
import { type ByteSink, type ByteSource, drained } from '../../byte-source.ts'
import { S3Error } from '../../errors.ts'
import { ShardDamaged, ShardMissing, type ShardRange } from '../../stores/shard-store.ts'

/** One copy, and how to open a range of it. */
export interface ReadableCopy {
  open(range: ShardRange): Promise<ByteSource>
  /** Called when the copy could not be read: it is missing or damaged, or its store fails or stalls. */
  failed(error: unknown): void
}

export interface CopyReading {
  /** The next copy races one that has not begun to answer by then. */
  raceMs: number
  /** A copy that gives no bytes for this long is abandoned. */
  stallMs: number
}

/** `copies` in order of preference. Rejects only when none can be opened: with `ShardMissing` or `ShardDamaged` if that holds for all of them, otherwise ServiceUnavailable. */
export async function readCopies(
  copies: readonly ReadableCopy[],
  range: ShardRange,
  reading: CopyReading,
): Promise<ByteSource> {
  const opened = await openFirst(copies, range, reading)
  return new FailingOver(opened, range, reading)
}

interface Opened {
  source: ByteSource
  copy: ReadableCopy
  /** The copies that have not failed yet. */
  others: readonly ReadableCopy[]
  errors: readonly unknown[]
}

function openFirst(
  copies: readonly ReadableCopy[],
  range: ShardRange,
  { raceMs }: CopyReading,
  earlierErrors: readonly unknown[] = [],
): Promise<Opened> {
  return new Promise((resolve, reject) => {
    const waiting = [...copies]
    const failed = new Set<ReadableCopy>()
    const errors = [...earlierErrors]
    let openings = 0
    let won = false
    let timer: NodeJS.Timeout | undefined

    const next = (): void => {
      clearTimeout(timer)
      const copy = waiting.shift()
      if (copy === undefined) {
        if (openings === 0) reject(unreadable(errors))
        return
      }
      openings++
      copy.open(range).then(
        (source) => {
          openings--
          if (won) return source.cancel()
          won = true
          clearTimeout(timer)
          const others = copies.filter((other) => other !== copy && !failed.has(other))
          resolve({ source, copy, others, errors })
        },
        (error) => {
          openings--
          failed.add(copy)
          errors.push(error)
          copy.failed(error)
          if (!won) next()
        },
      )
      if (waiting.length > 0) timer = setTimeout(next, raceMs)
    }
    next()
  })
}

/** The error for a reader when too few shards can be read. A missing shard may have been moved; the caller finds out. */
export function unreadable(errors: readonly unknown[]): unknown {
  const passing = errors.find((error) => !(error instanceof ShardDamaged))
  if (passing !== undefined) {
    if (passing instanceof S3Error) return passing
    return new S3Error('ServiceUnavailable', {
      message: 'No store that has the data can be reached now.',
      cause: passing,
    })
  }
  return errors.find((error) => error instanceof ShardMissing) ?? errors[0] ?? new Error('a blob without shards')
}

/** Continues with another copy when one fails half-way. */
class FailingOver implements ByteSource {
  readonly size: number
  readonly #range: ShardRange
  readonly #reading: CopyReading
  #opened: Opened
  #cancelled = false

  constructor(opened: Opened, range: ShardRange, reading: CopyReading) {
    this.size = range.end - range.start
    this.#opened = opened
    this.#range = range
    this.#reading = reading
  }

  async drain(sink: ByteSink): Promise<void> {
    let { start } = this.#range
    for (;;) {
      const attempt = new Attempt(sink, this.#reading.stallMs)
      const { source, copy, others, errors } = this.#opened
      const error = await attempt.run(source)
      if (error === undefined) return
      start += attempt.given
      if (attempt.sinkFailed || this.#cancelled) throw error
      copy.failed(error)
      // The next copy begins where this one ended, which was after a whole, verified block.
      this.#opened = await openFirst(others, { start, end: this.#range.end }, this.#reading, [...errors, error])
      if (this.#cancelled) {
        this.#opened.source.cancel()
        throw new Error('the read was cancelled')
      }
    }
  }

  read(): Promise<Buffer> {
    return drained(this)
  }

  cancel(): void {
    this.#cancelled = true
    this.#opened.source.cancel()
  }
}

/** Drains one copy until it ends, fails, or gives nothing for too long. */
export class Attempt {
  readonly #sink: ByteSink
  readonly #stallMs: number
  #over = false
  #timer: NodeJS.Timeout | undefined
  #giveUp: (error: Error) => void = () => {}
  given = 0
  sinkFailed = false

  constructor(sink: ByteSink, stallMs: number) {
    this.#sink = sink
    this.#stallMs = stallMs
  }

  /** Resolves with the error that ended it, if any. */
  async run(source: ByteSource): Promise<unknown> {
    const stalled = new Promise<never>((_, reject) => {
      this.#giveUp = reject
    })
    this.#await()
    try {
      await Promise.race([source.drain((chunk) => this.#take(chunk)), stalled])
      return undefined
    } catch (error) {
      source.cancel()
      return error
    } finally {
      this.#over = true
      clearTimeout(this.#timer)
    }
  }

  /** The clock runs only while the source waits for the store, not while the sink works. */
  #await(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#over = true
      this.#giveUp(new Error(`the store gave nothing for ${this.#stallMs} ms`))
    }, this.#stallMs)
  }

  async #take(chunk: Buffer): Promise<void> {
    // The store has answered after it was abandoned. Another copy is being read by now.
    if (this.#over) throw new Error('this copy was given up')
    clearTimeout(this.#timer)
    try {
      await this.#sink(chunk)
    } catch (error) {
      this.sinkFailed = true
      throw error
    }
    this.given += chunk.length
    this.#await()
  }
}
