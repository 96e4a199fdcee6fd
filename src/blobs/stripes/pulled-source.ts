/** Turns a source into one from which bytes can be pulled, so that several can be read in turn. Holds only the chunk that its source lends. */
import type { ByteSource } from '../../byte-source.ts'

export class PulledSource {
  readonly #source: ByteSource
  readonly #stallMs: number
  #begun = false
  /** The rest of the lent chunk. */
  #chunk: Buffer = Buffer.alloc(0)
  #takeNext: (() => void) | undefined
  #wake: (() => void) | undefined
  #end: { error: unknown } | undefined

  /** It fails when the source gives no bytes for `stallMs` during a call. */
  constructor(source: ByteSource, stallMs: number) {
    this.#source = source
    this.#stallMs = stallMs
  }

  /** From 1 to `max` bytes, which belong to the caller until the next call. Rejects when the source fails or has ended. */
  async next(max: number): Promise<Buffer> {
    while (this.#chunk.length === 0) await this.#more()
    const taken = this.#chunk.subarray(0, max)
    this.#chunk = this.#chunk.subarray(taken.length)
    return taken
  }

  /** Fills `bytes`. */
  async fill(bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length; ) at += (await this.next(bytes.length - at)).copy(bytes, at)
  }

  cancel(): void {
    this.#finish(new Error('the read was cancelled'))
    this.#chunk = this.#chunk.subarray(0, 0)
    this.#source.cancel()
    // Releases the sink, so that the source learns of the end.
    this.#takeNext?.()
  }

  #more(): Promise<void> {
    if (this.#end !== undefined) return Promise.reject(this.#end.error)
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#finish(new Error(`the store gave nothing for ${this.#stallMs} ms`))
      }, this.#stallMs)
      this.#wake = () => {
        clearTimeout(timer)
        this.#wake = undefined
        if (this.#chunk.length > 0) resolve()
        else if (this.#end !== undefined) reject(this.#end.error)
      }
      if (this.#begun) this.#takeNext?.()
      else this.#begin()
    })
  }

  #begin(): void {
    this.#begun = true
    this.#source
      .drain((chunk) => this.#lend(chunk))
      .then(
        () => this.#finish(new Error('the shard ended too early')),
        (error) => this.#finish(error),
      )
  }

  #lend(chunk: Buffer): Promise<void> {
    if (this.#end !== undefined) throw this.#end.error
    if (chunk.length === 0) return Promise.resolve()
    this.#chunk = chunk
    const taken = new Promise<void>((resolve, reject) => {
      this.#takeNext = () => {
        this.#takeNext = undefined
        if (this.#end === undefined) resolve()
        else reject(this.#end.error)
      }
    })
    this.#wake?.()
    return taken
  }

  #finish(error: unknown): void {
    this.#end ??= { error }
    this.#wake?.()
  }
}
