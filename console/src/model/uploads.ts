/** All uploads of this page. Only a few run at the same time. */
import { computed, signal } from '@preact/signals'
import { FileUpload } from './upload.ts'

const filesAtOnce = 4

export const uploads = signal<readonly FileUpload[]>([])

/** Counts uploads that ended, so that a listing can show the new objects. */
export const arrived = signal<{ bucket: string; count: number }>({ bucket: '', count: 0 })

let running = 0
/** Where the search for the next waiting upload continues, so that each of thousands of files is looked at only once. */
let nextIndex = 0

const totalBytes = computed(() => uploads.value.reduce((sum, { file }) => sum + file.size, 0))

export interface UploadCounts {
  all: number
  done: number
  failed: number
  paused: number
  bytes: number
}

/** Components call this a few times a second, because adding up thousands of uploads at every step would block the page. */
export function countUploads(): UploadCounts {
  const counts: UploadCounts = { all: uploads.value.length, done: 0, failed: 0, paused: 0, bytes: totalBytes.value }
  for (const { state } of uploads.value) {
    const is = state.peek()
    if (is === 'done' || is === 'cancelled') counts.done += 1
    else if (is === 'failed') counts.failed += 1
    else if (is === 'paused') counts.paused += 1
  }
  return counts
}

export const sentBytes = (): number => uploads.value.reduce((sum, each) => sum + each.sentBytes.peek(), 0)

export interface ChosenFile {
  /** Includes the folders that lead to the file, separated by `/`. */
  path: string
  file: File
}

export function uploadInto(bucket: string, prefix: string, files: readonly ChosenFile[]): void {
  const added = files.map(({ path, file }) => new FileUpload(bucket, prefix + path, file))
  uploads.value = [...uploads.value, ...added]
  fill()
}

export function pauseAll(): void {
  for (const upload of uploads.value) upload.pause()
}

/** Continues the uploads that were paused or have failed. */
export function resumeAll(): void {
  for (const upload of uploads.value) upload.enqueue()
  nextIndex = 0
  fill()
}

export function resume(upload: FileUpload): void {
  upload.enqueue()
  nextIndex = 0
  fill()
}

/** Forgets the uploads that have ended. */
export function clearEnded(): void {
  uploads.value = uploads.value.filter(({ state }) => state.peek() !== 'done' && state.peek() !== 'cancelled')
  nextIndex = 0
}

function fill(): void {
  while (running < filesAtOnce && nextIndex < uploads.value.length) {
    const upload = uploads.value[nextIndex]
    nextIndex += 1
    if (upload?.state.peek() === 'waiting') void follow(upload)
  }
}

async function follow(upload: FileUpload): Promise<void> {
  running += 1
  await upload.run()
  running -= 1
  if (upload.state.peek() === 'done') arrived.value = { bucket: upload.bucket, count: arrived.peek().count + 1 }
  fill()
}
