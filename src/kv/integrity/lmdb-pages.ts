/**
 * The layout of LMDB's file, as the fork in lmdb-js writes it on 64-bit little-endian machines: meta pages, page headers, entries. Reads bytes only,
 * never through LMDB's own code, which can crash on a damaged page. Throws `MetadataDamaged` on what cannot be.
 */
import type { FileHandle } from 'node:fs/promises'
import { MetadataDamaged } from './metadata-damaged.ts'

/** The source of pages: the file, or a copy of it in memory. */
export interface PageSource {
  /** `count` whole pages from `page` on; fewer at the end of the file. */
  read(page: number, count: number): Promise<Buffer>
  readonly bytes: number
  readonly pageBytes: number
}

/** Address space, not memory or disk. Fixed, so that no process ever remaps the file under a reader. */
export const mapBytes = 1024 ** 4

/** LMDB uses the page size of the machine that creates the file: 4 KiB, or 16 KiB on some ARM machines. */
const pageSizes = [4096, 8192, 16_384, 32_768] as const
const pageSizeAt = 48

/** The page size in the first meta page. If it is one that LMDB never uses, returns the first of `pageSizes`, and `readMeta` reports the fault. */
function pageSizeIn(head: Buffer): number {
  const bytes = head.length < pageSizeAt + 4 ? 0 : head.readUInt32LE(pageSizeAt)
  return pageSizes.find((size) => size === bytes) ?? pageSizes[0]
}

/** Where a meta page names its commit. */
const metaTxnIdAt = 152
/** How much of a meta page `commitOfMeta` reads. */
export const metaBytesRead = metaTxnIdAt + 8

/** `undefined` for an empty file. */
export async function pageBytesOf(file: FileHandle): Promise<number | undefined> {
  const { buffer: head, bytesRead } = await file.read(Buffer.alloc(metaBytesRead), 0, metaBytesRead, 0)
  return bytesRead === 0 ? undefined : pageSizeIn(head.subarray(0, bytesRead))
}

/** Of a page that LMDB has written: it is not verified. */
export const commitOfMeta = (page: Buffer): number => readCount(page, metaTxnIdAt)

const headerBytes = 24
const nodeHeadBytes = 8
export const noPage = -1

const branchFlag = 0x01
const leafFlag = 0x02
const overflowFlag = 0x04
const metaFlag = 0x08
const bigDataFlag = 0x01
/** Flags of the main tree: versions precede values. */
const mainTreeFlags = 0x100
/** Flags of the tree of free pages: keys are numbers. */
const freeTreeFlags = 0x08
const magic = 0xbeefc0de
const dataVersion = 2
/** The first two pages are meta pages. */
const firstDataPage = 2
/** LMDB's own limit. */
const depthMax = 32

export interface Tree {
  depth: number
  branchPages: number
  leafPages: number
  overflowPages: number
  entries: number
  /** `noPage` when the tree is empty. */
  root: number
}

export interface Meta {
  txnId: number
  lastPage: number
  free: Tree
  main: Tree
}

export interface Node {
  /** Offset in the page. */
  keyAt: number
  keyBytes: number
  /** Branch: the page below. */
  child: number
  /** Leaf: offset of the value's bytes, if they are in the page. */
  valueAt: number
  valueBytes: number
  /** Leaf: the first page of a value that has its own pages; otherwise 0. */
  overflowPage: number
  overflowPages: number
}

/** Reads from an open file. */
export async function filePages(file: FileHandle, bytes: number): Promise<PageSource> {
  const { buffer: head, bytesRead } = await file.read(Buffer.alloc(pageSizes[0]), 0, pageSizes[0], 0)
  const pageBytes = pageSizeIn(head.subarray(0, bytesRead))
  return {
    bytes,
    pageBytes,
    async read(page, count) {
      const buffer = Buffer.allocUnsafe(count * pageBytes)
      let filled = 0
      while (filled < buffer.length) {
        const { bytesRead } = await file.read(buffer, filled, buffer.length - filled, page * pageBytes + filled)
        if (bytesRead === 0) break
        filled += bytesRead
      }
      return buffer.subarray(0, filled)
    },
  }
}

export function memoryPages(whole: Buffer): PageSource {
  const pageBytes = pageSizeIn(whole)
  return {
    bytes: whole.length,
    pageBytes,
    read: async (page, count) => whole.subarray(page * pageBytes, (page + count) * pageBytes),
  }
}

