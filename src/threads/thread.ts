/** The entry point of a thread. It takes the work of its sessions in turns, each a chunk of each of a few sessions. Only `worker-threads.ts` starts it. */
import { parentPort, receiveMessageOnPort } from 'node:worker_threads'
import { lanes } from '../checksums/md5-kernel.ts'
import { SegmentDamaged } from '../encryption/segments.ts'
import { ByteWork, type Chunk, type WorkOrder } from './byte-work.ts'
import type { Answer, FromThread, ToThread } from './messages.ts'

type Ask = Extract<ToThread, { kind: 'work' | 'digest' }>
type WorkAsk = Extract<Ask, { kind: 'work' }>

interface Session {
  /** `undefined`: the work can't start yet. */
  work: ByteWork | 'failed' | undefined
  /** Requests that have no answer yet, oldest first. */
  asks: Ask[]
}

const sessions = new Map<number, Session>()

function answer(session: number, compute: () => Answer): void {
  let said: Answer
  try {
    said = compute()
  } catch (error) {
    fail(session)
    said =
      error instanceof SegmentDamaged
        ? { kind: 'damaged', segment: error.segment }
        : { kind: 'failed', message: String(error) }
  }
  const message: FromThread = { ...said, session }
  parentPort?.postMessage(message)
}

/** Everything that is requested of the session from now on is answered with a failure. */
function fail(id: number): void {
  const session = sessions.get(id)
  if (session !== undefined) session.work = 'failed'
}

function begin(id: number, order: WorkOrder): void {
  const session: Session = { work: undefined, asks: [] }
  sessions.set(id, session)
  const start = (): void => {
    session.work = new ByteWork(order)
  }
  const ready = ByteWork.ready(order)
  if (ready === undefined) start()
  else
    ready
      .then(start)
      .catch(() => fail(id))
      .finally(takeTurn)
}

function take(ask: ToThread): void {
  if (ask.kind === 'begin') begin(ask.session, ask.order)
  else if (ask.kind === 'end') sessions.delete(ask.session)
  else sessions.get(ask.session)?.asks.push(ask)
}

interface Turn {
  ask: WorkAsk
  chunk: Chunk
}

/** Answers the session's next requests up to the first that needs work on bytes, and returns that chunk. */
function turnOf(id: number, session: Session): Turn | undefined {
  const { work, asks } = session
  for (let ask = asks.shift(); ask !== undefined; ask = asks.shift()) {
    if (work === undefined) {
      asks.unshift(ask)
      return undefined
    }
    if (work === 'failed' || session.work === 'failed')
      answer(id, () => ({ kind: 'failed', message: 'the session is over' }))
    else if (ask.kind === 'digest') answer(id, () => ({ kind: 'digests', digests: work.digest() }))
    else return { ask, chunk: { work, memory: Buffer.from(ask.memory, ask.offset, ask.length), bytes: ask.bytes } }
  }
  return undefined
}

/** Takes one chunk of each of a few sessions and computes their digests together. A session that had a turn goes to the end of the queue. */
function takeTurn(): void {
  for (let next = received(); next !== undefined; next = received()) take(next)
  const turns: Turn[] = []
  for (const [id, session] of [...sessions]) {
    const turn = turnOf(id, session)
    if (turn === undefined) continue
    sessions.delete(id)
    sessions.set(id, session)
    if (turns.push(turn) === lanes) break
  }
  if (turns.length === 0) return
  ByteWork.digestTogether(turns.map(({ chunk }) => chunk))
  for (const { ask, chunk } of turns)
    answer(ask.session, () => ({ kind: 'piece', piece: chunk.work.convert(chunk.memory, chunk.bytes) }))
  // In a later turn of the event loop, because work that can't start yet waits for something other than messages.
  setImmediate(takeTurn)
}

/** A message that has arrived and was not delivered yet. */
function received(): ToThread | undefined {
  const message: { message: ToThread } | undefined = parentPort === null ? undefined : receiveMessageOnPort(parentPort)
  return message?.message
}

parentPort?.on('message', (ask: ToThread) => {
  take(ask)
  takeTurn()
})
