/** The interface for heavy work on large bodies, and its implementation without threads. */
import { ChunkPool } from '../chunk-pool.ts'
import { limits } from '../limits.ts'
import { ByteWork, type Piece, type WorkOrder } from './byte-work.ts'

/** The work on one body. Calls take effect in order, and need not wait for each other. */
export interface WorkSession {
  /**
   * Like `ByteWork.work`. Rejects with `SegmentDamaged`, or when the thread ends; all later calls then reject, too.
   * `memory` must be shared memory. Do not touch it until this settles.
   */
  work(memory: Buffer, bytes: number): Promise<Piece>
  /** Like `ByteWork.digest`. */
  digest(): Promise<Buffer[]>
  /** Releases everything. Call it when no work is under way. */
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
  // The first call for work rejects with this failure. Until then it must not count as unhandled.
  if (begun instanceof Promise) begun.catch(() => {})
  return {
    work: async (memory, bytes) => (await begun).work(memory, bytes),
    digest: async () => (await begun).digest(),
    end: () => {},
  }
}
