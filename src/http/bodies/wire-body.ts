/** The bytes of a request's body as they come off the wire: backpressure, 100-continue, and the watch for clients that stall or leave. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ByteSink } from '../../byte-source.ts'
import { S3Error } from '../../errors.ts'
import type { HttpBounds } from '../connections/bounds.ts'
import type { RequestShare } from '../connections/request-share.ts'

/** How many times to look for a stall within the allowed time. */
const looksPerTimeout = 4

export interface WireBodyParts {
  request: IncomingMessage
  response: ServerResponse
  bounds: HttpBounds
  share: RequestShare
  /** Whether the client waits for `100 Continue` before it sends the body. */
  awaitsContinue: boolean
}

export class WireBody {
  /** Bytes that have come so far. */
  received = 0
  #request: IncomingMessage
  #response: ServerResponse
  #bounds: HttpBounds
  #share: RequestShare
  #awaitsContinue: boolean
  #failure: S3Error | undefined
  #fail: ((error: unknown) => void) | undefined

  constructor({ request, response, bounds, share, awaitsContinue }: WireBodyParts) {
    this.#request = request
    this.#response = response
    this.#bounds = bounds
    this.#share = share
    this.#awaitsContinue = awaitsContinue
  }

  /** Whether the client still waits for `100 Continue`, so that the body may never come. */
  get withheld(): boolean {
    return this.#awaitsContinue && this.received === 0 && !this.#request.complete
  }

  /** Whether the parser lost its position, so that nothing more can be read. */
  get broken(): boolean {
    return this.#failure !== undefined
  }

  /** Ends a drain under way, and any later one, with the parser's error. */
  abort(error: S3Error): void {
    this.#failure ??= error
    this.#fail?.(error)
  }

  /** The whole body if it has already come, as small ones have. There is then nothing to wait for or watch. */
  takeWhole(size: number): Buffer | undefined {
    const request = this.#request
    if (this.#failure !== undefined || !request.complete || request.destroyed) return undefined
    if (request.readableLength !== size || size === 0) return undefined
    const whole: unknown = request.read()
    if (!(whole instanceof Buffer)) return undefined
    this.received += whole.length
    return whole
  }

  /**
   * Gives every byte to `sink`, once. `heldBytes`: how much of the body stays in memory while the client sends it. Rejects with what the sink throws,
   * IncompleteBody when the client leaves, RequestTimeout when it stalls, SlowDown when it already has its share of memory, and the error given to
   * `abort`; the rest of the body then stays unread.
   */
  async drain(sink: ByteSink, heldBytes: number): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure
    this.#share.require(heldBytes)
    if (this.#awaitsContinue) {
      this.#awaitsContinue = false
      this.#response.writeContinue()
    }
    try {
      await new Promise<void>((resolve, reject) => this.#pump(sink, resolve, reject))
    } finally {
      this.#share.hold(-heldBytes)
    }
  }

  #pump(sink: ByteSink, resolve: () => void, reject: (error: unknown) => void): void {
    const request = this.#request
    let sinkBusy = false
    let ended = false
    const watch = this.#watch(() => sinkBusy)

    const settle = (): void => {
      clearInterval(watch)
      this.#fail = undefined
      request.off('data', onData).off('end', onEnd).off('close', onClose)
      request.pause()
    }
    const fail = (error: unknown): void => {
      if (this.#fail === undefined) return
      settle()
      reject(error)
    }
    const onData = (chunk: Buffer): void => {
      this.received += chunk.length
      let taken: void | Promise<void>
      try {
        taken = sink(chunk)
      } catch (error) {
        fail(error)
        return
      }
      if (taken === undefined) return
      sinkBusy = true
      request.pause()
      taken.then(() => {
        sinkBusy = false
        if (this.#fail === undefined) return
        if (ended) finish()
        else request.resume()
      }, fail)
    }
    const finish = (): void => {
      settle()
      resolve()
    }
    // A paused request still reports its end after its last bytes, which the sink may still be working on.
    const onEnd = (): void => {
      ended = true
      if (!sinkBusy) finish()
    }
    const onClose = (): void => {
      if (!ended) fail(new S3Error('IncompleteBody'))
    }

    this.#fail = fail
    // An abort also emits an error, which would be fatal without a listener. `onClose` handles whichever comes first.
    request.on('error', onClose).on('data', onData).on('end', onEnd).on('close', onClose)
    if (request.destroyed) onClose()
    else request.resume()
  }

  /** Watches for stalls. Time in which the sink keeps the client waiting does not count. */
  #watch(sinkBusy: () => boolean): NodeJS.Timeout {
    const { idleBodyTimeoutMs, clientBytesPerSecondMin } = this.#bounds
    const bytesMin = Math.max(1, (clientBytesPerSecondMin * idleBodyTimeoutMs) / 1000)
    let looks = 0
    let receivedBefore = this.received
    return setInterval(() => {
      if (this.received - receivedBefore >= bytesMin) {
        looks = 0
        receivedBefore = this.received
      }
      if (sinkBusy()) return
      looks++
      if (looks >= looksPerTimeout) this.abort(new S3Error('RequestTimeout'))
    }, idleBodyTimeoutMs / looksPerTimeout)
  }
}
