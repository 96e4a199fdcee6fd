/**
 * Any two changes of one key, the second made by another process when the first has read and decided, and not committed yet: what comes of it is what comes
 * of one after the other, in one order or the other.
 */
import { isDeepStrictEqual } from 'node:util'
import { describe, expect, it } from 'vitest'
import type { Backend } from '../../src/commits/backend.ts'
import { changeBucket } from '../../src/objects/buckets.ts'
import { setLegalHold, setTags } from '../../src/objects/change-version.ts'
import { deleteObject } from '../../src/objects/delete-object.ts'
import { findVersion } from '../../src/objects/find-version.ts'
import { listVersions } from '../../src/objects/list-versions.ts'
import {
  begin,
  complete,
  garbageOf,
  outcome,
  put,
  scope,
  sendPart,
  storeWithBucket,
  type TestStore,
} from '../objects/fixture.ts'

const key = 'key'
const contentOf = (name: string): string => `content of ${name}`

type Step = 'put' | 'delete' | 'suspend'

interface Situation {
  /** What the key has before. */
  name: string
  versioning: 'unversioned' | 'enabled'
  /** Each of them but `suspend` makes a version or a marker, and the last is the newest. */
  steps: readonly Step[]
}

const situations: readonly Situation[] = [
  { name: 'nothing, never versioned', versioning: 'unversioned', steps: [] },
  { name: 'an object, never versioned', versioning: 'unversioned', steps: ['put'] },
  { name: 'nothing', versioning: 'enabled', steps: [] },
  { name: 'an object', versioning: 'enabled', steps: ['put'] },
  { name: 'a marker', versioning: 'enabled', steps: ['delete'] },
  { name: 'a marker over an object', versioning: 'enabled', steps: ['put', 'delete'] },
  { name: 'an object over a marker over an object', versioning: 'enabled', steps: ['put', 'delete', 'put'] },
  { name: 'five objects', versioning: 'enabled', steps: ['put', 'put', 'put', 'put', 'put'] },
  {
    name: 'three markers over two objects',
    versioning: 'enabled',
    steps: ['put', 'put', 'delete', 'delete', 'delete'],
  },
  { name: 'nothing, suspended', versioning: 'enabled', steps: ['suspend'] },
  { name: 'a null object over named ones', versioning: 'enabled', steps: ['put', 'put', 'suspend', 'put'] },
  {
    name: 'named objects over nothing null, suspended',
    versioning: 'enabled',
    steps: ['put', 'put', 'put', 'suspend'],
  },
  { name: 'a null marker over named ones', versioning: 'enabled', steps: ['put', 'put', 'suspend', 'delete'] },
]

/** One of those that are there before: counted from the newest, or from the oldest. */
const places = [0, 1, -1] as const

interface Change {
  name: string
  /** Of a version by this place. Absent: of the key. */
  of?: (typeof places)[number]
  /** `target`: the id of the version. */
  make(
    made: Pick<TestStore, 'backend'>,
    name: string,
    target: string,
  ): Promise<{ versionId?: string | undefined } | undefined>
}

const ofKey: readonly Change[] = [
  { name: 'put', make: (made, name) => put(made, key, contentOf(name)) },
  { name: 'put unless there', make: (made, name) => put(made, key, contentOf(name), { ifNoneMatch: '*' }) },
  { name: 'delete', make: ({ backend }) => deleteObject(backend, scope, { key }) },
]
const ofVersion = places.flatMap((of): readonly Change[] => [
  { name: `remove ${of}`, of, make: ({ backend }, _, versionId) => deleteObject(backend, scope, { key, versionId }) },
  {
    name: `hold ${of}`,
    of,
    make: async ({ backend }, _, versionId) => {
      await setLegalHold(backend, scope, { key, versionId }, true)
      return undefined
    },
  },
  {
    name: `tag ${of}`,
    of,
    make: async ({ backend }, name, versionId) => {
      await setTags(backend, scope, { key, versionId }, [{ key: 'by', value: name }])
      return undefined
    },
  },
])
const changes = [...ofKey, ...ofVersion]

/** The key with its versions, made anew in the same way each time. */
class World {
  readonly made: TestStore
  /** Of markers, which have no content, by what made them. */
  readonly #names = new Map<string, string>()
  /** From the newest. */
  readonly before: string[] = []

  private constructor(made: TestStore) {
    this.made = made
  }

  static async make({ versioning, steps: given }: Situation): Promise<World> {
    const world = new World(await storeWithBucket())
    const { backend } = world.made
    // Object Lock asks for versioning; a bucket that is suspended has it only here, so that every version can be held.
    const change = (to: 'unversioned' | 'enabled' | 'suspended'): Promise<void> =>
      changeBucket(backend, scope, (bucket) => ({
        ...bucket,
        versioning: to,
        objectLock: to === 'unversioned' ? undefined : { defaultRetention: undefined },
      }))
    await change(versioning)
    for (const [i, step] of given.entries()) {
      if (step === 'suspend') await change('suspended')
      else {
        const made = ofKey.find(({ name }) => name === step)
        const { versionId = '' } = (await made?.make(world.made, `before ${i}`, '')) ?? {}
        world.#names.set(versionId, `before ${i}`)
        world.before.unshift(versionId)
      }
    }
    return world
  }

