/**
 * Metadata that this process reads itself, and whose commits another process of the same machine makes: one fsync then serves the commits of all processes.
 * See `commit-relay.ts` for the other end.
 */
import type { Duplex } from 'node:stream'
import { ProcessEnding } from '../../errors.ts'
import { assertCommit } from '../bounds.ts'
import { type Commit, type Kv, KvUnavailable } from '../kv.ts'
import { FrameSplitter, type Outcome, packCommits, type SentCommit, unpackOutcomes } from './frames.ts'

interface Waiting {
  resolve(applied: boolean): void
  reject(error: Error): void
}

/** `own`: the same metadata, opened by this process. Closing the result closes it and the link. `onFatal`: as with engines. */
export function relayedKv(own: Kv, link: Duplex, onFatal: (error: Error) => void): Kv {
  const relay = new RelayedCommits(link, onFatal)
  return {
    integrity: own.integrity,
    get: (keys) => own.get(keys),
    range: (query) => own.range(query),
    view: (keys, queries, read) => own.view(keys, queries, read),
    now: () => own.now(),
    snapshot: () => own.snapshot(),
    commit: (commit) => relay.commit(commit),
    close: async () => {
      await relay.close()
      await own.close()
    },
  }
}

class RelayedCommits {
  readonly #link: Duplex
  readonly #waiting = new Map<number, Waiting>()
  #unsent: SentCommit[] = []
  #nextId = 0
  #refusal: Error | undefined
  #idle: (() => void) | undefined

  constructor(link: Duplex, onFatal: (error: Error) => void) {
    this.#link = link
    const splitter = new FrameSplitter()
    link.on('data', (chunk: Buffer) => {
      for (const frame of splitter.split(chunk)) for (const outcome of unpackOutcomes(frame)) this.#settle(outcome)
    })
    // Its close follows.
    link.on('error', () => {})
    link.on('close', () => {
      if (this.#refusal !== undefined) return
      const lost = new ProcessEnding('the process that commits has ended')
      this.#refusal = lost
      for (const { reject } of this.#waiting.values()) reject(lost)
      this.#waiting.clear()
      onFatal(lost)
    })
  }

  async commit(commit: Commit): Promise<boolean> {
    if (this.#refusal !== undefined) throw this.#refusal
    assertCommit(commit)
    return new Promise((resolve, reject) => {
      const id = this.#nextId
      this.#nextId = (id + 1) % 2 ** 32
      this.#waiting.set(id, { resolve, reject })
      // Those of one turn of the event loop share a frame.
      if (this.#unsent.length === 0) setImmediate(() => this.#send())
      this.#unsent.push({ id, commit })
    })
  }

  #send(): void {
    const unsent = this.#unsent
    this.#unsent = []
    if (!this.#link.destroyed) this.#link.write(packCommits(unsent))
  }

  #settle(outcome: Outcome): void {
    const waiting = this.#waiting.get(outcome.id)
    this.#waiting.delete(outcome.id)
    if (outcome.kind === 'unavailable') waiting?.reject(new KvUnavailable(outcome.message))
    else waiting?.resolve(outcome.kind === 'applied')
    if (this.#waiting.size === 0) this.#idle?.()
  }

  /** Waits for commits under way. */
  async close(): Promise<void> {
    this.#refusal ??= new Error('the metadata engine is closed')
    if (this.#waiting.size > 0 && !this.#link.destroyed) {
      await new Promise<void>((resolve) => {
        this.#idle = resolve
        this.#link.once('close', resolve)
      })
    }
    this.#link.destroy()
  }
}
