/** Makes worker processes, also before there is work for them, so that they load their code while the primary opens the data. */
import cluster, { type Worker } from 'node:cluster'
import { Duplex } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { commitPipe } from './worker-messages.ts'

export function forkWorker(): Worker {
  // Workers run compiled code, so the file ends in `.js`.
  const exec = fileURLToPath(new URL('./worker.js', import.meta.url))
  cluster.setupPrimary({ exec, args: [], stdio: ['inherit', 'inherit', 'inherit', 'ipc', 'pipe'] })
  return cluster.fork()
}

/** The primary's end of the worker's pipe. */
export function commitPipeOf({ process: { stdio } }: Worker): Duplex {
  const pipe = stdio[commitPipe]
  if (pipe instanceof Duplex) return pipe
  throw new Error('a worker without a pipe for commits')
}

export interface WaitingWorker {
  worker: Worker
  /** Resolves when the worker waits for its first order. */
  started: Promise<void>
}

export class WorkersAhead {
  #waiting: WaitingWorker[]

  constructor(count: number) {
    this.#waiting = Array.from({ length: count }, () => {
      const worker = forkWorker()
      // This is what a worker's first message says.
      const started = new Promise<void>((resolve) => worker.once('message', () => resolve()))
      return { worker, started }
    })
  }

  /** Returns a worker that is still alive. `undefined`: none is left. */
  take(): WaitingWorker | undefined {
    const next = this.#waiting.shift()
    return next?.worker.isDead() ? this.take() : next
  }

  /** Ends the workers that nobody has taken. They have opened nothing yet. */
  end(): void {
    for (const { worker } of this.#waiting.splice(0)) worker.process.kill('SIGKILL')
  }
}
