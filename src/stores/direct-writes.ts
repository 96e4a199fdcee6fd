/** Writes whole pages past the page cache (O_DIRECT), for one file, where its file system allows it. Copying large data into the cache costs more than writing it. */
import * as fs from 'node:fs'

const pageBytes = 4096
/** Smaller writes gain nothing. */
const directWriteBytesMin = 256 * 1024

export class DirectWrites {
  readonly #path: string
  /** Opened by the first write that qualifies. `null`: the file system does not allow it. */
  #descriptor: Promise<number | null> | undefined

  constructor(path: string) {
    this.#path = path
  }

  /** Resolves with the number of bytes written, which can be fewer than all, or none for a position off a page boundary. The caller writes the rest. Rejects when `write(2)` fails. */
  async write(bytes: Uint8Array, position: number): Promise<number> {
    if (!qualifies(bytes, position)) return 0
    this.#descriptor ??= openDirect(this.#path)
    const descriptor = await this.#descriptor
    if (descriptor === null) return 0
    return new Promise((resolve, reject) => {
      fs.write(descriptor, bytes, 0, bytes.length, position, (error, written) => {
        if (error === null) resolve(written - (written % pageBytes))
        // The alignment of the memory or the device's block size rules it out.
        else if (error.code === 'EINVAL') resolve(0)
        else reject(error)
      })
    })
  }

  async close(): Promise<void> {
    const descriptor = await this.#descriptor
    this.#descriptor = undefined
    if (typeof descriptor !== 'number') return
    await new Promise<void>((resolve, reject) => {
      fs.close(descriptor, (error) => (error ? reject(error) : resolve()))
    })
  }
}

/** Only shared memory comes from a pool that begins at a page boundary; an address can't be asked for. */
function qualifies({ buffer, byteOffset, length }: Uint8Array, position: number): boolean {
  if (length < directWriteBytesMin || !(buffer instanceof SharedArrayBuffer)) return false
  return byteOffset % pageBytes === 0 && length % pageBytes === 0 && position % pageBytes === 0
}

function openDirect(path: string): Promise<number | null> {
  const { O_WRONLY, O_DIRECT } = fs.constants
  if (O_DIRECT === undefined) return Promise.resolve(null)
  return new Promise((resolve, reject) => {
    fs.open(path, O_WRONLY | O_DIRECT, (error, descriptor) => {
      if (error === null) resolve(descriptor)
      else if (error.code === 'EINVAL' || error.code === 'ENOTSUP') resolve(null)
      else reject(error)
    })
  })
}
