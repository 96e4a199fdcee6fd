/** Writes whole pages past the page cache (O_DIRECT), for one file, where its file system allows it. Copying large data into the cache costs more than writing it. */
import * as fs from 'node:fs'

const pageBytes = 4096
/** Smaller writes gain nothing. */
const directWriteBytesMin = 256 * 1024

export class DirectWrites {
  readonly #path: string
  readonly #flags: number
  /** Opened by the first write that qualifies. `null`: the file system does not allow it. */
  #descriptor: Promise<number | null> | undefined

  /** `flags`: more flags to open the file with. */
  constructor(path: string, flags = 0) {
    this.#path = path
    this.#flags = flags
  }

  /** Resolves with the number of bytes written, which can be fewer than all, or none for a position off a page boundary. The caller writes the rest. Rejects when `write(2)` fails. */
  async write(buffers: readonly Uint8Array[], position: number): Promise<number> {
    if (!qualify(buffers, position)) return 0
    this.#descriptor ??= openDirect(this.#path, this.#flags)
    const descriptor = await this.#descriptor
    if (descriptor === null) return 0
    return new Promise((resolve, reject) => {
      fs.writev(descriptor, buffers, position, (error, written) => {
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
function qualify(buffers: readonly Uint8Array[], position: number): boolean {
  let bytes = 0
  for (const { buffer, byteOffset, length } of buffers) {
    if (!(buffer instanceof SharedArrayBuffer) || byteOffset % pageBytes !== 0 || length % pageBytes !== 0) return false
    bytes += length
  }
  return bytes >= directWriteBytesMin && position % pageBytes === 0
}

function openDirect(path: string, flags: number): Promise<number | null> {
  const { O_WRONLY, O_DIRECT } = fs.constants
  if (O_DIRECT === undefined) return Promise.resolve(null)
  return new Promise((resolve, reject) => {
    fs.open(path, O_WRONLY | O_DIRECT | flags, (error, descriptor) => {
      if (error === null) resolve(descriptor)
      else if (error.code === 'EINVAL' || error.code === 'ENOTSUP') resolve(null)
      else reject(error)
    })
  })
}
