/** Bytes that come from somewhere and are consumed once: a request's body, or a stored blob. Owns no I/O. */

/** Takes chunks in order. When it returns a promise the source waits for it before giving the next chunk. */
export type ByteSink = (chunk: Buffer) => void | Promise<void>

export interface ByteSource {
  /** Exact number of bytes that a complete drain gives. */
  readonly size: number
  /**
   * Gives every byte to `sink`, in order, exactly once per source.
   * Rejects when the source fails (client gone, wrong checksum) or when the sink throws; the source then lets go of its resources.
   * The sink owns each chunk until it returns (or its promise settles); it must copy what it keeps longer.
   */
  drain(sink: ByteSink): Promise<void>
  /** Everything in one buffer. For small sources only: it holds `size` bytes in memory. The caller owns the buffer. */
  read(): Promise<Buffer>
  /** Lets go of resources without reading. Idempotent; a no-op after drain or read. */
  cancel(): void
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
