/** A data directory whose metadata is large enough for a tree of several levels, with data whose loss would be noticed; and the places where a bit of it may flip. */
import { copyFile, cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { bytesSource } from '../../src/byte-source.ts'
import type { Backend } from '../../src/commits/backend.ts'
import { memoryPages, newestMeta, readTreePage } from '../../src/kv/integrity/lmdb-pages.ts'
import { createBucket } from '../../src/objects/buckets.ts'
import { openObject } from '../../src/objects/read-object.ts'
import { writePart } from '../../src/objects/upload-parts.ts'
import { createUpload } from '../../src/objects/uploads.ts'
import { writeObject } from '../../src/objects/write-object.ts'
import { openDataDirectory } from '../../src/opening/open-data.ts'
import { objectKey } from '../../src/records/keyspace.ts'
import { objectCodec } from '../../src/records/record-codecs.ts'
import type { ObjectRecord } from '../../src/records/records.ts'
import { scopeOf } from '../objects/fixture.ts'

export const vault = 'flips-vault'
const plain = 'flips-plain'
const filler = 'flips-filler'
const yearMs = 365 * 24 * 60 * 60 * 1000
const fillerKeys = 100_000
const atOnce = 1000
/** A record of this much has pages of its own. */
const longBytes = 3000

export interface Kept {
  bucket: string
  key: string
  versionId: string
  bytes: Buffer
}

export async function openAt(path: string, create = false) {
  return openDataDirectory({
    path,
    create,
    keys: { keyRing: undefined, kmsKeys: [] },
    onFatal: (error) => {
      throw error
    },
    warn: () => {},
    inform: () => {},
  })
}

/** Resolves with what must be there for ever. */
export async function buildWorld(path: string): Promise<Kept[]> {
  const data = await openAt(path, true)
  const { backend } = data
  const kept: Kept[] = []
  const bucket = { owner: 'main', locationConstraint: undefined, location: 'default' }
  await createBucket(backend, { ...bucket, name: plain, objectLock: undefined })
  await createBucket(backend, { ...bucket, name: vault, objectLock: { defaultRetention: undefined } })
  await createBucket(backend, { ...bucket, name: filler, objectLock: undefined })
  const write = async (name: string, key: string): Promise<ObjectRecord> => {
    const bytes = Buffer.from(`the bytes of ${name}/${key}`.repeat(10))
    const retention =
      name === vault ? { mode: 'COMPLIANCE' as const, untilMs: backend.clock.now() + yearMs } : undefined
    const attributes = { headers: {}, metadata: {}, tags: [], retention }
    const { record } = await writeObject(backend, scopeOf(name), {
      key,
      attributes,
      data: { body: bytesSource(bytes) },
      conditions: {},
    })
    kept.push({ bucket: name, key, versionId: record.versionId, bytes })
    return record
  }
  const sample = await write(plain, 'sample')
  await Promise.all(Array.from({ length: 200 }, (_, i) => write(plain, `key-${i}`)))
  for (let version = 0; version < 2; version++) {
    await Promise.all(Array.from({ length: 30 }, (_, i) => write(vault, `key-${i}`)))
  }
  for (let i = 0; i < 20; i++) await openUpload(backend, `upload-${i}`)
  await fill(backend, sample)
  await data.close()
  return kept
}

async function openUpload(backend: Backend, key: string): Promise<void> {
  const attributes = { headers: {}, metadata: {}, tags: [] }
  const { uploadId } = await createUpload(backend, scopeOf(plain), { key, attributes, checksum: undefined })
  const body = bytesSource(Buffer.from(`a part of ${key}`))
  await writePart(backend, scopeOf(plain), { key, uploadId, number: 1, data: () => ({ body, checksum: undefined }) })
}

async function fill({ kv }: Backend, sample: ObjectRecord): Promise<void> {
  for (let from = 0; from < fillerKeys; from += atOnce) {
    const puts = Array.from({ length: atOnce }, (_, i) => {
      const key = objectKey(filler, `some/key/that/is/no/longer/than/others/${from + i}`)
      const metadata: Record<string, string> = i === 0 ? { long: 'x'.repeat(longBytes) } : {}
      const attributes = { ...sample.attributes, metadata }
      return { key, value: objectCodec.encode(key, { ...sample, sequence: from + i + 1, attributes }) }
    })
    await kv.commit({ puts })
  }
}

/** What of `kept` cannot be read as it was written. */
export async function lost(path: string, kept: readonly Kept[]): Promise<string[]> {
  const data = await openAt(path)
  const missing: string[] = []
  for (const { bucket, key, versionId, bytes } of kept) {
    const named = versionId === 'null' ? {} : { versionId }
    try {
      const { body } = await openObject(data.backend, scopeOf(bucket), { key, ...named }, ({ size }) => ({
        range: { start: 0, end: size },
      }))
      if (!(await body.read()).equals(bytes)) missing.push(`${bucket}/${key}: other bytes`)
    } catch (error) {
      missing.push(`${bucket}/${key}: ${error}`)
    }
  }
  await data.close()
  return missing
}

export const metadataFile = (path: string): string => join(path, 'meta', 'data.mdb')

/** What `from` is, with other metadata, in the place of `to`: a data directory that has moved is refused. */
export async function placeCopy(from: string, to: string, whole: Buffer): Promise<void> {
  await rm(to, { recursive: true, force: true })
  await cp(from, to, { recursive: true, filter: (name) => !name.endsWith('.sock') })
  await writeFile(metadataFile(to), whole)
}

/** The metadata as it was, in the place of what a copy has become, and what its store knew of it: only what became of the data stays. */
export async function putMetadataBack(from: string, to: string): Promise<void> {
  await rm(join(to, 'meta'), { recursive: true })
  await mkdir(join(to, 'meta'))
  for (const name of ['data.mdb', 'commits.marks']) await copyFile(join(from, 'meta', name), join(to, 'meta', name))
  for (const [store, removes] of [
    [join(to, 'store'), true],
    [join(from, 'store'), false],
  ] as const) {
    for (const name of await readdir(store)) {
      if (!name.startsWith('holdfast-')) continue
      if (removes) await rm(join(store, name))
      else await copyFile(join(store, name), join(to, 'store', name))
    }
  }
}

export const strata = ['meta', 'branch', 'leaf header', 'key', 'value', 'long value'] as const
export type Stratum = (typeof strata)[number]

export interface Flip {
  stratum: Stratum
  at: number
  bit: number
}

/** From, to: bytes of the file. */
type Site = readonly [number, number]

const pageBytes = 4096
const headBytes = 24

/** Where bytes of each stratum lie. */
export async function sitesOf(whole: Buffer): Promise<ReadonlyMap<Stratum, Site[]>> {
  const pages = memoryPages(whole)
  const meta = await newestMeta(pages)
  const sites = new Map<Stratum, Site[]>(strata.map((stratum) => [stratum, []]))
  const add = (stratum: Stratum, from: number, to: number): void => {
    if (to > from) sites.get(stratum)?.push([from, to])
  }
  for (const page of [0, 1]) add('meta', page * pageBytes, page * pageBytes + 160)
  const walk = async (number: number, level: number, depth: number): Promise<void> => {
    const { nodes, bytes, isLeaf } = readTreePage(await pages.read(number, 1), number, level === depth, {
      pageBytes,
      limit: meta.lastPage + 1,
    })
    const start = number * pageBytes
    if (!isLeaf) {
      add('branch', start, start + bytes.readUInt16LE(20) + headBytes)
      add('branch', start + bytes.readUInt16LE(22) + headBytes, start + pageBytes)
      for (const { child } of nodes) await walk(child, level + 1, depth)
      return
    }
    add('leaf header', start, start + bytes.readUInt16LE(20) + headBytes)
    for (const { keyAt, keyBytes, valueAt, valueBytes, overflowPage, overflowPages } of nodes) {
      add('leaf header', start + keyAt - 8, start + keyAt)
      add('key', start + keyAt, start + keyAt + keyBytes)
      add('value', start + valueAt, start + valueAt + valueBytes)
      if (overflowPage !== 0) add('long value', overflowPage * pageBytes, (overflowPage + overflowPages) * pageBytes)
    }
  }
  await walk(meta.main.root, 1, meta.main.depth)
  await walk(meta.free.root, 1, meta.free.depth)
  return sites
}

export function pickFlip(sites: ReadonlyMap<Stratum, Site[]>, stratum: Stratum, random: () => number): Flip {
  const places = sites.get(stratum) ?? []
  const [from, to] = places[Math.floor(random() * places.length)] ?? [0, 1]
  return { stratum, at: from + Math.floor(random() * (to - from)), bit: Math.floor(random() * 8) }
}

/** Twice is as if never. */
export function flip(whole: Buffer, { at, bit }: Flip): void {
  whole[at] = (whole[at] ?? 0) ^ (1 << bit)
}

export const readWhole = (path: string): Promise<Buffer> => readFile(metadataFile(path))
