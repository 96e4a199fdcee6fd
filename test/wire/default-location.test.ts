/** Where buckets lie that are created without a location: in the server's default location. And what a server answers for a location that it does not know yet. */
import { beforeEach, describe, expect, it } from 'vitest'
import { type Location, openBlobs } from '../../src/blobs/blobs.ts'
import { memoryShardStore } from '../../src/stores/memory.ts'
import type { ShardStore } from '../../src/stores/shard-store.ts'
import { wireServer, wireTo } from '../support/wire-fixture.ts'

const stores: Record<string, ShardStore> = {}
for (const name of ['default', 'home', 'late']) stores[name] = memoryShardStore()
const location = (name: string): Location => ({
  name,
  version: 1,
  scheme: 'replica',
  stores: [stores[name] ?? memoryShardStore()],
})
const bytesIn = async (name: string): Promise<number | undefined> => (await stores[name]?.usage())?.usedBytes

/** What this process knows of the locations, and how often it has looked for others. */
let know: (...names: string[]) => void = () => {}
let looks = 0
const server = wireServer({
  over: (backend) => ({
    ...backend,
    blobs: openBlobs([location('default'), location('home')], {
      defaultLocation: 'home',
      otherStores: Object.values(stores),
      feed: {
        subscribe: (relocate) => {
          know = (...names) => relocate(names.map(location), names.at(-1) ?? '')
        },
        look: async () => void looks++,
      },
    }),
  }),
})
const made = (constraint: string): string =>
  `<CreateBucketConfiguration><LocationConstraint>${constraint}</LocationConstraint></CreateBucketConfiguration>`

const wire = wireTo(server)
beforeEach(async () => {
  await server.empty()
  know('default', 'home')
})

describe('a server whose default location is home', () => {
  it.each([
    ['no location', undefined, 'home', ''],
    ['the name of a region', made('eu-west-1'), 'home', 'eu-west-1'],
    ['its name', made('home'), 'home', 'home'],
    ['the name of the one in the data directory', made('default'), 'default', 'default'],
  ])('keeps the data of a bucket that is created with %s there', async (_, body = '', where, constraint) => {
    await wire.must({ method: 'PUT', body })
    const before = (await bytesIn(where)) ?? 0
    await wire.must({ method: 'PUT', key: 'k', body: 'twelve bytes' })
    expect(await bytesIn(where)).toBe(before + 12)
    const answer = await wire.must({ method: 'GET', query: { location: '' } })
    expect(
      answer.body
        .toString()
        .replace(/<[^>]*>/g, '')
        .trim(),
    ).toBe(constraint)
  })

  it('names its locations to a client that asks for another, once it has looked for it', async () => {
    const before = looks
    const { status, body } = await wire.ask({ method: 'PUT', body: made('late') })
    expect([status, looks - before]).toEqual([400, 1])
    expect(body.toString()).toContain('The locations of this server are: default, home.')
  })
})

describe('a bucket in a location that another server has just added', () => {
  it('is answered with 503 until this one knows it too, after it has looked for it', async () => {
    know('home', 'late')
    await wire.must({ method: 'PUT', body: made('late') })
    know('home')
    const before = looks
    const refused = await wire.ask({ method: 'PUT', key: 'k', body: 'bytes' })
    expect([refused.status, refused.headers.get('retry-after'), looks - before]).toEqual([503, '1', 1])
    expect(refused.body.toString()).toContain('<Code>ServiceUnavailable</Code>')
    know('home', 'late')
    await wire.must({ method: 'PUT', key: 'k', body: 'bytes' })
    expect((await wire.must({ method: 'GET', key: 'k' })).body.toString()).toBe('bytes')
  })
})
