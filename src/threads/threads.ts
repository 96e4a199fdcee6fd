/** Where the heavy work on large bodies is done: the interface, and the implementation without threads. */
import { ChunkPool } from '../chunk-pool.ts'
import { limits } from '../limits.ts'
import { ByteWork, type Piece, type WorkOrder } from './byte-work.ts'

/** The work on one body. Its calls are carried out in order, and the next may be made before the last is done. */
export interface WorkSession {
  /**
   * As `ByteWork.work`. Rejects with `SegmentDamaged`, and when its thread ends; so does all that follows.
   * `memory` is shared memory, and left alone until it settles.
   */
  work(memory: Buffer, bytes: number): Promise<Piece>
  /** As `ByteWork.digest`. */
  digest(): Promise<Buffer[]>
  /** Lets go of everything. Call when nothing is under way any more. */
  end(): void
}

export interface Threads {
  begin(order: WorkOrder): WorkSession
  /** Memory that every session can work on. */
  readonly chunks: ChunkPool
  /** Ends all threads: what is under way rejects. */
  close(): Promise<void>
}

/** Works where it is called. For machines with one core, and for tests. */
export function noThreads(): Threads {
  return { begin: workHere, chunks: new ChunkPool(limits.workChunkBytes), close: async () => {} }
}

function workHere(order: WorkOrder): WorkSession {
  const ready = ByteWork.ready(order)
  const begun = ready === undefined ? new ByteWork(order) : ready.then(() => new ByteWork(order))
  // Whoever asks for work is told of a failure; until somebody does, it is nobody's.
  if (begun instanceof Promise) begun.catch(() => {})
  return {
    work: async (memory, bytes) => (await begun).work(memory, bytes),
    digest: async () => (await begun).digest(),
    end: () => {},
  }
}
