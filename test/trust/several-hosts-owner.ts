/** A worker of the storm that owns its keys: puts, deletes, uploads, and reads, held against a ledger of what was acknowledged. */
import { type Asked, textsOf } from './several-hosts-client.ts'
import { answered, below, buckets, type Tools, told, type Worker } from './several-hosts-tools.ts'
import { bytesOf, type Held, type State } from './storm-writer.ts'

const partBytes = 5 << 20

/** Keys that nobody else writes: at each moment it is known what they hold. One whose last change has no answer is left alone from then on. */
export class Owner implements Worker {
  readonly #tools: Tools
  readonly #name: string
  readonly #slots: { generation: number; state: State }[]
  /** What keys may hold that are left alone. */
  readonly #left = new Map<string, readonly State[]>()

  constructor(tools: Tools, name: string, keys: number) {
    this.#tools = tools
    this.#name = name
    this.#slots = Array.from({ length: keys }, () => ({ generation: 0, state: undefined }))
  }

  #key(slot: number): string {
    return `${this.#name}/${slot}-${this.#slots[slot]?.generation}`
  }

  async turn(): Promise<void> {
    const slot = below(this.#tools, this.#slots.length)
    const dice = this.#tools.random()
    if (dice < 0.3) return this.#read(this.#key(slot), [this.#slots[slot]?.state])
    if (dice < 0.42)
      return this.#change(slot, undefined, (key) => this.#ask({ method: 'DELETE', bucket: buckets.owned, key }))
    if (dice < 0.46)
      return this.#upload(slot, dice < 0.4202 ? partBytes + below(this.#tools, 1000) : below(this.#tools, 3000))
    const state = this.#newState(this.#size(dice))
    return this.#change(slot, state, (key) =>
      this.#ask({ method: 'PUT', bucket: buckets.owned, key, body: bytesOf(state) }),
    )
  }

  #size(dice: number): number {
    if (dice < 0.995) return below(this.#tools, 4 * 1024)
    return dice < 0.9995 ? below(this.#tools, 300 * 1024) : below(this.#tools, 1024 * 1024)
  }

  #newState(size: number): Held {
    return { seed: below(this.#tools, 2 ** 31), size, tag: undefined }
  }

  async #ask(asked: Asked): Promise<boolean> {
    const found = await answered(this.#tools, asked)
    if (found !== undefined && found.status >= 300) this.#tools.violate(told(asked, found))
    return found !== undefined && found.status < 300
  }

  async #change(slot: number, state: State, change: (key: string) => Promise<boolean>): Promise<void> {
    const known = this.#slots[slot]
    if (known === undefined) return
    const key = this.#key(slot)
    if (await change(key)) {
      known.state = state
      return
    }
    this.#left.set(key, [known.state, state])
    this.#slots[slot] = { generation: known.generation + 1, state: undefined }
  }

  async #upload(slot: number, size: number): Promise<void> {
    const address = { bucket: buckets.owned, key: this.#key(slot) }
    const state = this.#newState(size)
    const begun = await answered(this.#tools, { method: 'POST', ...address, query: { uploads: '' } })
    const [uploadId] = textsOf(begun?.body ?? Buffer.alloc(0), 'UploadId')
    if (uploadId === undefined) return
    const bytes = bytesOf(state)
    const pieces = [bytes.subarray(0, partBytes), bytes.subarray(partBytes)].filter(
      (piece, i) => i === 0 || piece.length > 0,
    )
    const parts: string[] = []
    for (const [i, body] of pieces.entries()) {
      const part = { method: 'PUT', ...address, query: { uploadId, partNumber: `${i + 1}` }, body } as const
      const found = await answered(this.#tools, part)
      if (found === undefined) return
      if (found.status !== 200) return this.#tools.violate(told(part, found))
      parts.push(`<Part><PartNumber>${i + 1}</PartNumber><ETag>${found.headers.etag}</ETag></Part>`)
    }
    const body = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`
    await this.#change(slot, state, () => this.#ask({ method: 'POST', ...address, query: { uploadId }, body }))
  }

  async #read(key: string, allowed: readonly State[]): Promise<void> {
    const asked = { method: 'GET', bucket: buckets.owned, key } as const
    const found = await answered(this.#tools, asked)
    if (found === undefined) return
    if (found.status !== 200 && found.status !== 404) return this.#tools.violate(told(asked, found))
    const body = found.status === 200 ? found.body : undefined
    const isRight = allowed.some((state) =>
      state === undefined || body === undefined ? state === body : bytesOf(state).equals(body),
    )
    if (isRight) return
    const shown = body === undefined ? 'nothing' : `${body.length} bytes ${body.subarray(0, 16).toString('hex')}`
    this.#tools.violate(`${key} holds ${shown}, which is none of ${JSON.stringify(allowed)}`)
  }

  get keys(): Map<string, readonly State[]> {
    return new Map([...this.#left, ...this.#slots.map(({ state }, slot) => [this.#key(slot), [state]] as const)])
  }

  async verify(): Promise<void> {
    const listed = new Set(await listAll(this.#tools, buckets.owned, `${this.#name}/`))
    for (const [key, allowed] of this.keys) {
      const exists = listed.delete(key)
      if (!allowed.some((state) => (state !== undefined) === exists)) {
        this.#tools.violate(`${key} is ${exists ? '' : 'not '}listed, but may hold ${JSON.stringify(allowed)}`)
      } else if (exists) await this.#read(key, allowed)
    }
    for (const key of listed) this.#tools.violate(`${key} is listed, and was never written`)
  }
}

/** Pages until the end. */
async function listAll({ client }: Tools, bucket: string, prefix: string): Promise<string[]> {
  const keys: string[] = []
  for (let last: string | undefined; ; last = keys.at(-1)) {
    const query = { 'list-type': '2', prefix, ...(last === undefined ? {} : { 'start-after': last }) }
    const { body } = await client.must({ method: 'GET', bucket, query })
    const page = textsOf(body, 'Key')
    keys.push(...page)
    if (page.length === 0 || !body.includes('<IsTruncated>true')) return keys
  }
}
