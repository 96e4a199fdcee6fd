/** Metadata that counts what it is asked, as one over a network would count round trips, and may take as long. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Commit, Entry, Key, Kv, RangeQuery, Snapshot, View } from '../../src/kv/kv.ts'

export type KvCall = 'get' | 'range' | 'view' | 'commit' | 'now' | 'snapshot'

export class CountingKv implements Kv {
  readonly #kv: Kv
  readonly #delayMs: number
  readonly integrity: Kv['integrity']
  #calls: KvCall[] = []
  #commits: Commit[] = []

  /** `delayMs`: how long each call takes before it is answered. */
  constructor(kv: Kv, { delayMs = 0 }: { delayMs?: number } = {}) {
    this.#kv = kv
    this.#delayMs = delayMs
    this.integrity = kv.integrity
  }

  /** What was asked since the last time, in order. */
  takeCalls(): KvCall[] {
    const calls = this.#calls
    this.#calls = []
    return calls
  }

  /** What was to be committed since the last time, in order. */
  takeCommits(): Commit[] {
    const commits = this.#commits
    this.#commits = []
    return commits
  }

  async #counted<T>(call: KvCall, ask: () => Promise<T>): Promise<T> {
    this.#calls.push(call)
    if (this.#delayMs > 0) await delay(this.#delayMs)
    return ask()
  }

  get(keys: readonly Key[]): Promise<(Entry | undefined)[]> {
    return this.#counted('get', () => this.#kv.get(keys))
  }

  range(query: RangeQuery): Promise<Entry[]> {
    return this.#counted('range', () => this.#kv.range(query))
  }

  view<T>(
    keys: readonly Key[],
    queries: readonly RangeQuery[],
    read: (entry: Entry, query: number) => T,
  ): Promise<View<T>> {
    return this.#counted('view', () => this.#kv.view(keys, queries, read))
  }

  commit(commit: Commit): Promise<boolean> {
    this.#commits.push(commit)
    return this.#counted('commit', () => this.#kv.commit(commit))
  }

  now(): Promise<number> {
    return this.#counted('now', () => this.#kv.now())
  }

  snapshot(): Promise<Snapshot> {
    return this.#counted('snapshot', () => this.#kv.snapshot())
  }

  close(): Promise<void> {
    return this.#kv.close()
  }
}
