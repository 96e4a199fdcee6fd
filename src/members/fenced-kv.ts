/** Shared metadata as one member may write it: each commit also checks that no other member has declared this one gone. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Check, Commit, Integrity, Kv } from '../kv/kv.ts'

export interface Guard {
  /** Checks that are added to every commit. */
  readonly checks: readonly Check[]
  /** Throws when this process may not write now. */
  assertMayWrite(): void
  /** Rejects when one of the checks no longer holds. Called after a commit was refused, because the refusal does not say why. */
  assertHolds(): Promise<void>
}

/** Closing it closes nothing: the engine belongs to whoever opened it. */
export class FencedKv implements Kv {
  readonly integrity: Integrity
  readonly connections: Kv['connections']
  readonly #kv: Kv
  readonly #guard: Guard

  constructor(kv: Kv, guard: Guard) {
    this.#kv = kv
    this.#guard = guard
    this.integrity = kv.integrity
    this.connections = kv.connections?.bind(kv)
  }

  async commit(commit: Commit): Promise<boolean> {
    try {
      this.#guard.assertMayWrite()
    } catch (error) {
      // Otherwise, a caller that retries at once would keep the process busy, so that it could not renew its lease.
      await nextTurn()
      throw error
    }
    if (await this.#kv.commit({ ...commit, checks: [...(commit.checks ?? []), ...this.#guard.checks] })) return true
    await this.#guard.assertHolds()
    return false
  }

  get: Kv['get'] = (keys) => this.#kv.get(keys)
  range: Kv['range'] = (query) => this.#kv.range(query)
  view: Kv['view'] = (keys, queries, read) => this.#kv.view(keys, queries, read)
  now: Kv['now'] = () => this.#kv.now()
  snapshot: Kv['snapshot'] = () => this.#kv.snapshot()
  close: Kv['close'] = async () => {}
}
