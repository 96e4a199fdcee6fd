/** Single bits that flip in the metadata file: each that matters is noticed, and none leads to the removal of what is referenced, or past a lock. */
import { spawn } from 'node:child_process'
import { copyFile, cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { crc32 } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isSealed, systemPrefix } from '../../src/instance/sealed-record.ts'
import { CommitMarks } from '../../src/kv/integrity/commit-marks.ts'
import { compareDigest, readTree } from '../../src/kv/integrity/lmdb-check.ts'
import { requireNotBehind } from '../../src/kv/integrity/lmdb-file.ts'
import { memoryPages, newestMeta } from '../../src/kv/integrity/lmdb-pages.ts'
import { MetadataDamaged } from '../../src/kv/integrity/metadata-damaged.ts'
import type { TreeDigest } from '../../src/kv/integrity/tree-digest.ts'
import { createBucket } from '../../src/objects/buckets.ts'
import { isWholeRecord } from '../../src/records/whole-records.ts'
import { seededRandom } from '../support/seeded.ts'
import type { ChildReport } from './flips-child.ts'
import {
  buildWorld,
  type Flip,
  flip,
  type Kept,
  lost,
  metadataFile,
  openAt,
  pickFlip,
  placeCopy,
  putMetadataBack,
  readWhole,
  sitesOf,
  strata,
  vault,
} from './flips-world.ts'

const scale = Number(process.env.HOLDFAST_TRUST_SCALE ?? '1')
const flips = scale === 1 ? 48 : 1000 * scale
const runs = scale === 1 ? 6 : 20 * scale
const seed = Number(process.env.HOLDFAST_FLIPS_SEED ?? Math.floor(Math.random() * 2 ** 31))
const childScript = fileURLToPath(new URL('../../dist/test/trust/flips-child.js', import.meta.url))

let root: string
let data: string
/** What was built, for ever as it was. */
let pristine: string
let kept: Kept[]
let whole: Buffer
let newest: TreeDigest | undefined

beforeAll(async () => {
  console.info(`flips seed: HOLDFAST_FLIPS_SEED=${seed}`)
  root = await mkdtemp(join(tmpdir(), 'holdfast-flips-'))
  data = join(root, 'data')
  pristine = join(root, 'pristine')
  kept = await buildWorld(data)
  await cp(data, pristine, { recursive: true })
  whole = await readWhole(data)
  const marks = await CommitMarks.open(join(data, 'meta', 'commits.marks'))
  newest = await marks.newest()
  await marks.close()
}, 300_000)
afterAll(() => rm(root, { recursive: true, force: true, maxRetries: 20 }))

/** What the checker may lack: planted bugs. */
interface Without {
  digest?: boolean
  marks?: boolean
}

/** What a check says of `bytes`, and all that it reads there as one number. */
async function checked(bytes: Buffer, without: Without = {}): Promise<{ noticed: string | undefined; dump: string }> {
  let dump = 0
  const isWhole = (key: Buffer, value: Buffer): boolean => {
    dump = crc32(value, crc32(key, dump))
    const isSystem = key.subarray(0, systemPrefix.length).equals(systemPrefix)
    return isSystem ? isSealed(key, value) : isWholeRecord(key, value)
  }
  try {
    const pages = memoryPages(bytes)
    const meta = await newestMeta(pages)
    const found = await readTree(pages, meta, { isWhole })
    if (without.marks !== true) requireNotBehind(meta, found.digest, newest)
    if (without.digest !== true) compareDigest(meta, found)
    const noticed = found.damagedCount > 0 ? `${found.damagedCount} records` : undefined
    return { noticed, dump: `${dump} ${JSON.stringify(found.sums)}` }
  } catch (error) {
    if (!(error instanceof MetadataDamaged)) throw error
    return { noticed: error.message, dump: '' }
  }
}

async function withFlip<T>(one: Flip, use: () => Promise<T>): Promise<T> {
  flip(whole, one)
  try {
    return await use()
  } finally {
    flip(whole, one)
  }
}

/** Those that changed what can be read, unnoticed. */
async function unnoticed(all: readonly Flip[], without: Without = {}): Promise<Flip[]> {
  const { dump } = await checked(whole)
  const found: Flip[] = []
  for (const one of all) {
    const result = await withFlip(one, () => checked(whole, without))
    if (result.noticed === undefined && result.dump !== dump) found.push(one)
  }
  return found
}

