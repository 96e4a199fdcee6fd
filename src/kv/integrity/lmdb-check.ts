/**
 * Reads a metadata file's newest commit, or one that a reader holds, page by page, and verifies it: the pages, their order, the digest of all entries
 * (`tree-digest`), and each record's own checksum. Throws `MetadataDamaged` on the first fault in the tree.
 */
import { crc32c } from '@node-rs/crc32'
import { known } from '../../known.ts'
import type { Key } from '../kv.ts'
import {
  type FileShape,
  freePages,
  type Meta,
  type Node,
  noPage,
  overflowValue,
  type PageSource,
  readCount,
  readTreePage,
  type Tree,
  type TreePage,
} from './lmdb-pages.ts'
import { MetadataDamaged } from './metadata-damaged.ts'
import { areEqual, type DigestSums, DigestTally, digestKey, type TreeDigest, unpackDigest } from './tree-digest.ts'

export interface CheckOptions {
  /** Whether a record is what was written under its key. Key and value are valid only during the call. */
  isWhole(key: Key, value: Buffer): boolean
  /** Called before each read with its size. Can delay it, or throw to end the check. */
  pace?(bytes: number): Promise<void>
}

export interface TreeFound {
  sums: DigestSums
  /** The digest in the file; `undefined` when it has none. */
  digest: TreeDigest | undefined
  /** Keys of the first records whose checksum is wrong. */
  damagedRecords: Key[]
  damagedCount: number
}

const versionBytes = 8
const damagedKeysKept = 100

/** Does not compare the digest with the sums that it finds: only the caller knows what the file should hold. */
export async function readTree(pages: PageSource, meta: Meta, options: CheckOptions): Promise<TreeFound> {
  const walk = new Walk(pages, meta, options)
  await walk.freeTree()
  return walk.mainTree()
}

/**
 * Throws `MetadataDamaged` unless the sums that were found match the file's own digest. An older version of this program writes no digest. After it has
 * written, the file's digest belongs to an earlier commit, and there is nothing to compare.
 */
export function compareDigest({ txnId }: Meta, { sums, digest }: TreeFound): void {
  if (digest === undefined || digest.since !== 0 || digest.txnId !== txnId) return
  if (areEqual(sums, digest)) return
  throw new MetadataDamaged(
    sums.entries === digest.entries
      ? 'some of its entries are not those that were committed'
      : `${sums.entries} entries can be found in it, and ${digest.entries} were committed`,
  )
}

/** Reads only the pages from the root to the digest, so the time does not depend on the size of the file. */
export async function readDigest(pages: PageSource, { main, txnId, lastPage }: Meta): Promise<TreeDigest | undefined> {
  if (main.root === noPage) return undefined
  const shape = { pageBytes: pages.pageBytes, limit: lastPage + 1 }
  for (let next = main.root, level = 1; level <= main.depth; level++) {
    const page = readTreePage(await pages.read(next, 1), next, level === main.depth, shape)
    const last = page.nodes.at(-1)
    if (page.txnId > txnId) throw new MetadataDamaged(`page ${next} is of a later commit`)
    if (last === undefined) throw new MetadataDamaged(`page ${next} is empty`)
    if (page.isLeaf) return digestOf(page, last)
    next = last.child
  }
  return undefined
}

function digestOf({ bytes, number }: TreePage, last: Node): TreeDigest | undefined {
  return keyOf(bytes, last).equals(digestKey) ? readDigestValue(storedValue(bytes, last), number) : undefined
}

function readDigestValue(value: Buffer, page: number): TreeDigest {
  const digest = unpackDigest(value.subarray(versionBytes))
  if (digest === undefined) throw new MetadataDamaged(`page ${page}: the digest of all entries is damaged`)
  return digest
}

const keyOf = (bytes: Buffer, { keyAt, keyBytes }: Node): Key => bytes.subarray(keyAt, keyAt + keyBytes)
const storedValue = (bytes: Buffer, { valueAt, valueBytes }: Node): Buffer =>
  bytes.subarray(valueAt, valueAt + valueBytes)

/** The range in which the keys of a page must lie. */
interface Bounds {
  /** Inclusive. */
  from: Key
  /** Exclusive. `undefined`: unbounded. */
  to: Key | undefined
}

interface Found {
  branch: number
  leaf: number
  overflow: number
  entries: number
}

/** Every page that is free. Throws `MetadataDamaged`. */
export async function freePagesOf(pages: PageSource, meta: Meta): Promise<ReadonlySet<number>> {
  const free = new Set<number>()
  const walk = new Walk(pages, meta, { isWhole: () => true })
  await walk.freeTree((page) => free.add(page))
  return free
}

