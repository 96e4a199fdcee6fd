/** The file of a form as an operation reads it: its size, which only the end of the form tells for sure, and the bounds that the policy sets to it. */
import { type ByteSink, bytesSource, drained, type SettledSize } from '../byte-source.ts'
import type { RequestBody } from '../contract/fields.ts'
import { S3Error } from '../errors.ts'
import { limits } from '../limits.ts'
import type { FormBody } from './form-body.ts'

/** How long the file may be, inclusive. */
export interface FileBounds {
  fileBytesMin: number
  fileBytesMax: number
}

/** Reads a small file whole, so that its size is known. Throws EntityTooLarge, EntityTooSmall, and what the form rejects with. */
export async function openFormFile(form: FormBody, bounds: FileBounds): Promise<RequestBody> {
  // Whatever follows the file is shorter than that, or refused.
  checkFileBytesMax(form.expectedFileBytes - limits.formTailBytesMax, bounds)
  if (form.remainingBytes > limits.formFileBytesHeld) return new FormFile(form, bounds)
  const slices: Buffer[] = []
  let size = 0
  await form.drainFile((slice) => {
    size += slice.length
    checkFileBytesMax(size, bounds)
    slices.push(slice)
  })
  checkFileBytesMin(size, bounds)
  const [only, ...others] = slices
  const bytes = only !== undefined && others.length === 0 ? only : Buffer.concat(slices)
  return { ...bytesSource(bytes), trailerNames: [], trailer: () => undefined }
}

const zeros = Buffer.alloc(limits.formTailBytesMax)

/**
 * A large file. Stores must know the size of what they write, so it claims the size that it has where nothing but the end of the form follows it. Where
 * it has another, it still gives as many bytes as it claimed, with zeros at the end if need be, and `settledSize` tells.
 */
class FormFile implements RequestBody {
  readonly size: number
  readonly trailerNames: readonly string[] = []
  readonly #form: FormBody
  readonly #bounds: FileBounds
  #settled: SettledSize | undefined

  constructor(form: FormBody, bounds: FileBounds) {
    this.size = form.expectedFileBytes
    this.#form = form
    this.#bounds = bounds
  }

  trailer(): undefined {}

  settledSize(): SettledSize | undefined {
    return this.#settled
  }

  async drain(sink: ByteSink): Promise<void> {
    let size = 0
    const surplus: Buffer[] = []
    await this.#form.drainFile((slice) => {
      const room = Math.max(0, this.size - size)
      size += slice.length
      checkFileBytesMax(size, this.#bounds)
      if (slice.length <= room) return sink(slice)
      // The end of the form is shorter than expected: a few bytes.
      surplus.push(slice.subarray(room))
      return room === 0 ? undefined : sink(slice.subarray(0, room))
    })
    checkFileBytesMin(size, this.#bounds)
    if (size === this.size) return
    this.#settled = { size, surplus: Buffer.concat(surplus) }
    for (let at = size; at < this.size; at += zeros.length) await sink(zeros.subarray(0, this.size - at))
  }

  read(): Promise<Buffer> {
    return drained(this)
  }

  cancel(): void {}
}

function checkFileBytesMax(size: number, { fileBytesMax }: FileBounds): void {
  if (size <= fileBytesMax) return
  throw new S3Error('EntityTooLarge', {
    details: { ProposedSize: String(size), MaxSizeAllowed: String(fileBytesMax) },
  })
}

function checkFileBytesMin(size: number, { fileBytesMin }: FileBounds): void {
  if (size >= fileBytesMin) return
  throw new S3Error('EntityTooSmall', { details: { ProposedSize: String(size), MinSizeAllowed: String(fileBytesMin) } })
}