  /** Resolves with its answer: an error's code, or `ok`. */
  async do(change: Change, name: string, backend: Backend = this.made.backend): Promise<string> {
    const target = change.of === undefined ? '' : (this.before.at(change.of) ?? 'null')
    return outcome(
      (async () => {
        const { versionId } = (await change.make({ backend }, name, target)) ?? {}
        if (change.of === undefined && versionId !== undefined && versionId !== 'null') this.#names.set(versionId, name)
      })(),
    )
  }

  /** Everything that clients see of the key, and how much is to be reclaimed. */
  async state(): Promise<unknown> {
    const { backend } = this.made
    const query = { prefix: '', delimiter: '', keyMarker: undefined, versionIdMarker: undefined, max: 100 }
    const { page } = await listVersions(backend, scope, query)
    const versions: unknown[] = []
    for (const { version, latest } of page.entries) {
      const { versionId, kind } = version
      const name = this.#names.get(versionId) ?? versionId
      if (kind === 'marker') versions.push({ marker: name, latest })
      else {
        const { etag, attributes } = (await findVersion(backend, scope, key, versionId)).record
        const { legalHold, tags } = attributes
        versions.push({ object: name, etag, latest, legalHold: legalHold === true, tags })
      }
    }
    const sequences = page.entries.map(({ version }) => version.sequence)
    const isOrdered = sequences.every((sequence, i) => i === 0 || sequence < (sequences[i - 1] ?? 0))
    const current = await outcome(findVersion(backend, scope, key, undefined))
    return { versions, current, isOrdered, garbage: (await garbageOf(this.made)).length }
  }
}

interface Result {
  first: string
  second: string
  state: unknown
}

async function inOrder(
  situation: Situation,
  changes: readonly (readonly ['first' | 'second', Change])[],
): Promise<Result> {
  const world = await World.make(situation)
  const codes = { first: '', second: '' }
  for (const [name, change] of changes) codes[name] = await world.do(change, name)
  return { ...codes, state: await world.state() }
}

/** `checking: false` is the planted bug: commits apply whatever has changed since they were decided. */
async function atOnce(situation: Situation, first: Change, second: Change, checking: boolean): Promise<Result> {
  const world = await World.make(situation)
  const { kv } = world.made
  const commit = kv.commit.bind(kv)
  if (!checking) kv.commit = (given) => commit({ ...given, checks: [] })
  let theirs: string | undefined
  kv.beforeNextCommit(async () => {
    theirs = await world.do(second, 'second', { ...world.made.backend })
  })
  const ours = await world.do(first, 'first')
  if (theirs === undefined) {
    // The first was refused before it had anything to commit.
    kv.beforeNextCommit(async () => {})
    theirs = await world.do(second, 'second')
  }
  return { first: ours, second: theirs, state: await world.state() }
}

/** Pairs of changes that come to something else than one after the other, as they are found. */
async function* violations(situation: Situation, checking = true): AsyncGenerator<string> {
  for (const first of changes) {
    for (const second of changes) {
      const ours = ['first', first] as const
      const theirs = ['second', second] as const
      const orders = [await inOrder(situation, [theirs, ours]), await inOrder(situation, [ours, theirs])]
      const result = await atOnce(situation, first, second, checking)
      if (!orders.some((order) => isDeepStrictEqual(order, result)))
        yield `${first.name}, and meanwhile ${second.name}: ${JSON.stringify(result)}`
    }
  }
}

describe.each(situations)('any two changes of a key that has $name', (situation) => {
  it('come to what one after the other comes to', async () => {
    const found: string[] = []
    for await (const violation of violations(situation)) found.push(violation)
    expect(found).toEqual([])
  })

  it('come to something else where commits check nothing, and that is found', async () => {
    const { value } = await violations(situation, false).next()
    expect(value).toBeDefined()
  })
})

describe('a completion, and meanwhile a part or an abort', () => {
  it('is one of the two orders, whichever part comes', async () => {
    for (const number of [1, 2]) {
      const made = await storeWithBucket()
      const address = await begin(made, key)
      const part = await sendPart(made, address, 1, 'the first part')
      let sent = ''
      made.kv.beforeNextCommit(async () => {
        sent = await outcome(sendPart({ ...made, backend: { ...made.backend } }, address, number, 'another'))
      })
      const completed = await outcome(complete(made, address, [part]))
      expect([sent, completed], `part ${number}`).toEqual(['ok', number === 1 ? 'InvalidPart' : 'ok'])
    }
  })
})
