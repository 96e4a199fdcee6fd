/** Deletes many objects in batches, folders with everything below them, and reports its progress. */
import { signal } from '@preact/signals'
import { deleteMany, type FailedDelete, listObjects, listVersions, type ObjectPage } from '../api/objects.ts'
import type { Row } from './listing.ts'

/** The most that S3 takes in one request. */
const batchMax = 1000

interface Target {
  key: string
  versionId?: string
}

export class DeleteRun {
  readonly deleted = signal(0)
  readonly failed = signal<readonly FailedDelete[]>([])
  readonly isOver = signal(false)
  readonly #bucket: string
  readonly #versions: boolean
  #stopped = false

  /** `versions`: removes every version in folders for good. Otherwise, only the current objects are deleted. */
  constructor(bucket: string, versions: boolean) {
    this.#bucket = bucket
    this.#versions = versions
  }

  stop(): void {
    this.#stopped = true
  }

  /** Rejects when a listing or a whole request fails. `failed` has the keys that were refused, with the reasons. */
  async run(rows: readonly Row[]): Promise<void> {
    try {
      const objects = rows.flatMap((row): Target[] => (row.is === 'folder' ? [] : [targetOf(row)]))
      for (let i = 0; i < objects.length; i += batchMax) await this.#remove(objects.slice(i, i + batchMax))
      for (const row of rows) if (row.is === 'folder') await this.#removeBelow(row.key)
    } finally {
      this.isOver.value = true
    }
  }

  async #removeBelow(prefix: string): Promise<void> {
    let next: ObjectPage<Target>['next'] = {}
    while (next !== undefined && !this.#stopped) {
      const of = { bucket: this.#bucket, prefix, next }
      const page: Pick<ObjectPage<Target>, 'entries' | 'next'> = this.#versions
        ? await listVersions(of)
        : await listObjects(of)
      await this.#remove(page.entries.map(targetOf))
      next = page.next
    }
  }

  async #remove(targets: Target[]): Promise<void> {
    if (targets.length === 0 || this.#stopped) return
    const failed = await deleteMany(this.#bucket, targets)
    this.failed.value = [...this.failed.value, ...failed]
    this.deleted.value += targets.length - failed.length
  }
}

const targetOf = ({ key, versionId }: Target): Target => ({ key, ...(versionId === undefined ? {} : { versionId }) })
