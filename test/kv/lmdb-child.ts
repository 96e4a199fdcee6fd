/** A process of its own on a shared environment, for lmdb.test.ts: it does what messages ask, and says what it did. */
import { writeFile } from 'node:fs/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Kv } from '../../src/kv/kv.ts'
import { openLmdb } from '../../src/kv/lmdb.ts'
import { limits } from '../../src/limits.ts'
import { endProcess } from '../../src/process-end.ts'
import { bytes, increment, put } from './text-entries.ts'

export type Request =
  /** `mark` is a file that is made once the commit is durable, for whoever can't wait for a message. */
  | { do: 'commit'; key: string; value: string; mark?: string }
  | { do: 'increment'; key: string; times: number }
  /** Commits new keys, each told as `acknowledged`, until the process is killed or the engine fails. */
  | { do: 'commit on'; writers: number }
  | { do: 'commit large values'; times: number }
  /** Keeps what is committed now readable until the process ends. */
  | { do: 'hold a snapshot' }
  /** Ends with this code by `process.exit`, while the engine waits for the main thread in the middle of a transaction; `safely`: by `endProcess`. */
  | { do: 'exit within a commit'; code: number; safely: boolean }

export type Report =
  | { said: 'ready' | 'done' }
  | { said: 'acknowledged'; key: string }
  | { said: 'fatal'; reason: string; times: number }
  | { said: 'rejected'; reason: string }

function report(message: Report): void {
  process.send?.(message)
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? `${error.message}: ${String(error.cause)}` : String(error)
}

async function commitOn(kv: Kv, writer: number): Promise<void> {
  for (let i = 0; ; i++) {
    const key = `${process.pid}/${writer}/${i}`
    await kv.commit({ puts: [put(key, 'v'.repeat(300)), put(`${key}/twin`)] })
    report({ said: 'acknowledged', key })
  }
}

async function reportRejections(calls: Promise<unknown>[]): Promise<void> {
  for (const outcome of await Promise.allSettled(calls)) {
    if (outcome.status === 'rejected') report({ said: 'rejected', reason: reasonOf(outcome.reason) })
  }
}

async function exitWithinCommit(kv: Kv, code: number, safely: boolean): Promise<void> {
  void kv.commit({ puts: [put('last')] })
  // By then, the engine has been asked. The main thread is busy until the engine has surely begun the transaction.
  await nextTurn()
  await nextTurn()
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)
  if (safely) endProcess(code)
  else process.exit(code)
}

async function answer(kv: Kv, request: Request): Promise<void> {
  if (request.do === 'commit') {
    await kv.commit({ puts: [put(request.key, request.value)] })
    if (request.mark !== undefined) await writeFile(request.mark, '')
  }
  if (request.do === 'increment') await increment(kv, bytes(request.key), request.times)
  if (request.do === 'commit on') {
    const writers = Array.from({ length: request.writers }, (_, i) => commitOn(kv, i))
    await reportRejections(writers)
    await nextTurn()
    await reportRejections([kv.commit({}), kv.get([bytes('k')])])
  }
  if (request.do === 'commit large values') {
    const value = Buffer.alloc(limits.kvValueBytesMax, 'large')
    await reportRejections(
      Array.from({ length: request.times }, (_, i) => kv.commit({ puts: [{ key: bytes(`large/${i}`), value }] })),
    )
  }
  if (request.do === 'hold a snapshot') await kv.snapshot()
  if (request.do === 'exit within a commit') return exitWithinCommit(kv, request.code, request.safely)
  report({ said: 'done' })
}

const [path] = process.argv.slice(2)
if (path === undefined) throw new Error('no path given')
let failures = 0
const kv = await openLmdb({
  path,
  onFatal: (error) => report({ said: 'fatal', reason: reasonOf(error), times: ++failures }),
})
process.on('message', (request: Request) => void answer(kv, request))
report({ said: 'ready' })
