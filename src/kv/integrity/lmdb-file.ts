/** Inspects the metadata file before LMDB maps it, and refuses a file on which LMDB would crash or return an older tree. The time does not depend on its size. */
import { open } from 'node:fs/promises'
import type { CommitMarks } from './commit-marks.ts'
import { freePagesOf, readDigest } from './lmdb-check.ts'
import { filePages, type Meta, newestMeta, type PageSource } from './lmdb-pages.ts'
import { MetadataDamaged } from './metadata-damaged.ts'
import type { TreeDigest } from './tree-digest.ts'

export const dataFileName = 'data.mdb'

/** Runs `use` on the file as it is now; `undefined` when the file is missing or empty. */
export async function withFile<T>(path: string, use: (pages: PageSource) => Promise<T>): Promise<T | undefined> {
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (file === undefined) return undefined
  try {
    const { size } = await file.stat()
    return size === 0 ? undefined : await use(await filePages(file, size))
  } finally {
    await file.close()
  }
}

/** Throws `MetadataDamaged`, whose message names the file. */
export async function inspectFile(path: string, marks: CommitMarks): Promise<void> {
  // Read the marks first: other processes can commit in between, and the file is never behind the marks.
  for (let before: number | undefined; ; ) {
    const newest = await marks.newest()
    let seen: number | undefined
    try {
      const found = await withFile(path, async (pages) => {
        const meta = await newestMeta(pages)
        seen = meta.txnId
        await requireLength(pages, meta)
        requireNotBehind(meta, await readDigest(pages, meta), newest)
        return meta
      })
      if (found === undefined && newest !== undefined) throw new MetadataDamaged('it is not there, or empty')
      return
    } catch (error) {
      if (!(error instanceof MetadataDamaged)) throw error
      // No reader holds the commit, so newer ones may have overwritten it during the read. Try again unless it is still the newest.
      if (seen === undefined || seen === before) throw damagedFile(path, error.message)
      before = seen
    }
  }
}

/** The error that names the file, the damage, and what to do. */
export function damagedFile(path: string, found: string): MetadataDamaged {
  return new MetadataDamaged(
    `the metadata file ${path} is damaged: ${found}. Move its directory away and run holdfast restore with a backup, or holdfast recover`,
  )
}

/** Free pages at the end of the file may never have been written. */
async function requireLength(pages: PageSource, meta: Meta): Promise<void> {
  const { pageBytes } = pages
  const whole = (meta.lastPage + 1) * pageBytes
  if (pages.bytes >= whole) return
  const cutOff = new MetadataDamaged(`it is cut off: it has ${pages.bytes} of ${whole} bytes`)
  const free = await freePagesOf(pages, meta).catch(() => {
    throw cutOff
  })
  for (let page = Math.floor(pages.bytes / pageBytes); page <= meta.lastPage; page++) {
    if (!free.has(page)) throw cutOff
  }
}

/** `newest`: the newest commit in the marks. */
export function requireNotBehind(
  { txnId }: Meta,
  digest: TreeDigest | undefined,
  newest: TreeDigest | undefined,
): void {
  if (digest !== undefined && digest.txnId > txnId) {
    throw new MetadataDamaged(`its digest is of commit ${digest.txnId}, its newest commit is ${txnId}`)
  }
  if (newest === undefined) return
  if (txnId < newest.txnId || digest === undefined || digest.txnId < newest.txnId) {
    throw new MetadataDamaged(
      `it shows commit ${Math.min(txnId, digest?.txnId ?? 0)}, and commit ${newest.txnId} was made`,
    )
  }
}
