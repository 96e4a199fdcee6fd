/** The messages between threads and their owner. The answers to a session come in the order of its requests that have one. */
import type { Piece, WorkOrder } from './byte-work.ts'

export type ToThread =
  | { kind: 'begin'; session: number; order: WorkOrder }
  /** Answered by a piece. */
  | { kind: 'work'; session: number; memory: SharedArrayBuffer; offset: number; length: number; bytes: number }
  /** Answered by digests. */
  | { kind: 'digest'; session: number }
  | { kind: 'end'; session: number }

export type Answer =
  | { kind: 'piece'; piece: Piece }
  | { kind: 'digests'; digests: Uint8Array[] }
  /** An error that callers must recognise keeps its kind. For any other error, only the text is sent. */
  | { kind: 'damaged'; segment: number }
  | { kind: 'failed'; message: string }

export type FromThread = Answer & { session: number }
