/** Downloads many objects as one archive. It reads them in ranges, so that it can pause, and continue after a lost connection. */
import { signal } from '@preact/signals'
import { describeObject, type ListedObject, listObjects, type ObjectAddress } from '../api/objects.ts'
import { Refusal } from '../api/refusal.ts'
import { askS3, isOutOfReach } from '../api/s3-request.ts'
import { ArchiveNames } from './archive-name.ts'
import type { Row } from './listing.ts'

const rangeBytes = 8 * 1024 * 1024
const attemptsMax = 5

export interface ArchiveEntry {
  name: string
  lastModified: Date
  input: ReadableStream<Uint8Array>
}

export class Download {
  readonly objects = signal(0)
  readonly bytes = signal(0)
  readonly paused = signal(false)
  readonly isOver = signal(false)
  /** How many objects are left out because a browser can't request them. */
  readonly leftOut = signal(0)
  readonly #bucket: string
  readonly #folder: string
  readonly #names = new ArchiveNames()
  readonly #stopped = new AbortController()

  /** `folder`: the prefix that names in the archive leave out. */
  constructor(bucket: string, folder: string) {
    this.#bucket = bucket
    this.#folder = folder
  }

  stop(): void {
    this.#stopped.abort()
    this.paused.value = false
  }

  /** One object after the other. The next one is opened when the archive has taken the one before. */
  async *entries(rows: readonly Row[]): AsyncGenerator<ArchiveEntry> {
    for (const row of rows) {
      if (row.is === 'folder') yield* this.#below(row.key)
      else yield* this.#entry(row, 'versionId' in row ? row.versionId : undefined)
    }
  }

  async *#below(prefix: string): AsyncGenerator<ArchiveEntry> {
    let next: Readonly<Record<string, string>> | undefined = {}
    while (next !== undefined) {
      const page: Awaited<ReturnType<typeof listObjects>> = await listObjects({ bucket: this.#bucket, prefix, next })
      for (const object of page.entries) yield* this.#entry(object, undefined)
      next = page.next
    }
  }

  /** Nothing for an object that only stands for a folder. */
  *#entry({ key, bytes, modified }: ListedObject, versionId: string | undefined): Generator<ArchiveEntry> {
    const below = key.slice(this.#folder.length)
    if (bytes === 0 && (below === '' || below.endsWith('/'))) return
    if (isOutOfReach(key)) {
      this.leftOut.value += 1
      return
    }
    const input = this.#read({ bucket: this.#bucket, key, versionId })
    yield { name: this.#names.nameOf(below), lastModified: new Date(modified), input }
  }

  /** All ranges are of the version that was current when the first range was read. */
  #read(address: ObjectAddress): ReadableStream<Uint8Array> {
    let at = 0
    let object: { bytes: number; etag: string } | undefined
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          await this.#whileRunning()
          object ??= await describeObject(address)
          if (at < object.bytes) {
            const range = await this.#range(address, object.etag, at, Math.min(object.bytes, at + rangeBytes))
            at += range.length
            this.bytes.value += range.length
            controller.enqueue(range)
          }
          if (at < object.bytes) return
          this.objects.value += 1
          controller.close()
        },
      },
      { highWaterMark: 0 },
    )
  }

  async #range(
    { bucket, key, versionId }: ObjectAddress,
    etag: string,
    start: number,
    end: number,
  ): Promise<Uint8Array> {
    for (let attempt = 1; ; attempt++) {
      try {
        const headers = { range: `bytes=${start}-${end - 1}`, 'if-match': etag }
        const answer = await askS3({ bucket, key, query: { versionId }, headers, signal: this.#stopped.signal })
        return new Uint8Array(await answer.arrayBuffer())
      } catch (error) {
        const isLasting = error instanceof Refusal && error.status < 500
        if (isLasting || attempt === attemptsMax || this.#stopped.signal.aborted) throw error
        await new Promise((resolve) => setTimeout(resolve, 500 * 2 ** attempt))
      }
    }
  }

  /** Waits while the download is paused. Throws when it was stopped. */
  async #whileRunning(): Promise<void> {
    if (this.paused.value) {
      await new Promise<void>((resolve) => {
        const stop = this.paused.subscribe((isPaused) => {
          if (isPaused) return
          resolve()
          queueMicrotask(() => stop())
        })
      })
    }
    this.#stopped.signal.throwIfAborted()
  }
}