describe('a bit that flips in the metadata file', () => {
  it('is noticed by a check, wherever it changes what can be read', async () => {
    const pages = memoryPages(whole)
    const { main } = await newestMeta(pages)
    expect(main.depth).toBeGreaterThanOrEqual(3)
    expect(main.entries).toBeGreaterThan(100_000)
    expect((await checked(whole)).noticed).toBeUndefined()
    const random = seededRandom(seed)
    const sites = await sitesOf(whole)
    const all = Array.from({ length: flips }, (_, i) => pickFlip(sites, strata[i % strata.length] ?? 'meta', random))
    expect(await unnoticed(all), `seed ${seed}`).toEqual([])
  })

  it('in a version is noticed by the digest alone', async () => {
    const random = seededRandom(seed + 1)
    const sites = await sitesOf(whole)
    // The version stands before the value.
    const versions = new Map([
      ['value' as const, (sites.get('value') ?? []).map(([from]) => [from, from + 6] as const)],
    ])
    const some = Array.from({ length: 5 }, () => pickFlip(new Map(versions) as typeof sites, 'value', random))
    expect(await unnoticed(some)).toEqual([])
    expect(await unnoticed(some, { digest: true })).toHaveLength(5)
  })

  it('never has the jobs remove what is referenced, nor a lock passed', async () => {
    const random = seededRandom(seed + 2)
    const sites = await sitesOf(whole)
    // Near what would be missed: the filler's records are no more than what makes the tree deep.
    const near = new Map(
      [...sites].map(([stratum, places]) => {
        const some = places.filter(
          ([from, to]) => stratum !== 'key' || whole.subarray(from, to).includes('flips-vault'),
        )
        return [stratum, some]
      }),
    )
    const named = kept.filter(({ bucket }) => bucket === vault).slice(0, 5)
    let opened = 0
    for (let i = 0; i < runs; i++) {
      const one = pickFlip(near, i % 2 === 0 ? 'key' : (strata[(i >> 1) % 3] ?? 'meta'), random)
      await withFlip(one, () => placeCopy(pristine, data, whole))
      const report = await runChild(
        data,
        named.map(({ key, versionId }) => `${key}=${versionId}`),
      )
      // Where it was opened, or LMDB ended the process, something was tried.
      if (report?.refused === undefined) opened++
      expect(report?.bucket, `seed ${seed}, ${JSON.stringify(one)}`).not.toBe('ok')
      await putMetadataBack(pristine, data)
      expect(await lost(data, kept), `seed ${seed}, ${JSON.stringify(one)}, ${JSON.stringify(report)}`).toEqual([])
    }
    expect(opened).toBeGreaterThan(0)
  })
})

describe('an older tree that is whole', () => {
  it('is refused, because commits are known that it does not have', async () => {
    await placeCopy(pristine, data, whole)
    const world = await openAt(data)
    const bucket = { owner: 'main', locationConstraint: undefined, location: 'default', objectLock: undefined }
    await createBucket(world.backend, { ...bucket, name: 'made-later' })
    await world.close()
    // The marks of today beside the tree of yesterday.
    await copyFile(metadataFile(pristine), metadataFile(data))
    await expect(openAt(data)).rejects.toThrow(/data\.mdb is damaged: it shows commit \d+, and commit \d+ was made/)
    // Nothing but the marks can tell.
    await putMetadataBack(pristine, data)
    await rm(join(data, 'meta', 'commits.marks'))
    await (await openAt(data)).close()
  })
})

/** `undefined`: LMDB ended it. */
function runChild(path: string, versions: readonly string[]): Promise<ChildReport | undefined> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [childScript, path, ...versions], { stdio: ['ignore', 'pipe', 'pipe'] })
    let [output, errors] = ['', '']
    child.stdout.on('data', (chunk) => {
      output += chunk
    })
    child.stderr.on('data', (chunk) => {
      errors += chunk
    })
    child.once('close', (code, signal) => {
      if (signal !== null) resolve(undefined)
      else if (code === 0) resolve(JSON.parse(output.trim().split('\n').at(-1) ?? ''))
      else reject(new Error(`ended with ${code}: ${errors}`))
    })
  })
}
