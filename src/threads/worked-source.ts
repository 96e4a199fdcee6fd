/** A body that other threads process while it is read. Gathers it into chunks and keeps their order; `byte-work.ts` does the work itself. */
import type { ByteSink, ByteSource, UncheckedBytes } from '../byte-source.ts'
import { plainBytes, sealedBytes, sealedSize } from '../encryption/segments.ts'
import { copyToShared } from '../shared-copy.ts'
import type { CipherOrder, Piece, WorkOrder } from './byte-work.ts'
import type { Threads, WorkSession } from './threads.ts'

/** The thread works on one chunk while another is passed on and a third is gathered. */
const chunksAheadMax = 2

export interface WorkedSource extends ByteSource {
  /** In the order of the request. Known once the source has been drained or read. */
  digests(): readonly Buffer[]
}

/** `source` after the work of `order`. Rejects like `source` and `WorkSession.work`. */
export function workedSource(threads: Threads, source: ByteSource, order: WorkOrder): WorkedSource {
  let digests: readonly Buffer[] | undefined
  const size = sizeAfter(source.size, order.cipher)
  const lineInto = (sink: ByteSink): WorkLine => {
    try {
      return new WorkLine(threads, order, sink)
    } catch (error) {
      source.cancel()
      throw error
    }
  }
  const drain = async (sink: ByteSink): Promise<void> => {
    const line = lineInto(sink)
    try {
      await source.drain((bytes) => line.take(bytes))
      digests = await line.finish()
    } finally {
      await line.end()
    }
  }
  return {
    size,
    drain,
    read: async () => {
      const whole = Buffer.allocUnsafe(size)
      let filled = 0
      await drain((chunk) => {
        filled += chunk.copy(whole, filled)
      })
      return whole.subarray(0, filled)
    },
    cancel: () => source.cancel(),
    digests: () => {
      if (digests === undefined) throw new Error('digests were asked for before all bytes were read')
      return digests
    },
  }
}

/** Like `workedSource`, but also verifies the claimed SHA-256: rejects with what `check` throws. */
export function checkedSource(threads: Threads, { source, check }: UncheckedBytes, order: WorkOrder): WorkedSource {
  const known = order.digests.indexOf('SHA256')
  const digests = known < 0 ? [...order.digests, 'SHA256' as const] : order.digests
  const worked = workedSource(threads, source, { ...order, digests })
  const verify = (): void => {
    const sha256 = worked.digests()[known < 0 ? order.digests.length : known]
    if (sha256 === undefined) throw new Error('the SHA-256 was not computed')
    check(sha256)
  }
  return {
    size: worked.size,
    drain: async (sink) => {
      await worked.drain(sink)
      verify()
    },
    read: async () => {
      const bytes = await worked.read()
      verify()
      return bytes
    },
    cancel: () => worked.cancel(),
    digests: () => worked.digests().slice(0, order.digests.length),
  }
}

function sizeAfter(size: number, cipher: CipherOrder | undefined): number {
  if (cipher === undefined) return size
  return cipher.kind === 'seal' ? sealedSize(size) : cipher.range.end - cipher.range.start
}

class WorkLine {
  readonly #threads: Threads
  readonly #session: WorkSession
  readonly #sink: ByteSink
  readonly #seals: boolean
  /** Input in multiples of this can be processed in its own memory. `undefined`: none can, because the result needs more room. */
  readonly #unitBytes: number | undefined
  #chunk: Buffer | undefined
  #filled = 0
  /** They settle in order, and never reject. */
  readonly #ahead: Promise<void>[] = []
  #failure: { error: unknown } | undefined

  constructor(threads: Threads, order: WorkOrder, sink: ByteSink) {
    this.#threads = threads
    this.#session = threads.begin(order)
    this.#sink = sink
    const kind = order.cipher?.kind
    this.#seals = kind === 'seal'
    this.#unitBytes = kind === 'seal' ? undefined : kind === 'open' ? sealedBytes : 1
  }

  /** Takes `bytes`, which are free again when this returns or its promise settles. */
  take(bytes: Buffer): void | Promise<void> {
    this.#assertSound()
    if (this.#isWorkedInPlace(bytes)) return this.#workInPlace(bytes)
    if (this.#filled + bytes.length >= this.#roomIn(this.#taken())) return this.#gatherMany(bytes)
    this.#gather(bytes, 0)
  }

  /** Resolves with the digests when the sink is done with everything. */
  async finish(): Promise<Buffer[]> {
    if (this.#chunk !== undefined) this.#submit(this.#chunk)
    await this.#settled()
    return this.#session.digest()
  }

  /** Call it after success and after failure. Waits until the chunks are no longer used. */
  async end(): Promise<void> {
    this.#failure ??= { error: new Error('the body is over') }
    await this.#ahead.at(-1)
    if (this.#chunk !== undefined) this.#threads.chunks.give(this.#chunk)
    this.#chunk = undefined
    this.#session.end()
  }

  #isWorkedInPlace({ buffer, length }: Buffer): boolean {
    if (this.#unitBytes === undefined || this.#filled > 0) return false
    return buffer instanceof SharedArrayBuffer && length % this.#unitBytes === 0
  }

  async #workInPlace(bytes: Buffer): Promise<void> {
    await this.#settled()
    const { start, end } = await this.#session.work(bytes, bytes.length)
    this.#assertSound()
    await this.#sink(bytes.subarray(start, end))
  }

  /** Resolves when everything submitted has been passed on. */
  async #settled(): Promise<void> {
    await this.#ahead.at(-1)
    this.#assertSound()
  }

  async #gatherMany(bytes: Buffer): Promise<void> {
    for (let taken = 0; taken < bytes.length; ) {
      taken += this.#gather(bytes, taken)
      if (this.#chunk === undefined || this.#filled < this.#roomIn(this.#chunk)) continue
      this.#submit(this.#chunk)
      for (; this.#ahead.length >= chunksAheadMax; this.#ahead.shift()) await this.#ahead[0]
      this.#assertSound()
    }
  }

  #taken(): Buffer {
    this.#chunk ??= this.#threads.chunks.takeFitting()
    return this.#chunk
  }

  /** The number of bytes that one chunk gathers: as many segments as fit after sealing. */
  #roomIn({ length }: Buffer): number {
    const segments = Math.floor(length / sealedBytes)
    return segments * (this.#seals ? plainBytes : sealedBytes)
  }

  /** Returns how many bytes had room. */
  #gather(bytes: Buffer, from: number): number {
    const chunk = this.#taken()
    const room = this.#roomIn(chunk) - this.#filled
    const copied = copyToShared(bytes, chunk, this.#filled, from, Math.min(bytes.length, from + room))
    this.#filled += copied
    return copied
  }

  #submit(chunk: Buffer): void {
    this.#ahead.push(this.#pass(chunk, this.#session.work(chunk, this.#filled), this.#ahead.at(-1)))
    this.#chunk = undefined
    this.#filled = 0
  }

  /** Settles after `before`, and when `chunk` is no longer used. */
  async #pass(chunk: Buffer, work: Promise<Piece>, before: Promise<void> | undefined): Promise<void> {
    try {
      const [{ start, end }] = await Promise.all([work, before])
      if (this.#failure === undefined) await this.#sink(chunk.subarray(start, end))
    } catch (error) {
      this.#failure ??= { error }
      await before
    } finally {
      this.#threads.chunks.give(chunk)
    }
  }

  #assertSound(): void {
    if (this.#failure !== undefined) throw this.#failure.error
  }
}