/** The commit that LMDB would consider the newest. Throws unless LMDB can have written both meta pages. */
export async function newestMeta(pages: PageSource): Promise<Meta> {
  const { pageBytes } = pages
  const both = await settled(pages)
  if (both.length < firstDataPage * pageBytes) throw new MetadataDamaged('it ends within its first two pages')
  const metas = [readMeta(both.subarray(0, pageBytes), 0), readMeta(both.subarray(pageBytes), 1)] as const
  const [even, odd] = metas
  const newest = odd.txnId > even.txnId ? odd : even
  const older = newest === odd ? even : odd
  // Commits alternate between the meta pages. A new file has its first two commits, or none.
  if (newest.txnId > 1 && (newest.txnId - older.txnId !== 1 || newest.txnId % 2 !== (newest === odd ? 1 : 0))) {
    throw new MetadataDamaged(`its two meta pages name the commits ${even.txnId} and ${odd.txnId}`)
  }
  // Not those of the older one: when LMDB fails to write a meta page, it puts back the id of the earlier commit, but not its trees.
  requireTrees(newest, newest === odd ? 1 : 0)
  return newest
}

/** Reads the meta pages until two reads agree, because a commit may be writing one of them. */
async function settled(pages: PageSource): Promise<Buffer> {
  for (let before = await pages.read(0, firstDataPage); ; ) {
    const now = await pages.read(0, firstDataPage)
    if (now.equals(before)) return now
    before = now
  }
}

function readMeta(page: Buffer, place: 0 | 1): Meta {
  const wrong = (what: string): MetadataDamaged => new MetadataDamaged(`meta page ${place}: ${what}`)
  if (readCount(page, 0) !== place || page.readUInt16LE(18) !== metaFlag) throw wrong('its head is no meta page')
  if (page.readUInt32LE(24) !== magic) throw wrong('no file of LMDB')
  if ((page.readUInt32LE(28) & 0xffff) !== dataVersion) throw wrong('an unknown format')
  const pageBytes = page.readUInt32LE(pageSizeAt)
  if (pageBytes !== page.length) throw wrong(`pages of ${pageBytes} bytes`)
  const lastPage = readCount(page, 144)
  if ((lastPage + 1) * pageBytes > mapBytes) throw wrong(`its last page, ${lastPage}, is behind LMDB's map`)
  const tree = (at: number, flags: number): Tree => {
    const found = page.readUInt16LE(at + 4)
    const isNew = readCount(page, metaTxnIdAt) === 0 && found === 0
    if (found !== flags && !isNew) throw wrong(`a tree has the flags ${found}`)
    return {
      depth: page.readUInt16LE(at + 6),
      branchPages: readCount(page, at + 8),
      leafPages: readCount(page, at + 16),
      overflowPages: readCount(page, at + 24),
      entries: readCount(page, at + 32),
      root: page.readBigUInt64LE(at + 40) === 0xffffffffffffffffn ? noPage : readCount(page, at + 40),
    }
  }
  const meta = {
    txnId: readCount(page, metaTxnIdAt),
    lastPage,
    free: tree(48, freeTreeFlags),
    main: tree(96, mainTreeFlags),
  }
  return meta
}

function requireTrees({ free, main, lastPage }: Meta, place: 0 | 1): void {
  const wrong = (what: string): MetadataDamaged => new MetadataDamaged(`meta page ${place}: ${what}`)
  for (const { depth, root } of [free, main]) {
    if (depth > depthMax || (root === noPage) !== (depth === 0)) throw wrong(`a tree of depth ${depth}`)
    if (root !== noPage && (root < firstDataPage || root > lastPage)) throw wrong(`a tree at page ${root}`)
  }
}

/** Throws for a number beyond 2 ** 53, which no real file contains. */
export function readCount(bytes: Buffer, at: number): number {
  return bytes.readUInt32LE(at) + bytes.readUInt32LE(at + 4) * 2 ** 32
}

/** A page of a tree. */
export interface TreePage {
  number: number
  bytes: Buffer
  isLeaf: boolean
  /** The commit that wrote the page. */
  txnId: number
  nodes: Node[]
}

/** The bounds that pages and entries must keep. */
export interface FileShape {
  pageBytes: number
  /** The number of pages in the file. */
  limit: number
}

