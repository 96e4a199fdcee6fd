/** Keeps N worker processes serving one port, from the primary: forks them, replaces those that die, drains them. */
import cluster, { type Worker } from 'node:cluster'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Configuration } from '../config/configuration.ts'
import { limits } from '../limits.ts'
import type { Log } from './log.ts'
import type { FromWorker, ToWorker } from './worker-messages.ts'

export interface WorkersOptions {
  configuration: Configuration
  instanceId: string
  log: Log
}

export interface Workers {
  url: string
  /** Rejects when workers die faster than it makes sense to replace them. */
  failed: Promise<never>
  /** Resolves when all have answered their requests and ended. */
  close(): Promise<void>
}

/** Workers can't serve. The message says why. */
export class WorkerFailed extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'WorkerFailed'
  }
}

/** Resolves when all workers are listening; rejects when one can't. */
export async function startWorkers(options: WorkersOptions): Promise<Workers> {
  // Compiled code: workers run what tsc made of worker.ts.
  cluster.setupPrimary({ exec: fileURLToPath(new URL('./worker.js', import.meta.url)), args: [] })
  const crew = new Crew(options)
  try {
    const started = Array.from({ length: options.configuration.workers }, () => crew.fork())
    const [url = ''] = await Promise.race([Promise.all(started), crew.failed])
    return { url, failed: crew.failed, close: () => crew.drain() }
  } catch (error) {
    await crew.drain()
    throw error
  }
}

class Crew {
  readonly failed: Promise<never>
  readonly #options: WorkersOptions
  readonly #ended = new Map<Worker, Promise<void>>()
  #fail: (error: Error) => void = () => {}
  #deathTimesMs: number[] = []
  #draining = false

  constructor(options: WorkersOptions) {
    this.#options = options
    this.failed = new Promise((_, reject) => {
      this.#fail = reject
    })
    // It may reject when nobody waits for it: while draining.
    this.failed.catch(() => {})
  }

  /** Resolves with the worker's URL when it listens; rejects with what it says is wrong. */
  fork(): Promise<string> {
    const worker = cluster.fork()
    const listening = new Promise<string>((resolve, reject) => {
      worker.on('message', (message: FromWorker) => {
        if (message.kind === 'started') tell(worker, this.#firstOrder())
        else if (message.kind === 'listening') resolve(message.url)
        else reject(new WorkerFailed(message.message))
      })
      worker.once('exit', () => reject(new WorkerFailed('a worker ended before it was listening')))
    })
    const ended = new Promise<void>((resolve) => {
      worker.once('exit', (code, signal) => {
        this.#ended.delete(worker)
        resolve()
        if (!this.#draining) this.#replace(worker, code, signal)
      })
    })
    this.#ended.set(worker, ended)
    return listening
  }

  async drain(): Promise<void> {
    this.#draining = true
    for (const worker of this.#ended.keys()) tell(worker, { kind: 'drain' })
    await Promise.all(this.#ended.values())
  }

  #firstOrder(): ToWorker {
    if (this.#draining) return { kind: 'drain' }
    const { configuration, instanceId } = this.#options
    return { kind: 'serve', configuration, instanceId }
  }

  #replace(worker: Worker, code: number | null, signal: string | null): void {
    const { log, configuration } = this.#options
    const nowMs = performance.now()
    this.#deathTimesMs = this.#deathTimesMs.filter((timeMs) => nowMs - timeMs < limits.workerRestartWindowMs)
    this.#deathTimesMs.push(nowMs)
    const recent = this.#deathTimesMs.length
    log.error({ worker: worker.process.pid, code, signal }, 'a worker died')
    if (recent > limits.workerRestartsMax * configuration.workers) {
      this.#fail(new WorkerFailed(`${recent} workers died within ${limits.workerRestartWindowMs / 1000} s; giving up`))
      return
    }
    void this.#forkLater(Math.min(2 ** recent * 10, limits.workerRestartDelayMsMax))
  }

  async #forkLater(delayMs: number): Promise<void> {
    await delay(delayMs)
    if (this.#draining) return
    try {
      await this.fork()
    } catch (error) {
      // It ends by itself, and is replaced then.
      this.#options.log.error({ err: error }, 'a worker could not start')
    }
  }
}

function tell(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message)
}