class Walk {
  readonly #pages: PageSource
  readonly #meta: Meta
  readonly #options: CheckOptions
  readonly #shape: FileShape
  /** One bit per page, set when the page is in use or known to be free. */
  readonly #taken: Uint8Array
  readonly #tally = new DigestTally()
  readonly #damagedRecords: Key[] = []
  #damagedCount = 0
  #digest: TreeDigest | undefined

  constructor(pages: PageSource, meta: Meta, options: CheckOptions) {
    this.#pages = pages
    this.#meta = meta
    this.#options = options
    this.#shape = { pageBytes: pages.pageBytes, limit: meta.lastPage + 1 }
    this.#taken = new Uint8Array(Math.ceil(this.#shape.limit / 8))
    this.#take(0, 2)
  }

  async freeTree(found: (page: number) => void = () => {}): Promise<void> {
    const { free, main, txnId, lastPage } = this.#meta
    await this.#tree(free, 'numbers', (_, value) => {
      for (const { page, count } of freePages(value)) {
        if (page + count - 1 > lastPage) throw new MetadataDamaged(`page ${page} is free, and behind the last one`)
        this.#take(page, count)
        for (let each = page; each < page + count; each++) found(each)
      }
    })
    // Each commit writes at least one tree's root.
    const roots = await Promise.all([free, main].map(({ root }) => (root === noPage ? 0 : this.#txnIdOf(root))))
    const newest = Math.max(...roots)
    if (txnId > 1 && newest !== txnId) {
      throw new MetadataDamaged(`its meta page names commit ${txnId}, its pages are of ${newest}`)
    }
  }

  async #txnIdOf(page: number): Promise<number> {
    const bytes = await this.#pages.read(page, 1)
    return bytes.length < this.#pages.pageBytes ? 0 : readCount(bytes, 8)
  }

  async mainTree(): Promise<TreeFound> {
    await this.#tree(this.#meta.main, 'bytes', (key, stored, page) => this.#entry(key, stored, page))
    return {
      sums: this.#tally.sums,
      digest: this.#digest,
      damagedRecords: this.#damagedRecords,
      damagedCount: this.#damagedCount,
    }
  }

  #entry(key: Key, stored: Buffer, page: number): void {
    if (stored.length < versionBytes) throw new MetadataDamaged(`page ${page}: an entry without a version`)
    if (key.equals(digestKey)) {
      this.#digest = readDigestValue(stored, page)
      return
    }
    this.#tally.addStored(crc32c(key), stored.readInt32LE(0), stored.readInt32LE(4), 1)
    if (this.#options.isWhole(key, stored.subarray(versionBytes))) return
    this.#damagedCount++
    if (this.#damagedRecords.length < damagedKeysKept) this.#damagedRecords.push(Buffer.from(key))
  }

  async #tree(
    tree: Tree,
    order: 'bytes' | 'numbers',
    entry: (key: Key, value: Buffer, page: number) => void,
  ): Promise<void> {
    const found: Found = { branch: 0, leaf: 0, overflow: 0, entries: 0 }
    if (tree.root !== noPage) {
      const walk = new TreeWalk(tree.depth, order, found, entry, {
        read: (page, count) => this.#read(page, count),
        take: (page, count) => this.#take(page, count),
        shape: this.#shape,
      })
      await walk.page(tree.root, this.#meta.txnId)
    }
    const isSame =
      found.branch === tree.branchPages &&
      found.leaf === tree.leafPages &&
      found.overflow === tree.overflowPages &&
      found.entries === tree.entries
    if (!isSame) {
      const { branch, leaf, overflow, entries } = found
      throw new MetadataDamaged(
        `its tree has ${branch} + ${leaf} + ${overflow} pages with ${entries} entries, and should have ${tree.branchPages} + ${tree.leafPages} + ${tree.overflowPages} with ${tree.entries}`,
      )
    }
  }

  async #read(page: number, count: number): Promise<Buffer> {
    await this.#options.pace?.(count * this.#pages.pageBytes)
    return this.#pages.read(page, count)
  }

  #take(first: number, count: number): void {
    for (let page = first; page < first + count; page++) {
      const byte = page >>> 3
      const bit = 1 << (page & 7)
      const taken = this.#taken[byte] ?? 0xff
      if ((taken & bit) !== 0) throw new MetadataDamaged(`page ${page} is in use twice, or free and in use`)
      this.#taken[byte] = taken | bit
    }
  }
}

interface PageAccess {
  read(page: number, count: number): Promise<Buffer>
  take(page: number, count: number): void
  shape: FileShape
}

/** The number of pages to read at once. */
const runPagesMax = 64

/** One tree of the file, in order of its keys. */
class TreeWalk {
  readonly #depth: number
  readonly #order: 'bytes' | 'numbers'
  readonly #found: Found
  readonly #entry: (key: Key, value: Buffer, page: number) => void
  readonly #access: PageAccess
  #last: Key | undefined

