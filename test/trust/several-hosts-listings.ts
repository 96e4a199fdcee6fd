/** Workers of the storm that change keys while others list them. */
import { type KeyChange, pageViolations } from './listing-timeline.ts'
import { type Asked, textsOf } from './several-hosts-client.ts'
import { answered, below, buckets, type Tools, told, type Worker } from './several-hosts-tools.ts'

/** What all churners have done to the keys that listings show. */
export type Timeline = Map<string, KeyChange[]>

/** Earlier changes of a key say nothing about a page that is listed now. */
const changesKept = 8

/** Makes and removes keys of its own. */
export class Churner implements Worker {
  readonly #tools: Tools
  readonly #timeline: Timeline
  readonly #name: string
  readonly #generations: number[]

  constructor(tools: Tools, timeline: Timeline, name: string, keys: number) {
    this.#tools = tools
    this.#timeline = timeline
    this.#name = name
    this.#generations = Array.from({ length: keys }, () => 0)
  }

  async turn(): Promise<void> {
    const slot = below(this.#tools, this.#generations.length)
    const key = `${String(slot).padStart(3, '0')}-${this.#name}-${this.#generations[slot]}`
    const changes = this.#timeline.get(key) ?? []
    this.#timeline.set(key, changes)
    const exists = changes.at(-1)?.exists !== true
    const change: KeyChange = { beganMs: performance.now(), endedMs: Number.POSITIVE_INFINITY, exists }
    changes.push(change)
    const asked: Asked = {
      method: exists ? 'PUT' : 'DELETE',
      bucket: buckets.listed,
      key,
      ...(exists ? { body: key } : {}),
    }
    const found = await answered(this.#tools, asked)
    // A change without an answer may happen at any time from now on.
    if (found === undefined) this.#generations[slot] = (this.#generations[slot] ?? 0) + 1
    else if (found.status < 300) change.endedMs = performance.now()
    else this.#tools.violate(told(asked, found))
    if (changes.length > changesKept) changes.splice(0, changes.length - changesKept)
  }

  async verify(): Promise<void> {}
}

const pageKeys = 40

/** Lists pages from anywhere while others change what they show. */
export class Lister implements Worker {
  readonly #tools: Tools
  readonly #timeline: Timeline
  pages = 0

  constructor(tools: Tools, timeline: Timeline) {
    this.#tools = tools
    this.#timeline = timeline
  }

  async turn(): Promise<void> {
    await this.#list(String(below(this.#tools, 60)).padStart(3, '0'))
  }

  async #list(after: string): Promise<string | undefined> {
    const beganMs = performance.now()
    const query = { 'list-type': '2', 'start-after': after, 'max-keys': String(pageKeys) }
    const asked = { method: 'GET', bucket: buckets.listed, query } as const
    const found = await answered(this.#tools, asked)
    if (found === undefined) return after
    if (found.status !== 200) {
      this.#tools.violate(told(asked, found))
      return undefined
    }
    const keys = textsOf(found.body, 'Key')
    const upTo = found.body.includes('<IsTruncated>true') ? keys.at(-1) : undefined
    const page = { beganMs, endedMs: performance.now(), after, upTo, keys }
    for (const violation of pageViolations(this.#timeline, page)) this.#tools.violate(`a listing: ${violation}`)
    this.pages++
    return upTo
  }

  async verify(): Promise<void> {
    for (let after: string | undefined = ' '; after !== undefined; after = await this.#list(after)) {}
  }
}
