/**
 * Counts the requests of a process by plain additions, because every request pays for them (ADR 0047). Snapshots are plain data, so that one process can sum up those of
 * several. Knows nothing of how metrics are written.
 */
import { limits } from '../../limits.ts'
import type { RequestLog } from './request-log.ts'

/** Upper bounds of the duration buckets, in milliseconds. A last bucket takes the rest. */
export const durationBoundsMs = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000] as const

/** Stands for all accounts beyond the limit. It is no account's id, because ids have no colon. */
export const otherAccounts = ':other'

export interface OutcomeCount {
  status: number
  /** S3's code; empty for a success. */
  code: string
  requests: number
}

export interface OperationTraffic {
  operation: string
  outcomes: OutcomeCount[]
  /** One count a bucket, not cumulative. There is one more than there are bounds. */
  durations: number[]
  durationSumMs: number
  bytesIn: number
  bytesOut: number
}

export interface AccountTraffic {
  account: string
  requests: number
  failures: number
  bytesIn: number
  bytesOut: number
}

export interface TrafficSnapshot {
  operations: OperationTraffic[]
  accounts: AccountTraffic[]
}

interface OperationCounts extends Omit<OperationTraffic, 'outcomes' | 'durations'> {
  /** By status if the request succeeded, by code if it failed. */
  outcomes: Map<number | string, OutcomeCount>
  durations: Float64Array
}

export class Traffic {
  readonly #operations = new Map<string, OperationCounts>()
  readonly #accounts = new Map<string, AccountTraffic>()

  count({ operation, account, status, code, bytesIn, bytesOut, durationMs }: RequestLog): void {
    const counts = this.#operations.get(operation) ?? this.#begin(operation)
    const outcome = counts.outcomes.get(code === '' ? status : code) ?? beginOutcome(counts, status, code)
    outcome.requests++
    let bucket = 0
    while (bucket < durationBoundsMs.length && durationMs > (durationBoundsMs[bucket] ?? 0)) bucket++
    counts.durations[bucket] = (counts.durations[bucket] ?? 0) + 1
    counts.durationSumMs += durationMs
    counts.bytesIn += bytesIn
    counts.bytesOut += bytesOut
    if (account === '') return
    const own = this.#accounts.get(account) ?? this.#beginAccount(account)
    own.requests++
    if (code !== '') own.failures++
    own.bytesIn += bytesIn
    own.bytesOut += bytesOut
  }

  snapshot(): TrafficSnapshot {
    return {
      operations: [...this.#operations.values()].map((counts) => ({
        ...counts,
        outcomes: [...counts.outcomes.values()].map((outcome) => ({ ...outcome })),
        durations: [...counts.durations],
      })),
      accounts: [...this.#accounts.values()].map((counts) => ({ ...counts })),
    }
  }

  #begin(operation: string): OperationCounts {
    const durations = new Float64Array(durationBoundsMs.length + 1)
    const counts = { operation, outcomes: new Map(), durations, durationSumMs: 0, bytesIn: 0, bytesOut: 0 }
    this.#operations.set(operation, counts)
    return counts
  }

  #beginAccount(account: string): AccountTraffic {
    const name = this.#accounts.size < limits.accountsMeasuredMax ? account : otherAccounts
    const counts = this.#accounts.get(name) ?? { account: name, requests: 0, failures: 0, bytesIn: 0, bytesOut: 0 }
    this.#accounts.set(name, counts)
    return counts
  }
}

function beginOutcome({ outcomes }: OperationCounts, status: number, code: string): OutcomeCount {
  const outcome = { status, code, requests: 0 }
  outcomes.set(code === '' ? status : code, outcome)
  return outcome
}

/** Adds up several processes. `shown`: the accounts that have counts of their own. New accounts join it while there is room; otherwise pure. */
export function sumTraffic(snapshots: readonly TrafficSnapshot[], shown: Set<string>): TrafficSnapshot {
  const operations = new Map<string, OperationTraffic>()
  const accounts = new Map<string, AccountTraffic>()
  for (const snapshot of snapshots) {
    for (const traffic of snapshot.operations) {
      const sum = operations.get(traffic.operation)
      operations.set(traffic.operation, sum === undefined ? traffic : sumOperations(sum, traffic))
    }
    for (const traffic of snapshot.accounts) {
      const account = shownAs(traffic.account, shown)
      const sum = accounts.get(account) ?? { account, requests: 0, failures: 0, bytesIn: 0, bytesOut: 0 }
      sum.requests += traffic.requests
      sum.failures += traffic.failures
      sum.bytesIn += traffic.bytesIn
      sum.bytesOut += traffic.bytesOut
      accounts.set(account, sum)
    }
  }
  return { operations: [...operations.values()], accounts: [...accounts.values()] }
}

function shownAs(account: string, shown: Set<string>): string {
  if (account === otherAccounts || shown.has(account)) return account
  if (shown.size >= limits.accountsMeasuredMax) return otherAccounts
  shown.add(account)
  return account
}

function sumOperations(a: OperationTraffic, b: OperationTraffic): OperationTraffic {
  const outcomes = new Map(a.outcomes.map((outcome) => [`${outcome.status} ${outcome.code}`, { ...outcome }]))
  for (const outcome of b.outcomes) {
    const key = `${outcome.status} ${outcome.code}`
    const sum = outcomes.get(key)
    if (sum === undefined) outcomes.set(key, { ...outcome })
    else sum.requests += outcome.requests
  }
  return {
    operation: a.operation,
    outcomes: [...outcomes.values()],
    durations: a.durations.map((count, i) => count + (b.durations[i] ?? 0)),
    durationSumMs: a.durationSumMs + b.durationSumMs,
    bytesIn: a.bytesIn + b.bytesIn,
    bytesOut: a.bytesOut + b.bytesOut,
  }
}
