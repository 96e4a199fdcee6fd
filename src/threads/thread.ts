/** The entry point of a thread: does the work of its sessions, in turns of one chunk of each of a few. Only `worker-threads.ts` starts it. */
import { parentPort, receiveMessageOnPort } from 'node:worker_threads'
import { lanes } from '../checksums/md5-kernel.ts'
import { SegmentDamaged } from '../encryption/segments.ts'
import { ByteWork, type Chunk, type WorkOrder } from './byte-work.ts'
import type { Answer, FromThread, ToThread } from './messages.ts'

type Ask = Extract<ToThread, { kind: 'work' | 'digest' }>
type WorkAsk = Extract<Ask, { kind: 'work' }>

interface Session {
  /** `undefined`: it can't be started yet. */
  work: ByteWork | 'failed' | undefined
  /** Without answer, the oldest first. */
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

/** Whatever else is asked of the session is answered with a failure. */
function fail(id: number): void {
  const session = sessions.get(id)
  if (session !== undefined) session.work = 'failed'
}

function begin(id: number, order: WorkOrder): void {
  const session: Session = { work: undefined, asks: [] }
  // The one that is alone with its thread has no company to be digested with.
  const company = sessions.size > 0
  sessions.set(id, session)
  const start = (): void => {
    session.work = new ByteWork(order, { company })
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

/** What a session waits for: answers what needs no work on bytes, and gives the chunk that does. */
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

/** One chunk of each of a few sessions, whose digests are computed together. Who had a turn comes last in the next. */
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
  // Not at once: an order that can't be started yet waits for something else than messages.
  setImmediate(takeTurn)
}

/** What has arrived and was not delivered yet. */
function received(): ToThread | undefined {
  const message: { message: ToThread } | undefined = parentPort === null ? undefined : receiveMessageOnPort(parentPort)
  return message?.message
}

parentPort?.on('message', (ask: ToThread) => {
  take(ask)
  takeTurn()
})
