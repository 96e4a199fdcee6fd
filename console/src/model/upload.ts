/** The upload of one file into a bucket. It can be paused, resumed and retried, and continues where it was even after the user left the page. */
import { signal } from '@preact/signals'
import { abortUpload, beginUpload, completeUpload, listParts, type Part, type Upload } from '../api/multipart.ts'
import { Refusal } from '../api/refusal.ts'
import { send } from '../api/transfer.ts'
import { missingParts, multipartFromBytes, type PlannedPart, planParts } from './part-plan.ts'
import { failureText } from './text.ts'

export type UploadState = 'waiting' | 'running' | 'paused' | 'done' | 'failed' | 'cancelled'

/** Parts of one file that are sent at the same time. */
const partsAtOnce = 3

export class FileUpload {
  readonly bucket: string
  readonly key: string
  readonly file: File
  readonly state = signal<UploadState>('waiting')
  readonly sentBytes = signal(0)
  readonly failure = signal('')
  #stop = new AbortController()
  readonly #moving = new Map<number, number>()
  #keptBytes = 0

  constructor(bucket: string, key: string, file: File) {
    this.bucket = bucket
    this.key = key
    this.file = file
  }

  /** Resolves when the upload is done, has failed, or was stopped. Never rejects. */
  async run(): Promise<void> {
    const stop = new AbortController()
    this.#stop = stop
    this.state.value = 'running'
    this.failure.value = ''
    try {
      await (this.file.size < multipartFromBytes ? this.#sendWhole() : this.#sendParts())
      this.sentBytes.value = this.file.size
      this.state.value = 'done'
    } catch (error) {
      if (stop.signal.aborted) return
      stop.abort()
      this.failure.value = failureText(error)
      this.state.value = 'failed'
    }
  }

  pause(): void {
    if (this.state.value !== 'running' && this.state.value !== 'waiting') return
    this.state.value = 'paused'
    this.#halt()
  }

  /** Puts a paused or failed upload into the queue again. */
  enqueue(): void {
    if (this.state.value === 'paused' || this.state.value === 'failed') this.state.value = 'waiting'
  }

  /** Also removes what the server keeps of it. */
  async cancel(): Promise<void> {
    if (this.state.value === 'done' || this.state.value === 'cancelled') return
    this.state.value = 'cancelled'
    this.#halt()
    const begun = this.#remembered()
    this.#forget()
    if (begun !== undefined) await abortUpload(begun)
  }

  #halt(): void {
    this.#stop.abort(new DOMException('stopped', 'AbortError'))
    this.#moving.clear()
    this.#showProgress()
  }

  async #sendWhole(): Promise<void> {
    const progress = (bytes: number) => this.#progressOf(1, bytes)
    await send(
      { bucket: this.bucket, key: this.key, ...typeOf(this.file) },
      { body: this.file, progress, signal: this.#stop.signal },
    )
  }

  async #sendParts(): Promise<void> {
    const { upload, parts } = await this.#begin()
    const planned = planParts(this.file.size)
    const waiting = missingParts(planned, parts)
    const kept = new Map(parts.map((part) => [part.number, part]))
    for (const { number } of waiting) kept.delete(number)
    this.#keptBytes = [...kept.values()].reduce((sum, { bytes }) => sum + bytes, 0)
    this.#showProgress()
    const sendNext = async (): Promise<void> => {
      for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) {
        kept.set(part.number, await this.#sendPart(upload, part))
        this.#moving.delete(part.number)
        this.#keptBytes += part.end - part.start
        this.#showProgress()
      }
    }
    await Promise.all(Array.from({ length: partsAtOnce }, sendNext))
    await completeUpload(
      upload,
      [...kept.values()].sort((a, b) => a.number - b.number),
    )
    this.#forget()
  }

  async #sendPart({ bucket, key, uploadId }: Upload, { number, start, end }: PlannedPart): Promise<Part> {
    const etag = await send(
      { bucket, key, query: { partNumber: number, uploadId } },
      {
        body: this.file.slice(start, end),
        progress: (bytes) => this.#progressOf(number, bytes),
        signal: this.#stop.signal,
      },
    )
    return { number, etag, bytes: end - start }
  }

  /** The upload that was begun earlier, if the server still has it. */
  async #begin(): Promise<{ upload: Upload; parts: Part[] }> {
    const begun = this.#remembered()
    if (begun !== undefined) {
      try {
        return { upload: begun, parts: await listParts(begun) }
      } catch (error) {
        if (!(error instanceof Refusal) || error.code !== 'NoSuchUpload') throw error
      }
    }
    const upload = await beginUpload(this.bucket, this.key, this.file.type || 'application/octet-stream')
    this.#stop.signal.throwIfAborted()
    localStorage.setItem(this.#note, upload.uploadId)
    return { upload, parts: [] }
  }

  /** Identifies the same file under the same key, as well as a browser can tell. */
  get #note(): string {
    return `upload:${JSON.stringify([this.bucket, this.key, this.file.size, this.file.lastModified])}`
  }

  #remembered(): Upload | undefined {
    const uploadId = localStorage.getItem(this.#note)
    return uploadId === null ? undefined : { bucket: this.bucket, key: this.key, uploadId }
  }

  #forget(): void {
    localStorage.removeItem(this.#note)
  }

  #progressOf(part: number, bytes: number): void {
    if (this.#stop.signal.aborted) return
    this.#moving.set(part, bytes)
    this.#showProgress()
  }

  #showProgress(): void {
    this.sentBytes.value = this.#keptBytes + [...this.#moving.values()].reduce((sum, bytes) => sum + bytes, 0)
  }
}

const typeOf = (file: File): { contentType?: string } => (file.type === '' ? {} : { contentType: file.type })
