/** Keys that several clients change at the same time at several gateways, unconditionally and by conditions: each must answer as a register. */
import { createHash } from 'node:crypto'
import { type Action, type Answer, explain, type Observed, type Value } from './linearizable.ts'
import type { Answered, Asked } from './several-hosts-client.ts'
import { answered, buckets, type Tools, told, type Worker } from './several-hosts-tools.ts'

const clientsEach = 5
const actionsEach = 8

/** One key after the other, under several clients at once: what they see must be what one register could have answered. */
export class Registers implements Worker {
  readonly #tools: Tools
  readonly #name: string
  #keys = 0
  histories = 0

  constructor(tools: Tools, name: string) {
    this.#tools = tools
    this.#name = name
  }

  async turn(): Promise<void> {
    const key = `${this.#name}/${this.#keys++}`
    const observed: Observed[] = []
    await Promise.all(Array.from({ length: clientsEach }, (_, place) => this.#work(key, place, observed)))
    const failure = explain(observed)
    this.histories++
    if (failure !== undefined) {
      this.#tools.violate(
        `${key} is no register: ${JSON.stringify(observed.toSorted((a, b) => a.beganMs - b.beganMs))}`,
      )
    }
  }

  async verify(): Promise<void> {}

  async #work(key: string, place: number, observed: Observed[]): Promise<void> {
    let seen: Value
    let mayWrite = true
    for (let i = 0; i < actionsEach; i++) {
      const action: Action = mayWrite ? this.#action(`${key}/${place}/${i}`, seen) : { kind: 'get' }
      const beganMs = performance.now()
      const found = await answered(this.#tools, askedBy(key, action))
      const answer = found === undefined ? ({ said: 'unknown' } as const) : this.#answer(key, action, found)
      observed.push({ action, answer, beganMs, endedMs: performance.now() })
      if (answer.said === 'value') seen = answer.value ?? seen
      if (answer.said === 'ok' && 'value' in action) seen = action.value
      // Each write of unknown outcome doubles what the checker has to try.
      if (answer.said === 'unknown') mayWrite = false
    }
  }

  #action(value: string, seen: Value): Action {
    const dice = this.#tools.random()
    if (dice < 0.35) return { kind: 'get' }
    if (dice < 0.5) return { kind: 'put', value }
    if (dice < 0.68) return { kind: 'put if absent', value }
    if (dice < 0.88) return { kind: 'put if match', value, expected: seen ?? 'none' }
    return { kind: 'delete' }
  }

  #answer(key: string, action: Action, found: Answered): Answer {
    const { status, body } = found
    if (action.kind === 'get' && status === 404) return { said: 'value', value: undefined }
    if (action.kind === 'get' && status === 200) return { said: 'value', value: body.toString() }
    if (status < 300) return { said: 'ok' }
    if (status === 412) return { said: 'failed' }
    if (status === 409) return { said: 'refused' }
    if (status === 404) return { said: 'absent' }
    this.#tools.violate(told(askedBy(key, action), found))
    return { said: 'unknown' }
  }
}

const etagOf = (value: string): string => `"${createHash('md5').update(value).digest('hex')}"`

function askedBy(key: string, action: Action): Asked {
  const address = { bucket: buckets.registers, key }
  if (action.kind === 'get') return { method: 'GET', ...address }
  if (action.kind === 'delete') return { method: 'DELETE', ...address }
  const condition: Record<string, string> = {}
  if (action.kind === 'put if absent') condition['If-None-Match'] = '*'
  if (action.kind === 'put if match') condition['If-Match'] = etagOf(action.expected)
  return { method: 'PUT', ...address, headers: condition, body: action.value }
}