export function readTreePage(
  bytes: Buffer,
  number: number,
  isLeaf: boolean,
  { pageBytes, limit }: FileShape,
): TreePage {
  const wrong = (what: string): MetadataDamaged => new MetadataDamaged(`page ${number}: ${what}`)
  if (bytes.length !== pageBytes) throw wrong('the file ends before it')
  if (readCount(bytes, 0) !== number) throw wrong(`it says that it is page ${readCount(bytes, 0)}`)
  if (bytes.readUInt16LE(18) !== (isLeaf ? leafFlag : branchFlag)) throw wrong(`it is no ${isLeaf ? 'leaf' : 'branch'}`)
  const bodyBytes = pageBytes - headerBytes
  const lower = bytes.readUInt16LE(20)
  const upper = bytes.readUInt16LE(22)
  if (lower % 2 !== 0 || lower > upper || upper > bodyBytes) throw wrong('the bounds of its free room are wrong')
  const nodes = new Array<Node>(lower / 2)
  let used = 0
  for (let i = 0; i < nodes.length; i++) {
    const at = bytes.readUInt16LE(headerBytes + 2 * i)
    if (at < upper || at % 2 !== 0 || at + nodeHeadBytes > bodyBytes) throw wrong('an entry lies outside')
    const node = readNode(bytes, headerBytes + at, isLeaf, limit)
    if (node === undefined) throw wrong('an entry is longer than its page, or of an unknown kind')
    const size = nodeHeadBytes + node.keyBytes + (isLeaf ? node.valueBytes : 0)
    used += size + (size % 2)
    nodes[i] = node
  }
  if (used !== bodyBytes - upper) throw wrong('its entries do not fill the room that it says they take')
  return { number, bytes, isLeaf, txnId: readCount(bytes, 8), nodes }
}

function readNode(bytes: Buffer, at: number, isLeaf: boolean, limit: number): Node | undefined {
  const pageBytes = bytes.length
  const low = bytes.readUInt32LE(at)
  const flags = bytes.readUInt16LE(at + 4)
  const keyBytes = bytes.readUInt16LE(at + 6)
  const keyAt = at + nodeHeadBytes
  const valueAt = keyAt + keyBytes
  if (!isLeaf) {
    const child = low + flags * 2 ** 32
    if (valueAt > pageBytes || child < firstDataPage || child >= limit) return undefined
    return { keyAt, keyBytes, child, valueAt, valueBytes: 0, overflowPage: 0, overflowPages: 0 }
  }
  const node: Node = { keyAt, keyBytes, child: 0, valueAt, valueBytes: low, overflowPage: 0, overflowPages: 0 }
  if (flags === 0) return valueAt + low > pageBytes ? undefined : node
  if (flags !== bigDataFlag || valueAt + headerBytes > pageBytes) return undefined
  node.valueBytes = headerBytes
  node.overflowPage = readCount(bytes, valueAt)
  node.overflowPages = readCount(bytes, valueAt + 16)
  // The number of pages that LMDB uses for a value of this length.
  const isFitting = node.overflowPages === Math.floor((headerBytes - 1 + low) / pageBytes) + 1
  if (!isFitting || node.overflowPage < firstDataPage || node.overflowPage + node.overflowPages > limit)
    return undefined
  return node
}

/** The bytes of a value that has its own pages. `leaf` is the page whose entry refers to it; the third argument is that entry. */
export function overflowValue(pages: Buffer, leaf: Buffer, { keyAt, overflowPage, overflowPages }: Node): Buffer {
  const wrong = (what: string): MetadataDamaged => new MetadataDamaged(`page ${overflowPage}: ${what}`)
  const length = leaf.readUInt32LE(keyAt - nodeHeadBytes)
  if (pages.length < headerBytes + length) throw wrong('the file ends before it')
  if (readCount(pages, 0) !== overflowPage) throw wrong(`it says that it is page ${readCount(pages, 0)}`)
  if (pages.readUInt16LE(18) !== overflowFlag || pages.readUInt32LE(20) !== overflowPages) throw wrong('no long value')
  return pages.subarray(headerBytes, headerBytes + length)
}

/** The pages in a record of the tree of free pages, in any order: page numbers, and runs as minus their length followed by their first page. */
export function* freePages(value: Buffer): Generator<{ page: number; count: number }> {
  const wrong = (): MetadataDamaged => new MetadataDamaged('a list of free pages is damaged')
  if (value.length < 8 || value.length % 8 !== 0) throw wrong()
  const count = Number(value.readBigInt64LE(0))
  if (count < 0 || count >= value.length / 8) throw wrong()
  for (let i = 1; i <= count; i++) {
    const word = Number(value.readBigInt64LE(8 * i))
    if (word === 0) continue
    if (word > 0) yield { page: word, count: 1 }
    else {
      if (i === count) throw wrong()
      const page = Number(value.readBigInt64LE(8 * ++i))
      if (page <= 0) throw wrong()
      yield { page, count: -word }
    }
  }
}
