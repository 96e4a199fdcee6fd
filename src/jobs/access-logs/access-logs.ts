/**
 * Collects the lines of access logs in a process, and writes them as objects of their target buckets. Lines are in memory until then, so a process that dies loses
 * some, as S3's delivery may. Reasons: docs/adr/0071-access-logs-are-objects.md
 */
import { accessLogLimits } from '../../access-log-limits.ts'
import { bytesSource } from '../../byte-source.ts'
import type { Backend } from '../../commits/backend.ts'
import { lastSeen } from '../../commits/scope.ts'
import { eachOf } from '../../each-of.ts'
import { S3Error } from '../../errors.ts'
import { writeObject } from '../../objects/write-object.ts'
import type { BucketLogging } from '../../records/bucket-logging.ts'
import type { BucketRecord } from '../../records/bucket-record.ts'
import { dayOf, logKey, logNameChars } from '../../rules/access-log.ts'
import { readBucket } from '../blob-reference.ts'

export interface AccessLogOptions {
  backend: Backend
  /** In keys that say where requests were made. */
  region: string
  intervalMs: number
  /** Throws S3Error where the log of `source` may not be written to `target`. */
  admit(source: BucketRecord, target: BucketRecord, key: string): void
  warn(message: string): void
}

/** What a bucket's log has to write. */
interface Waiting {
  lines: Line[]
  bytes: number
  /** Lines for which there was no room. */
  lost: number
}

interface Line {
  atMs: number
  text: string
}

export class AccessLogs {
  readonly #options: AccessLogOptions
  readonly #waiting = new Map<string, Waiting>()
  #bytes = 0
  #timer: NodeJS.Timeout | undefined
  /** The delivery under way. Deliveries do not overlap, so that what failed comes first the next time. */
  #delivery: Promise<void> | undefined
  /** Buckets whose last delivery failed: each failure is told once. */
  readonly #failing = new Set<string>()

  constructor(options: AccessLogOptions) {
    this.#options = options
  }

  /** Account id. `undefined`: as it was last read, the bucket has no log. */
  ownerOf(bucket: string): string | undefined {
    const record = lastSeen(bucket)
    return record?.logging === undefined ? undefined : record.owner
  }

  add(bucket: string, text: string): void {
    const waiting = this.#waiting.get(bucket) ?? { lines: [], bytes: 0, lost: 0 }
    this.#waiting.set(bucket, waiting)
    const { bucketBytesMax, bytesMax, objectBytes } = accessLogLimits
    const bytes = Buffer.byteLength(text) + 1
    if (waiting.bytes + bytes > bucketBytesMax || this.#bytes + bytes > bytesMax) {
      waiting.lost++
      return
    }
    waiting.lines.push({ atMs: this.#options.backend.clock.now(), text })
    waiting.bytes += bytes
    this.#bytes += bytes
    this.#deliverLater()
    if (waiting.bytes >= objectBytes && !this.#failing.has(bucket)) void this.deliver()
  }

  #deliverLater(): void {
    this.#timer ??= setTimeout(() => void this.deliver(), this.#options.intervalMs).unref()
  }

  /** Writes all that waits. Never rejects: what can't be written now waits for the next time. */
  async deliver(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#delivery ??= this.#deliverAll().finally(() => {
      this.#delivery = undefined
      if (this.#waiting.size > 0) this.#deliverLater()
    })
    await this.#delivery
  }

  /** Call it when no more lines come. */
  async close(): Promise<void> {
    await this.#delivery
    await this.deliver()
    clearTimeout(this.#timer)
    for (const [name, { lines }] of this.#waiting) {
      this.#options.warn(`lines lost of the access log of ${name}, because the server stopped: ${lines.length}`)
    }
  }

  async #deliverAll(): Promise<void> {
    const taken = [...this.#waiting]
    this.#waiting.clear()
    await eachOf(taken, accessLogLimits.bucketsAtOnce, ([bucket, waiting]) => this.#deliverOf(bucket, waiting))
  }

  async #deliverOf(name: string, waiting: Waiting): Promise<void> {
    const { backend, warn } = this.#options
    try {
      const source = (await readBucket(backend.kv, name))?.record
      if (source?.logging !== undefined) await this.#write(source, source.logging, waiting.lines)
      this.#failing.delete(name)
      if (waiting.lost > 0) warn(`lines lost of the access log of ${name}, for lack of room: ${waiting.lost}`)
      this.#bytes -= waiting.bytes
    } catch (error) {
      const isOver = error instanceof S3Error && error.status < 500
      if (isOver) this.#bytes -= waiting.bytes
      else this.#keep(name, waiting)
      if (isOver)
        warn(
          `lines lost of the access log of ${name}, because ${messageOf(error)}: ${waiting.lines.length + waiting.lost}`,
        )
      else if (!this.#failing.has(name)) {
        warn(
          `the access log of ${name} cannot be written now, because ${messageOf(error)}: its lines are kept for the next attempt`,
        )
      }
      this.#failing.add(name)
    }
  }

  /** Puts lines that could not be written before those that came meanwhile. */
  #keep(name: string, { lines, bytes, lost }: Waiting): void {
    const newer = this.#waiting.get(name) ?? { lines: [], bytes: 0, lost: 0 }
    this.#waiting.set(name, { lines: [...lines, ...newer.lines], bytes: bytes + newer.bytes, lost: lost + newer.lost })
  }

  /** Throws what `writeObject` throws. */
  async #write(source: BucketRecord, logging: BucketLogging, lines: readonly Line[]): Promise<void> {
    const { backend, region, admit } = this.#options
    for (const group of logging.keyFormat === 'EventTime' ? byDay(lines) : [lines]) {
      const times = { deliveredMs: backend.clock.now(), eventMs: group[0]?.atMs ?? 0 }
      const unique = backend.clock
        .random(logNameChars / 2)
        .toString('hex')
        .toUpperCase()
      const key = logKey(logging, { ...source, region }, times, unique)
      const body = bytesSource(Buffer.from(`${group.map(({ text }) => text).join('\n')}\n`))
      const scope = { name: logging.targetBucket, admit: (target: BucketRecord) => admit(source, target, key) }
      const attributes = { headers: { contentType: 'text/plain' }, metadata: {}, tags: [] }
      await writeObject(backend, scope, { key, attributes, data: { body }, conditions: {} })
    }
  }
}

function byDay(lines: readonly Line[]): Line[][] {
  const days = new Map<string, Line[]>()
  for (const line of lines) {
    const day = dayOf(line.atMs)
    const known = days.get(day)
    if (known === undefined) days.set(day, [line])
    else known.push(line)
  }
  return [...days.values()]
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
