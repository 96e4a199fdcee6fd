/** Stores and locations in the TOML file: what they come to, and what is said of mistakes. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadConfiguration } from '../../src/config/configuration.ts'
import type { Placement } from '../../src/config/locations.ts'

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-locations-'))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

async function load(toml: string, data = join(directory, 'data')): Promise<Placement> {
  const file = join(directory, 'holdfast.toml')
  await writeFile(file, toml)
  return (await loadConfiguration({ flags: { config: [file], data: [data] }, environment: {}, directory })).placement
}

const disk = (name: string, rest = ''): string => `[stores.${name}]\ntype = "directory"\npath = "${name}"\n${rest}\n`
const bucket = (name: string, rest = '', of = 'bucket'): string => {
  const endpoint = rest.includes('endpoint') ? '' : 'endpoint = "https://s3.example.com"\n'
  return `[stores.${name}]\ntype = "s3"\nbucket = "${of}"\n${endpoint}${rest}\n`
}
const three = disk('a') + disk('b') + disk('c')
const located = (rest: string, stores = '"a", "b", "c"'): string =>
  `${three}[locations.safe]\nscheme = "replica"\nstores = [${stores}]\n${rest}\n`

describe('stores and locations', () => {
  it('are none where none are given', async () => {
    expect(await load('')).toEqual({ stores: [], locations: [], defaultLocation: 'default' })
    expect(await load('[stores]\n[locations]')).toEqual({ stores: [], locations: [], defaultLocation: 'default' })
  })

  it.each(['', 'defaultLocation = "default"\n'])(
    'keep new buckets in the data directory, unless another default is named: %j',
    async (line) => {
      expect((await load(line + located('copies = 2'))).defaultLocation).toBe('default')
    },
  )

  it('may have another default location', async () => {
    expect((await load(`defaultLocation = "safe"\n${located('copies = 2')}`)).defaultLocation).toBe('safe')
  })

  it('have no default location that is not configured', async () => {
    await expect(load(`defaultLocation = "save"\n${located('copies = 2')}`)).rejects.toThrow(
      "defaultLocation: there is no location 'save'; did you mean 'safe'?",
    )
    await expect(load('defaultLocation = "safe"')).rejects.toThrow("there is no location 'safe'")
  })

  it('have their paths relative to the file, domains of their own, and more than half of the copies acknowledged', async () => {
    const { stores, locations } = await load(located('copies = 3'))
    expect(stores[0]).toEqual({ type: 'directory', name: 'a', path: join(directory, 'a'), domain: 'a' })
    const policy = { scheme: 'replica', copies: 3, stores: ['a', 'b', 'c'], maxPerDomain: 1, writeAck: 2 }
    expect(locations).toEqual([{ name: 'safe', policy }])
  })

  it('may share domains, as far as maxPerDomain allows', async () => {
    const shared = disk('a', 'domain = "left"') + disk('b', 'domain = "left"')
    const location =
      '[locations.near]\nscheme = "replica"\nstores = ["a", "b"]\ncopies = 2\nmaxPerDomain = 2\nwriteAck = 1'
    expect((await load(shared + location)).locations[0]?.policy).toMatchObject({ maxPerDomain: 2, writeAck: 1 })
  })

  it('may be buckets elsewhere, named in the path and with credentials from the environment unless said otherwise', async () => {
    const at = { type: 's3', endpoint: 'https://s3.example.com', bucket: 'bucket' } as const
    const usual = { prefix: '', region: 'us-east-1', pathStyle: true, profile: undefined }
    const said = 'prefix = "p/q"\nregion = "auto"\npathStyle = false\nprofile = "work"\ndomain = "cloud"'
    const { stores } = await load(bucket('a', 'prefix = "x"') + bucket('b', said))
    expect(stores).toEqual([
      { ...at, ...usual, name: 'a', domain: 'a', prefix: 'x/' },
      { ...at, name: 'b', domain: 'cloud', prefix: 'p/q/', region: 'auto', pathStyle: false, profile: 'work' },
    ])
  })

  it('may have paths and prefixes that begin alike: only a whole name of a directory lies around another', async () => {
    const at = (name: string, path: string) => `[stores.${name}]\ntype = "directory"\npath = "${path}"\n`
    const alike = at('a', '/mnt/d1') + at('b', '/mnt/d10') + at('c', '/mnt/d') + at('d', '/mnt/d1-new')
    expect((await load(alike, '/mnt/d100')).stores).toHaveLength(4)
    const prefixes = bucket('a', 'prefix = "p"') + bucket('b', 'prefix = "pq"') + bucket('c', '', 'bucket2')
    expect((await load(prefixes)).stores).toHaveLength(3)
    for (const path of ['/mnt/d1/', '/mnt/./d1', '/mnt/d10/../d1', '/mnt/d1//x', '/mnt', '/']) {
      await expect(load(at('a', '/mnt/d1') + at('b', path)), path).rejects.toThrow(
        /same path|overlap: one contains the other/,
      )
    }
  })

  it('of an erasure code acknowledge what survives a loss, and copy small blobs', async () => {
    const location = `[locations.ec]\nscheme = "erasure"\ndata = 1\nparity = 2\nstores = ["a", "b", "c"]`
    const spread = { scheme: 'erasure', data: 1, parity: 2, stores: ['a', 'b', 'c'], maxPerDomain: 1 }
    const [usual] = (await load(three + location)).locations
    expect(usual).toEqual({ name: 'ec', policy: { ...spread, writeAck: 2, replicateBelow: 262_144 } })
    const [chosen] = (await load(`${three}${location}\nwriteAck = 1\nreplicateBelow = 0`)).locations
    expect(chosen).toEqual({ name: 'ec', policy: { ...spread, writeAck: 1, replicateBelow: 0 } })
  })

  it('may keep storage classes, in any order, each once', async () => {
    const [kept] = (await load(located('copies = 1\nstorageClasses = ["GLACIER", "DEEP_ARCHIVE", "GLACIER"]')))
      .locations
    expect(kept?.policy).toHaveProperty('storageClasses', ['DEEP_ARCHIVE', 'GLACIER'])
    for (const none of ['copies = 1', 'copies = 1\nstorageClasses = []']) {
      expect((await load(located(none))).locations[0]?.policy).not.toHaveProperty('storageClasses')
    }
  })

  it.each([
    [
      'STANDARD as a class that a location keeps',
      located('copies = 1\nstorageClasses = ["STANDARD"]'),
      'locations.safe.storageClasses[0]: expects one of REDUCED_REDUNDANCY, ',
    ],
    [
      'a class in two locations',
      `${located('copies = 1\nstorageClasses = ["GLACIER"]')}\n[locations.other]\nscheme = "replica"\ncopies = 1\nstores = ["a"]\nstorageClasses = ["GLACIER"]`,
      'locations.other: GLACIER is among storageClasses of safe, too',
    ],
    [
      'an unknown store',
      located('copies = 2', '"a", "bb"'),
      "locations.safe: there is no store 'bb'; did you mean 'b'?",
    ],
    ['a store named twice', located('copies = 2', '"a", "b", "a"'), "names store 'a' twice"],
    ['fewer stores than copies', located('copies = 4'), 'needs at least 4 stores for 4 shards, and names 3'],
    ['an impossible writeAck', located('copies = 2\nwriteAck = 3'), 'writeAck is 3, but only 2 shards are written'],
    ['no copies', located('copies = 0'), 'locations.safe.copies'],
    ['copies left out', located(''), 'locations.safe.copies'],
    ['a mistyped key', located('copie = 2'), "locations.safe: unknown key 'copie'; did you mean 'copies'?"],
    ['an unknown scheme', '[locations.x]\nscheme = "raid"\nstores = []', 'locations.x.scheme'],
    [
      'too few domains',
      `${disk('a', 'domain = "left"')}${disk('b', 'domain = "left"')}[locations.x]\nscheme = "replica"\ncopies = 2\nstores = ["a", "b"]`,
      'its stores lie in 1 failure domain, which at maxPerDomain = 1 take 1 of 2 shards',
    ],
    ['a location named default', '[locations.default]\nscheme = "replica"', 'locations.default: the name is taken'],
    ['a store named default', disk('default'), 'stores.default: the name is taken'],
    ['a name with capitals', disk('Disk'), 'stores.Disk: is no name'],
    ['an unknown type', '[stores.a]\ntype = "tape"', 'stores.a.type'],
    ['a mistyped key of a store', disk('a', 'domian = "x"'), "stores.a: unknown key 'domian'; did you mean 'domain'?"],
    [
      'one path twice',
      `${disk('a')}[stores.b]\ntype = "directory"\npath = "./a"`,
      'stores.a and stores.b have the same path',
    ],
    [
      'a path inside another',
      `${disk('a')}[stores.b]\ntype = "directory"\npath = "a/b"`,
      'overlap: one contains the other',
    ],
    [
      'a path in the data directory',
      '[stores.a]\ntype = "directory"\npath = "data/store"',
      'overlap: one contains the other',
    ],
    [
      'a path around the data directory',
      '[stores.a]\ntype = "directory"\npath = "."',
      'overlap: one contains the other',
    ],
    [
      'a store in memory',
      '[stores.a]\ntype = "memory"',
      'stores.a: a store of type memory would be empty after each start',
    ],
    ['an endpoint that is none', bucket('a', 'endpoint = "s3.example.com"'), 'stores.a.endpoint: expects http'],
    [
      'an endpoint with a secret in it',
      bucket('a', 'endpoint = "https://key:hush@s3.example.com"'),
      'stores.a.endpoint: expects http',
    ],
    ['a bucket that is none', bucket('a', '', 'x'), 'stores.a.bucket: is no name of a bucket'],
    ['a prefix that would not arrive', bucket('a', 'prefix = "../x"'), 'stores.a.prefix: expects names'],
    ['a prefix of other bytes', bucket('a', 'prefix = "ä"'), 'stores.a.prefix: may have'],
    ['a key that no remote store has', bucket('a', 'accessKeyId = "x"'), "stores.a: unknown key 'accessKeyId'"],
    ['one bucket twice', bucket('a') + bucket('b'), 'stores.a and stores.b have the same prefix in one bucket'],
    [
      'a prefix inside another',
      bucket('a', 'prefix = "p"') + bucket('b', 'prefix = "p/q/"'),
      'stores.a and stores.b: https://s3.example.com/bucket/p and https://s3.example.com/bucket/p/q overlap: one contains the other',
    ],
    [
      'more parity than there can be',
      `${three}[locations.ec]\nscheme = "erasure"\ndata = 2\nparity = 9\nstores = ["a", "b", "c"]`,
      'locations.ec.parity',
    ],
    [
      'erasure coding over too few stores',
      `${three}[locations.ec]\nscheme = "erasure"\ndata = 4\nparity = 2\nstores = ["a", "b", "c"]`,
      'needs at least 6 stores for 6 shards, and names 3',
    ],
    [
      'erasure coding that acknowledges what it could not read',
      `${three}[locations.ec]\nscheme = "erasure"\ndata = 2\nparity = 1\nwriteAck = 1\nstores = ["a", "b", "c"]`,
      'writeAck is 1, but it takes 2 shards to read',
    ],
    ['stores that are no table', 'stores = 1', 'stores: '],
  ])('%s is refused by name', async (_, toml, message) => {
    await expect(load(toml)).rejects.toThrow(message)
  })
})
