/** What only the order of keys shows: each page is whole, every entry is there, and LMDB finds none of those that lie in a wrong place. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { compareDigest, readTree } from '../../../src/kv/integrity/lmdb-check.ts'
import { memoryPages, newestMeta, readTreePage, type TreePage } from '../../../src/kv/integrity/lmdb-pages.ts'
import { openLmdb } from '../../../src/kv/lmdb.ts'
import { put } from '../text-entries.ts'

const pageBytes = 4096
const headBytes = 24

let whole: Buffer
beforeAll(async () => {
  const path = await mkdtemp(join(tmpdir(), 'holdfast-order-'))
  const kv = await openLmdb({
    path,
    onFatal: (error) => {
      throw error
    },
  })
  await kv.commit({ puts: Array.from({ length: 5000 }, (_, i) => put(`entry/${String(i).padStart(5, '0')}`, `${i}`)) })
  await kv.close()
  whole = await readFile(join(path, 'data.mdb'))
  await rm(path, { recursive: true })
})

/** The page on the way to the middle of all keys, `level` below the root. */
async function pageAt(bytes: Buffer, level: number): Promise<TreePage> {
  const pages = memoryPages(bytes)
  const { main, lastPage } = await newestMeta(pages)
  const shape = { pageBytes, limit: lastPage + 1 }
  for (let number = main.root, at = 1; ; at++) {
    const page = readTreePage(await pages.read(number, 1), number, at === main.depth, shape)
    if (at === level + 1) return page
    number = page.nodes[Math.floor(page.nodes.length / 2)]?.child ?? 0
  }
}

/** Entries stand in the order of two bytes each behind the page's head. */
function swapEntries(bytes: Buffer, { number, nodes }: TreePage): void {
  const middle = Math.floor(nodes.length / 2)
  const at = number * pageBytes + headBytes + 2 * middle
  const [one, next] = [bytes.readUInt16LE(at), bytes.readUInt16LE(at + 2)]
  bytes.writeUInt16LE(next, at)
  bytes.writeUInt16LE(one, at + 2)
}

async function verdict(bytes: Buffer): Promise<string> {
  const pages = memoryPages(bytes)
  const meta = await newestMeta(pages)
  try {
    compareDigest(meta, await readTree(pages, meta, { isWhole: () => true }))
    return 'whole'
  } catch (error) {
    return String(error)
  }
}

describe('two neighbours that have changed places', () => {
  it.each([
    ['in a leaf, which the digest does not see', 1],
    ['in a branch', 0],
  ])('are found: %s', async (_, level) => {
    const bytes = Buffer.from(whole)
    expect(await verdict(bytes)).toBe('whole')
    const page = await pageAt(bytes, level)
    expect(page.isLeaf).toBe(level === 1)
    expect(page.nodes.length).toBeGreaterThan(3)
    swapEntries(bytes, page)
    expect(await verdict(bytes)).toContain(`page ${page.number}: its keys are out of order`)
    swapEntries(bytes, page)
    expect(await verdict(bytes)).toBe('whole')
  })
})