  constructor(
    depth: number,
    order: 'bytes' | 'numbers',
    found: Found,
    entry: (key: Key, value: Buffer, page: number) => void,
    access: PageAccess,
  ) {
    this.#depth = depth
    this.#order = order
    this.#found = found
    this.#entry = entry
    this.#access = access
  }

  async page(root: number, txnIdMax: number): Promise<void> {
    const bytes = await this.#access.read(root, 1)
    await this.#below(bytes, root, 1, { from: Buffer.alloc(0), to: undefined }, txnIdMax)
  }

  async #below(bytes: Buffer, number: number, level: number, bounds: Bounds, txnIdMax: number): Promise<void> {
    const isLeaf = level === this.#depth
    this.#access.take(number, 1)
    const page = readTreePage(bytes, number, isLeaf, this.#access.shape)
    // A commit that writes a page also writes all pages above it.
    if (page.txnId > txnIdMax) throw new MetadataDamaged(`page ${number} is of a later commit than the one above it`)
    if (page.nodes.length === 0) throw new MetadataDamaged(`page ${number} is empty`)
    if (isLeaf) await this.#leaf(page, bounds)
    else await this.#branch(page, level, bounds)
  }

  async #branch(page: TreePage, level: number, bounds: Bounds): Promise<void> {
    this.#found.branch++
    const { nodes, bytes, number, txnId } = page
    const keys = nodes.map((node) => keyOf(bytes, node))
    const below = keys.map((key, i): Bounds => ({ from: i === 0 ? bounds.from : key, to: keys[i + 1] ?? bounds.to }))
    for (const { from, to } of below) {
      if (to !== undefined && this.#compare(from, to) >= 0) throw outOfOrder(number)
    }
    const children = nodes.map(({ child }) => child)
    for (let at = 0; at < children.length; at += runPagesMax) {
      const some = children.slice(at, at + runPagesMax)
      const read = await readAll(this.#access, some)
      for (const [i, child] of some.entries()) {
        const [childBytes, childBounds] = [read[i], below[at + i]]
        if (childBytes !== undefined && childBounds !== undefined) {
          await this.#below(childBytes, child, level + 1, childBounds, txnId)
        }
      }
    }
  }

  async #leaf(page: TreePage, { from, to }: Bounds): Promise<void> {
    this.#found.leaf++
    const { nodes, bytes, number } = page
    const first = keyOf(bytes, known(nodes[0]))
    const last = keyOf(bytes, known(nodes.at(-1)))
    if (this.#compare(first, from) < 0 || (to !== undefined && this.#compare(last, to) >= 0)) throw outOfOrder(number)
    for (const node of nodes) {
      const key = keyOf(bytes, node)
      if (this.#last !== undefined && this.#compare(this.#last, key) >= 0) throw outOfOrder(number)
      this.#last = key
      this.#found.entries++
      // Only long values need another read, and so a turn of the event loop.
      const value = node.overflowPage === 0 ? storedValue(bytes, node) : await this.#longValue(bytes, node)
      this.#entry(key, value, number)
    }
  }

  async #longValue(bytes: Buffer, node: Node): Promise<Buffer> {
    this.#access.take(node.overflowPage, node.overflowPages)
    this.#found.overflow += node.overflowPages
    return overflowValue(await this.#access.read(node.overflowPage, node.overflowPages), bytes, node)
  }

  #compare(one: Key, other: Key): number {
    if (this.#order === 'bytes') return Buffer.compare(one, other)
    const [a, b] = [numberOf(one), numberOf(other)]
    return a < b ? -1 : a > b ? 1 : 0
  }
}

function numberOf(key: Key): number {
  if (key.length === 0) return -1
  if (key.length !== 8) throw new MetadataDamaged('a list of free pages has no number')
  return readCount(key, 0)
}

const outOfOrder = (page: number): MetadataDamaged => new MetadataDamaged(`page ${page}: its keys are out of order`)

/** Reads adjacent pages together. */
async function readAll({ read, shape }: PageAccess, wanted: readonly number[]): Promise<(Buffer | undefined)[]> {
  const { pageBytes } = shape
  const order = wanted.map((page, place) => ({ page, place })).sort((a, b) => a.page - b.page)
  const found = new Array<Buffer | undefined>(wanted.length)
  const reads: Promise<void>[] = []
  for (let i = 0; i < order.length; ) {
    let end = i + 1
    while (end < order.length && order[end]?.page === (order[end - 1]?.page ?? 0) + 1) end++
    const run = order.slice(i, end)
    reads.push(
      read(run[0]?.page ?? 0, run.length).then((bytes) => {
        for (const [at, { place }] of run.entries()) found[place] = bytes.subarray(at * pageBytes, (at + 1) * pageBytes)
      }),
    )
    i = end
  }
  await Promise.all(reads)
  return found
}
