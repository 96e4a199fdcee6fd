/** The file of a form as an operation reads it: its size, which is certain only at the form's end, and the bounds that the policy sets for it. */
import { type ByteSink, bytesSource, drained, type SettledSize } from '../../byte-source.ts'
import type { RequestBody } from '../../contract/fields.ts'
import { S3Error } from '../../errors.ts'
import { limits } from '../../limits.ts'
import type { FormBody } from './form-body.ts'

/** How long the file may be, inclusive. */
export interface FileBounds {
  fileBytesMin: number
  fileBytesMax: number
}

/** Reads a small file whole, so that its size is known. Throws EntityTooLarge, EntityTooSmall, and what the form rejects with. */
export async function openFormFile(form: FormBody, bounds: FileBounds): Promise<RequestBody> {
  // What follows the file is at most this long: a longer tail is refused.
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
 * A large file. Stores must know the size before they write, so it claims the size that it has if only the form's end follows it. When the real size
 * differs, it still gives as many bytes as it claimed, padded with zeros if necessary, and `settledSize` tells the real size.
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
      // The form's end is shorter than expected, so the file is a few bytes longer.
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
