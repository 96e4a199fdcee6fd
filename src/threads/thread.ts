/** The entry point of a thread: does the work of its sessions, one chunk after the other. Only `worker-threads.ts` starts it. */
import { parentPort } from 'node:worker_threads'
import { SegmentDamaged } from '../encryption/segments.ts'
import { ByteWork } from './byte-work.ts'
import type { FromThread, ToThread } from './messages.ts'

const sessions = new Map<number, ByteWork>()

function sessionOf(id: number): ByteWork {
  const session = sessions.get(id)
  if (session === undefined) throw new Error('the session is over')
  return session
}

function answer(ask: Extract<ToThread, { kind: 'work' | 'digest' }>): FromThread {
  try {
    const session = sessionOf(ask.session)
    if (ask.kind === 'digest') return { kind: 'digests', digests: session.digest() }
    const memory = Buffer.from(ask.memory, ask.offset, ask.length)
    return { kind: 'piece', piece: session.work(memory, ask.bytes) }
  } catch (error) {
    sessions.delete(ask.session)
    if (error instanceof SegmentDamaged) return { kind: 'damaged', segment: error.segment }
    return { kind: 'failed', message: String(error) }
  }
}

function take(ask: ToThread): void {
  if (ask.kind === 'begin') sessions.set(ask.session, new ByteWork(ask.order))
  else if (ask.kind === 'end') sessions.delete(ask.session)
  else parentPort?.postMessage(answer(ask))
}

/** While an order can't be started yet, everything after it waits, too, because answers are matched with requests only by their order. */
let turn: Promise<void> | undefined

parentPort?.on('message', (ask: ToThread) => {
  const ready = ask.kind === 'begin' ? ByteWork.ready(ask.order) : undefined
  if (turn === undefined && ready === undefined) {
    take(ask)
    return
  }
  // An order that can't be started makes no session, and all requests to it are answered with a failure.
  const mine = Promise.allSettled([turn, ready]).then(([, { status }]) => {
    if (turn === mine) turn = undefined
    if (status === 'fulfilled') take(ask)
  })
  turn = mine
})
