/** Worker threads for the heavy work on large bodies. They start when needed, are replaced when they die, and end when idle. They keep no process alive. */
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { lanes } from '../checksums/md5-kernel.ts'
import { ChunkPool } from '../chunk-pool.ts'
import { SegmentDamaged } from '../encryption/segments.ts'
import { limits } from '../limits.ts'
import type { Piece, WorkOrder } from './byte-work.ts'
import type { Answer, FromThread, ToThread } from './messages.ts'
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

  const added = (): Thread => {
    const fresh = new Thread(idleMs, () => threads.delete(fresh))
    threads.add(fresh)
    return fresh
  }
  /** The thread with the fewest sessions, or a new one if all are busy and more are allowed. */
  const leastLoaded = (): Thread => {
    const [least] = [...threads].sort((a, b) => a.sessions - b.sessions)
    return least !== undefined && (least.sessions === 0 || threads.size === count) ? least : added()
  }
  /** For MD5s, which cost less in company: the busiest thread that has room. Once a thread has enough sessions, several of them nearly always wait at the same time. */
  const mostLoaded = (): Thread => {
    const [most] = [...threads].filter(({ sessions }) => sessions < companyMax).sort((a, b) => b.sessions - a.sessions)
    return most ?? leastLoaded()
  }
  return {
    chunks: new ChunkPool(limits.workChunkBytes),
    begin(order) {
      if (closed) throw new Error('the threads are closed')
      const thread = order.cipher === undefined && order.digests.includes('MD5') ? mostLoaded() : leastLoaded()
      return thread.begin(order)
    },
    async close() {
      closed = true
      await Promise.all([...threads].map((thread) => thread.end()))
    },
  }
}

const companyMax = lanes

interface Asked {
  resolve(answer: Answer): void
  reject(error: Error): void
}

class Thread {
  /** Open sessions. */
  sessions = 0
  readonly #worker: Worker
  /** Requests that have no answer yet, by session, in the order of the answers. */
  readonly #asked = new Map<number, Asked[]>()
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
      for (const asked of this.#asked.values()) for (const { reject } of asked.splice(0)) reject(this.#failure)
    }
    worker.on('message', (answer: FromThread) => this.#asked.get(answer.session)?.shift()?.resolve(answer))
    worker.on('error', fail)
    worker.on('exit', () => fail(new Error('the thread that worked on the data has ended')))
    worker.unref()
  }

  begin(order: WorkOrder): WorkSession {
    const session = ++this.#lastSession
    if (this.sessions++ === 0) this.#becomeBusy()
    this.#tell({ kind: 'begin', session, order: ownKey(order) })
    this.#asked.set(session, [])
    let ended = false
    return {
      work: (memory, bytes) => this.#work(session, memory, bytes),
      digest: () => this.#digest(session),
      end: () => {
        if (ended) return
        ended = true
        this.#tell({ kind: 'end', session })
        this.#asked.delete(session)
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

  #ask(message: ToThread): Promise<Answer> {
    const asked = this.#asked.get(message.session)
    if (this.#failure !== undefined || asked === undefined)
      return Promise.reject(this.#failure ?? new Error('the session is over'))
    return new Promise((resolve, reject) => {
      // A message that can't be sent throws, so it is not recorded as waiting for an answer.
      this.#tell(message)
      asked.push({ resolve, reject })
    })
  }

  /** A thread that has ended receives nothing. */
  #tell(message: ToThread): void {
    this.#worker.postMessage(message)
  }
}

function errorOf(answer: Answer): Error {
  if (answer.kind === 'damaged') return new SegmentDamaged(answer.segment)
  return new Error(answer.kind === 'failed' ? answer.message : `a thread answered with ${answer.kind}`)
}

/** Copies the key, because sending a buffer copies all of its underlying memory, which can hold other keys. */
function ownKey(order: WorkOrder): WorkOrder {
  const { cipher } = order
  return cipher === undefined ? order : { ...order, cipher: { ...cipher, key: new Uint8Array(cipher.key) } }
}
