/** A worker of the storm that makes and deletes versions of its keys: none that was acknowledged is lost, and none comes back. */
import { type Asked, textsOf } from './several-hosts-client.ts'
import { answered, below, buckets, type Tools, told, type Worker } from './several-hosts-tools.ts'
import { bytesOf, type Held } from './storm-writer.ts'

interface Versions {
  key: string
  /** Acknowledged, and not deleted. */
  there: Map<string, Held>
  gone: Set<string>
  /** Their deletion had no answer. */
  open: Set<string>
  /** Changes without an answer that may have made a version. */
  unknown: number
}

const versionsMax = 24

/** Versions of keys that nobody else writes. */
export class Versioner implements Worker {
  readonly #tools: Tools
  readonly #keys: Versions[]

  constructor(tools: Tools, name: string, keys: number) {
    this.#tools = tools
    this.#keys = Array.from({ length: keys }, (_, i) => ({
      key: `${name}/${i}`,
      there: new Map(),
      gone: new Set(),
      open: new Set(),
      unknown: 0,
    }))
  }

  async turn(): Promise<void> {
    const versions = this.#keys[below(this.#tools, this.#keys.length)]
    if (versions === undefined) return
    const dice = this.#tools.random()
    const [id, held] = [...versions.there][below(this.#tools, versions.there.size)] ?? []
    if (id === undefined || held === undefined) return this.#put(versions)
    if (versions.there.size >= versionsMax || dice < 0.2) return this.#remove(versions, id)
    if (dice < 0.45) return this.#read(versions, id, held)
    if (dice < 0.5) return this.#mark(versions)
    return this.#put(versions)
  }

  async #put(versions: Versions): Promise<void> {
    const held: Held = { seed: below(this.#tools, 2 ** 31), size: below(this.#tools, 3000), tag: undefined }
    const asked = { method: 'PUT', bucket: buckets.versions, key: versions.key, body: bytesOf(held) } as const
    const id = await this.#made(versions, asked)
    if (id !== undefined) versions.there.set(id, held)
  }

  /** A marker counts as gone at once, as only versions with bytes are looked for: it is deleted next. */
  async #mark(versions: Versions): Promise<void> {
    const id = await this.#made(versions, { method: 'DELETE', bucket: buckets.versions, key: versions.key })
    if (id !== undefined) await this.#remove(versions, id)
  }

  async #made(versions: Versions, asked: Asked): Promise<string | undefined> {
    const found = await answered(this.#tools, asked)
    const id = found?.headers['x-amz-version-id']
    if (found === undefined) versions.unknown++
    else if (found.status >= 300 || typeof id !== 'string') this.#tools.violate(told(asked, found))
    return typeof id === 'string' ? id : undefined
  }

  async #remove(versions: Versions, id: string): Promise<void> {
    const asked = { method: 'DELETE', bucket: buckets.versions, key: versions.key, query: { versionId: id } } as const
    versions.there.delete(id)
    const found = await answered(this.#tools, asked)
    if (found === undefined) versions.open.add(id)
    else if (found.status === 204) versions.gone.add(id)
    else this.#tools.violate(told(asked, found))
  }

  async #read({ key }: Versions, id: string, held: Held): Promise<void> {
    const asked = { method: 'GET', bucket: buckets.versions, key, query: { versionId: id } } as const
    const found = await answered(this.#tools, asked)
    if (found === undefined) return
    if (found.status !== 200) this.#tools.violate(told(asked, found))
    else if (!bytesOf(held).equals(found.body)) this.#tools.violate(`version ${id} of ${key} holds other bytes`)
  }

  async verify(): Promise<void> {
    for (const versions of this.#keys) {
      const { key, there, gone, open, unknown } = versions
      const query = { versions: '', prefix: key }
      const { body } = await this.#tools.client.must({ method: 'GET', bucket: buckets.versions, query })
      const listed = new Set(textsOf(body, 'VersionId'))
      const others = [...listed].filter((id) => !there.has(id) && !open.has(id))
      for (const id of there.keys()) if (!listed.has(id)) this.#tools.violate(`version ${id} of ${key} is lost`)
      for (const id of gone) if (listed.has(id)) this.#tools.violate(`version ${id} of ${key} came back`)
      if (others.length > unknown)
        this.#tools.violate(`${key} has ${others.length} versions of ${unknown} unknown changes`)
      for (const [id, held] of there) await this.#read(versions, id, held)
    }
  }
}
