/** What lies on disk: neither a run of anybody's bytes, nor a key that would open them. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bytesSource } from '../../src/byte-source.ts'
import type { Backend } from '../../src/commits/backend.ts'
import { wholeBlob } from '../../src/commits/encryption.ts'
import { blobKey } from '../../src/encryption/object-key.ts'
import { createBucket } from '../../src/objects/buckets.ts'
import { writeObject } from '../../src/objects/write-object.ts'
import type { OpenData } from '../../src/opening/open-backend.ts'
import { openDataDirectory } from '../../src/opening/open-data.ts'
import { temporaryDirectory } from '../stores/directory/opened-store.ts'
import { patternBytes } from '../support/seeded.ts'
import { customerKey, type Mode, modeNames, putEncrypted, putInParts, readEncrypted } from './encrypted.ts'
import { plain, scope } from './fixture.ts'

const MiB = 1024 * 1024
const runBytes = 16

/** A short stretch over and over: any run of it is one of few, and all of them can be looked for. */
const stretch = patternBytes(61, 61)
const runs = Array.from(stretch, (_, i) => Buffer.concat([stretch, stretch]).subarray(i, i + runBytes))
const plaintext = (size: number): Buffer => Buffer.alloc(size, stretch)

const small = plaintext(3000)
const large = plaintext(MiB + 17)
const parts = [plaintext(5 * MiB), plaintext(100)]

let path: string
let remove: () => Promise<void>
/** Every random 32 bytes that the store asked for: keys. */
const made: Buffer[] = []
/** Every byte of every file, by name. */
const files = new Map<string, Buffer>()
let ringSecrets: Buffer[]

async function using(work: (backend: Backend, data: OpenData) => Promise<void>, create = false): Promise<void> {
  const data = await openDataDirectory({
    path,
    create,
    keys: { keyRing: undefined, kmsKeys: ['invoices'] },
    onFatal: (error) => {
      throw error
    },
    warn: () => {},
    inform: () => {},
  })
  const { clock } = data.backend
  const random = (bytes: number): Buffer => {
    const given = Buffer.from(clock.random(bytes))
    if (bytes === 32) made.push(given)
    return given
  }
  try {
    await work({ ...data.backend, clock: { ...clock, now: () => clock.now(), random } }, data)
  } finally {
    await data.close()
  }
}

beforeAll(async () => {
  ;({ path, remove } = await temporaryDirectory())
  await using(async (backend, { backend: { keys } }) => {
    ringSecrets = keys.keys.map(({ secret }) => secret)
    await createBucket(backend, {
      name: 'bucket',
      owner: 'main',
      locationConstraint: undefined,
      location: 'default',
      objectLock: undefined,
    })
    for (const mode of modeNames) {
      await putEncrypted(backend, { key: `${mode}/small`, mode }, small)
      await putEncrypted(backend, { key: `${mode}/large`, mode }, large)
      await putInParts(backend, { key: `${mode}/parts`, mode }, parts)
    }
  }, true)
  await readFiles()
})
afterAll(() => remove())

async function readFiles(): Promise<void> {
  for (const entry of await readdir(path, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name)
    if (entry.isFile()) files.set(file.slice(path.length + 1), await readFile(file))
  }
}

/** Files that hold the bytes, raw or as text. */
function holding(bytes: Buffer): string[] {
  const forms = [bytes, Buffer.from(bytes.toString('base64').replace(/=+$/, '')), Buffer.from(bytes.toString('hex'))]
  return [...files].filter(([, content]) => forms.some((form) => content.includes(form))).map(([name]) => name)
}

describe('the files of a data directory', () => {
  it('hold what the objects take, in small shards and large, and in the metadata', () => {
    const total = [...files.values()].reduce((sum, { length }) => sum + length, 0)
    expect(total).toBeGreaterThan(modeNames.length * (small.length + large.length + 5 * MiB))
    expect([...files.keys()].filter((name) => name.startsWith('meta/')).length).toBeGreaterThan(0)
    // What is looked for below would be found: a key of an object is.
    const names = [...files]
      .filter(([, content]) => content.includes('SSE-C/large'))
      .map(([name]) => name.split('/')[0])
    expect(new Set(names)).toEqual(new Set(['meta', 'store']))
  })

  it(`hold no ${runBytes} bytes of plaintext in a row`, () => {
    expect(runs.flatMap(holding)).toEqual([])
  })

  it("hold no key: neither an object's, nor one derived from it, nor a customer's", () => {
    expect(made.length).toBe(modeNames.length * 3)
    const derived = made.map((secret) => blobKey(secret, wholeBlob))
    expect([...made, ...derived, customerKey.secret].flatMap(holding)).toEqual([])
  })

  it('hold the keys of the ring in one file, which is their owner’s alone', () => {
    expect(ringSecrets).toHaveLength(3)
    for (const secret of ringSecrets) expect(holding(secret)).toEqual(['keys'])
  })

  it.each(modeNames)('give everything back after a restart: %s', async (mode: Mode) => {
    await using(async (backend) => {
      expect((await readEncrypted(backend, { key: `${mode}/small`, mode })).equals(small)).toBe(true)
      expect((await readEncrypted(backend, { key: `${mode}/large`, mode })).equals(large)).toBe(true)
      expect((await readEncrypted(backend, { key: `${mode}/parts`, mode })).equals(Buffer.concat(parts))).toBe(true)
    })
  })
})

it('what is not encrypted would be found', async () => {
  await using((backend) =>
    writeObject(backend, scope, {
      key: 'in the clear',
      attributes: plain,
      data: { body: bytesSource(small) },
      conditions: {},
    }).then(() => {}),
  )
  await readFiles()
  expect(runs.filter((run) => holding(run).length === 0)).toEqual([])
})
