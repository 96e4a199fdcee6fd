/** Bytes that come from somewhere and are consumed once: a request's body, or a stored blob. Owns no I/O. */

/** Takes chunks in order. When it returns a promise the source waits for it before giving the next chunk. */
export type ByteSink = (chunk: Buffer) => void | Promise<void>

export interface ByteSource {
  /** The exact number of bytes that a complete drain gives. */
  readonly size: number
  /**
   * Gives every byte to `sink`, in order, exactly once per source.
   * Rejects when the source fails (client gone, wrong checksum) or when the sink throws; the source then releases its resources.
   * The sink owns each chunk until it returns (or its promise settles); it must copy what it keeps longer.
   */
  drain(sink: ByteSink): Promise<void>
  /** Everything in one buffer. For small sources only: it holds `size` bytes in memory. The caller owns the buffer. */
  read(): Promise<Buffer>
  /** Releases resources without reading. Idempotent; a no-op after drain, read or borrow. */
  cancel(): void
  /**
   * Returns everything in borrowed memory, without a copy or an allocation. Only sources that have all bytes in reused memory offer it.
   * Counts as a read.
   */
  borrow?(): LentBytes
}

export interface LentBytes {
  readonly bytes: Buffer
  /** Call when nothing uses the bytes any more, including system calls. Idempotent. */
  giveBack(): void
}

/** Verifies its bytes against the claimed SHA-256, and rejects at the end when they do not match. */
export interface ClaimedSource extends ByteSource {
  /** Absent: nothing was claimed. */
  readonly unchecked?: UncheckedBytes | undefined
  /** Available after the source was drained or read. Absent or `undefined`: the source had exactly `size` bytes. */
  settledSize?(): SettledSize | undefined
}

/**
 * The real size of a source that guessed its size wrong. The source still gave exactly as many bytes as it had said: padded if it has fewer, and
 * without the `surplus` if it has more.
 */
export interface SettledSize {
  /** The real number of bytes, including the surplus. */
  readonly size: number
  /** The bytes beyond the guessed size. There are only a few. */
  readonly surplus: Buffer
}

/** The same bytes for a reader whose SHA-256 is computed elsewhere. Read either this or the source itself. */
export interface UncheckedBytes {
  readonly source: ByteSource
  /** Call it with the SHA-256 of all bytes after reading them. Throws unless it is the claimed one; then nothing must be kept. */
  check(sha256: Buffer): void
}

/** A source over bytes in memory that is reused after `giveBack`, which is called once. */
export function lendingSource(bytes: Buffer, giveBack: () => void): ByteSource {
  let state: 'fresh' | 'lent' | 'done' = 'fresh'
  const lend = (): Buffer => {
    if (state !== 'fresh') throw new Error('a source is consumed once')
    state = 'lent'
    return bytes
  }
  const done = (): void => {
    if (state === 'done') return
    state = 'done'
    giveBack()
  }
  return {
    size: bytes.length,
    drain: async (sink) => {
      try {
        await sink(lend())
      } finally {
        done()
      }
    },
    read: async () => {
      const copy = Buffer.from(lend())
      done()
      return copy
    },
    cancel: () => {
      if (state === 'fresh') done()
    },
    borrow: () => ({ bytes: lend(), giveBack: done }),
  }
}

/** Implements `read` for a source that only has `drain`. */
export async function drained(source: Pick<ByteSource, 'size' | 'drain'>): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(source.size)
  let at = 0
  await source.drain((chunk) => {
    at += chunk.copy(bytes, at)
  })
  return bytes
}

/** A source over bytes already in memory. */
export function bytesSource(bytes: Buffer): ByteSource {
  return {
    size: bytes.length,
    drain: async (sink) => {
      if (bytes.length > 0) await sink(bytes)
    },
    read: async () => bytes,
    cancel: () => {},
  }
}
