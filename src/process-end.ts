/**
 * Ends the process. `process.exit` waits for the threads of libuv, and one of them can be LMDB's, which waits for the main thread to run the callback of its
 * transaction: the process would hang for good, and hold the lock of the metadata against all others.
 */
import { isMainThread } from 'node:worker_threads'
import { limits } from './limits.ts'

let needed = 0
let ending: (() => void) | undefined
let isGuarded = false

/** While `work` is under way, a thread may wait for the main thread. A process that ends meanwhile, by whatever call, is killed instead of hanging. */
export async function needingMainThread<T>(work: () => Promise<T>): Promise<T> {
  // The end of a worker thread of a program that embeds this one is not the process's.
  if (!isGuarded && isMainThread) process.on('exit', killIfNeeded)
  isGuarded = true
  needed++
  try {
    return await work()
  } finally {
    needed--
    if (needed === 0) ending?.()
  }
}

function killIfNeeded(): void {
  if (needed > 0) process.kill(process.pid, 'SIGKILL')
}

/** Ends the process with this code as soon as no thread needs the main thread, or after `processEndMs` in any case. */
export function endProcess(code: number): void {
  if (needed === 0) process.exit(code)
  ending = () => process.exit(code)
  setTimeout(ending, limits.processEndMs)
}
