/** Where the heavy work on large bodies is done: the interface, and the implementation without threads. */
import { ChunkPool } from '../chunk-pool.ts'
import { limits } from '../limits.ts'
import { ByteWork, type Piece, type WorkOrder } from './byte-work.ts'

/** The work on one body. Calls take effect in order, and the next may be made before the last one is done. */
export interface WorkSession {
  /**
   * Like `ByteWork.work`. Rejects with `SegmentDamaged`, and when its thread ends; so does everything that follows.
   * `memory` is shared memory; leave it alone until this settles.
   */
  work(memory: Buffer, bytes: number): Promise<Piece>
  /** Like `ByteWork.digest`. */
  digest(): Promise<Buffer[]>
  /** Releases everything. Call when nothing is under way any more. */
  end(): void
}

export interface Threads {
  begin(order: WorkOrder): WorkSession
  /** Memory that every session can work on. */
  readonly chunks: ChunkPool
  /** Ends all threads. Work under way rejects. */
  close(): Promise<void>
}

/** Works on the caller's thread. For machines with one core, and for tests. */
export function noThreads(): Threads {
  return { begin: localSession, chunks: new ChunkPool(limits.workChunkBytes), close: async () => {} }
}

function localSession(order: WorkOrder): WorkSession {
  const ready = ByteWork.ready(order)
  const begun = ready === undefined ? new ByteWork(order) : ready.then(() => new ByteWork(order))
  // Whoever asks for work gets the failure; until then it must not count as unhandled.
  if (begun instanceof Promise) begun.catch(() => {})
  return {
    work: async (memory, bytes) => (await begun).work(memory, bytes),
    digest: async () => (await begun).digest(),
    end: () => {},
  }
}
