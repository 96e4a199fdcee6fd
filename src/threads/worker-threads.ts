/** Worker threads for the heavy work on large bodies. They start when needed, are replaced when they die, and end when idle. They keep no process alive. */
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { ChunkPool } from '../chunk-pool.ts'
import { SegmentDamaged } from '../encryption/segments.ts'
import { limits } from '../limits.ts'
import type { Piece, WorkOrder } from './byte-work.ts'
import type { FromThread, ToThread } from './messages.ts'
import { noThreads, type Threads, type WorkSession } from './threads.ts'

/** Threads run the compiled thread.ts, even when this file runs from source. */
const entry = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? '../../dist/joined/thread.js' : './thread.js', import.meta.url),
)
/** A small heap is collected often, which frees the thread's references to chunks that the pool has dropped. */
const resourceLimits = { maxYoungGenerationSizeMb: 2 }

/** Opens as many threads as are useful on this machine. */
export function openThreads(cores = availableParallelism()): Threads {
  return cores === 1 ? noThreads() : workerThreads(Math.min(cores, limits.threadsMax))
}

/** `idleMs`: how long an idle thread is kept. */
export function workerThreads(count: number, idleMs: number = limits.threadIdleMs): Threads {
  const threads = new Set<Thread>()
  let closed = false

  /** The thread with the fewest sessions, or a new one if all are busy and more are allowed. */
  const leastLoaded = (): Thread => {
    let least: Thread | undefined
    for (const thread of threads) if (least === undefined || thread.sessions < least.sessions) least = thread
    if (least !== undefined && (least.sessions === 0 || threads.size === count)) return least
    const fresh = new Thread(idleMs, () => threads.delete(fresh))
    threads.add(fresh)
    return fresh
  }
  return {
    chunks: new ChunkPool(limits.workChunkBytes),
    begin(order) {
      if (closed) throw new Error('the threads are closed')
      return leastLoaded().begin(order)
    },
    async close() {
      closed = true
      await Promise.all([...threads].map((thread) => thread.end()))
    },
  }
}

interface Asked {
  resolve(answer: FromThread): void
  reject(error: Error): void
}

class Thread {
  /** Open sessions. */
  sessions = 0
  readonly #worker: Worker
  /** Requests without an answer, in the order in which answers come. */
  readonly #asked: Asked[] = []
  readonly #idleMs: number
  readonly #onEnd: () => void
  #idle: NodeJS.Timeout | undefined
  #failure: Error | undefined
  #lastSession = 0

  /** `onEnd` is called when it takes no more sessions. */
  constructor(idleMs: number, onEnd: () => void) {
    this.#idleMs = idleMs
    this.#onEnd = onEnd
    const worker = new Worker(entry, { resourceLimits, execArgv: [] })
    this.#worker = worker
    const fail = (error: Error): void => {
      this.#failure ??= error
      onEnd()
      for (const { reject } of this.#asked.splice(0)) reject(this.#failure)
    }
    worker.on('message', (answer: FromThread) => this.#asked.shift()?.resolve(answer))
    worker.on('error', fail)
    worker.on('exit', () => fail(new Error('the thread that worked on the data has ended')))
    worker.unref()
  }

  begin(order: WorkOrder): WorkSession {
    const session = ++this.#lastSession
    if (this.sessions++ === 0) this.#becomeBusy()
    this.#tell({ kind: 'begin', session, order: ownKey(order) })
    let ended = false
    return {
      work: (memory, bytes) => this.#work(session, memory, bytes),
      digest: () => this.#digest(session),
      end: () => {
        if (ended) return
        ended = true
        this.#tell({ kind: 'end', session })
        if (--this.sessions === 0) this.#becomeIdle()
      },
    }
  }

  #becomeBusy(): void {
    clearTimeout(this.#idle)
    this.#worker.ref()
  }

  #becomeIdle(): void {
    this.#worker.unref()
    this.#idle = setTimeout(() => {
      this.#onEnd()
      void this.end()
    }, this.#idleMs).unref()
  }

  async end(): Promise<void> {
    clearTimeout(this.#idle)
    await this.#worker.terminate()
  }

  async #work(session: number, { buffer, byteOffset, length }: Buffer, bytes: number): Promise<Piece> {
    if (!(buffer instanceof SharedArrayBuffer)) throw new Error('a thread can only work on shared memory')
    const answer = await this.#ask({ kind: 'work', session, memory: buffer, offset: byteOffset, length, bytes })
    if (answer.kind !== 'piece') throw errorOf(answer)
    return answer.piece
  }

  async #digest(session: number): Promise<Buffer[]> {
    const answer = await this.#ask({ kind: 'digest', session })
    if (answer.kind !== 'digests') throw errorOf(answer)
    return answer.digests.map((digest) => Buffer.from(digest))
  }

  #ask(message: ToThread): Promise<FromThread> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    return new Promise((resolve, reject) => {
      // A message that can't be sent throws, so it is not recorded as waiting for an answer.
      this.#tell(message)
      this.#asked.push({ resolve, reject })
    })
  }

  /** A thread that has ended receives nothing. */
  #tell(message: ToThread): void {
    this.#worker.postMessage(message)
  }
}

function errorOf(answer: FromThread): Error {
  if (answer.kind === 'damaged') return new SegmentDamaged(answer.segment)
  return new Error(answer.kind === 'failed' ? answer.message : `a thread answered with ${answer.kind}`)
}

/** Copies the key, because sending a buffer copies all of its underlying memory, which can hold other keys. */
function ownKey(order: WorkOrder): WorkOrder {
  const { cipher } = order
  return cipher === undefined ? order : { ...order, cipher: { ...cipher, key: new Uint8Array(cipher.key) } }
}
