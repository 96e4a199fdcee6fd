/**
 * Whether what clients saw of one key is what a single register could have answered: Wing and Gong's search for an order that respects time, with Lowe's
 * memory of what was tried. Pure; knows no server.
 */

/** Values are all different, so that a read says which write it saw. `undefined`: no object. */
export type Value = string | undefined

export type Action =
  | { kind: 'put'; value: string }
  | { kind: 'put if absent'; value: string }
  | { kind: 'put if match'; value: string; expected: string }
  | { kind: 'get' }
  | { kind: 'delete' }

export type Answer =
  | { said: 'ok' }
  /** Of a get. */
  | { said: 'value'; value: Value }
  /** A condition did not hold, as 412 says it. */
  | { said: 'failed' }
  /** If-Match where there is nothing: 404. */
  | { said: 'absent' }
  /** It was refused, and did nothing. */
  | { said: 'refused' }
  /** Nobody knows: a time-out, a connection that was cut, a 5xx. It may have happened, at any time since, or never. */
  | { said: 'unknown' }

export interface Observed {
  action: Action
  answer: Answer
  /** By one clock. Of an unknown answer, `endedMs` counts for nothing. */
  beganMs: number
  endedMs: number
}

/** The value afterwards; or `'never'` when the register could not have answered so. */
function applied(state: Value, { action, answer }: Observed): { state: Value } | 'never' {
  const { said } = answer
  if (action.kind === 'get') return said === 'value' && answer.value === state ? { state } : 'never'
  const outcome = outcomeOf(state, action)
  if (said !== 'unknown' && said !== outcome) return 'never'
  if (outcome !== 'ok') return { state }
  return { state: action.kind === 'delete' ? undefined : action.value }
}

function outcomeOf(state: Value, action: Exclude<Action, { kind: 'get' }>): 'ok' | 'failed' | 'absent' {
  if (action.kind === 'put if absent') return state === undefined ? 'ok' : 'failed'
  if (action.kind !== 'put if match') return 'ok'
  if (state === undefined) return 'absent'
  return state === action.expected ? 'ok' : 'failed'
}

/** `undefined`: it is. Otherwise, the longest order that could be found, and what no order explains after it. */
export function explain(observed: readonly Observed[]): { order: Observed[]; stuckAt: Observed[] } | undefined {
  const search = new Search(observed)
  return search.run() ? undefined : search.failure()
}

/** What neither changed the register nor told anything of it. Each would double what the search tries. */
const saysNothing = ({ action, answer }: Observed): boolean =>
  answer.said === 'refused' || (action.kind === 'get' && answer.said === 'unknown')

const isKnown = ({ answer }: Observed): boolean => answer.said !== 'unknown'

class Search {
  readonly #all: readonly Observed[]
  /** Ends of what is known; nothing that began after one of these may come before it. */
  readonly #ends: readonly number[]
  readonly #tried = new Set<string>()
  #order: Observed[] = []
  #longest: Observed[] = []
  #stuckAt: Observed[] = []

  constructor(observed: readonly Observed[]) {
    this.#all = observed.filter((one) => !saysNothing(one)).toSorted((a, b) => a.beganMs - b.beganMs)
    this.#ends = this.#all.map((one) => (isKnown(one) ? one.endedMs : Number.POSITIVE_INFINITY))
  }

  run(): boolean {
    return this.#from((1n << BigInt(this.#all.length)) - 1n, undefined)
  }

  failure(): { order: Observed[]; stuckAt: Observed[] } {
    return { order: this.#longest, stuckAt: this.#stuckAt }
  }

  /** `left`: a bit for each that has no place in the order yet. */
  #from(left: bigint, state: Value): boolean {
    const place = `${left}/${state ?? ''}`
    if (this.#tried.has(place)) return false
    this.#tried.add(place)
    const remaining = [...this.#all.keys()].filter((i) => (left >> BigInt(i)) & 1n)
    const firstEnd = Math.min(...remaining.map((i) => this.#ends[i] ?? 0))
    // What is left is unknown, and need not have happened.
    if (firstEnd === Number.POSITIVE_INFINITY) return true
    const next = remaining.filter((i) => (this.#all[i]?.beganMs ?? 0) <= firstEnd)
    for (const i of next) {
      const one = this.#all[i]
      const after = one === undefined ? 'never' : applied(state, one)
      if (one === undefined || after === 'never') continue
      this.#order.push(one)
      if (this.#from(left & ~(1n << BigInt(i)), after.state)) return true
      this.#order.pop()
    }
    if (this.#order.length >= this.#longest.length) {
      this.#longest = [...this.#order]
      this.#stuckAt = next.flatMap((i) => this.#all[i] ?? [])
    }
    return false
  }
}
