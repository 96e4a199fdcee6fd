/** Histories of one key as clients would see them of a register that is right, made up from a seed; and the same with one bug in them. */
import type { Action, Answer, Observed, Value } from './linearizable.ts'

const clients = 5
const actionsEach = 8

interface Pending {
  action: Action
  beganMs: number
}

/** Each action takes effect at some moment between its beginning and its end; a few answers get lost. `random`: from 0 up to 1. */
export function registerHistory(random: () => number): Observed[] {
  const observed: Observed[] = []
  const underWay = new Map<number, Pending>()
  const left = new Map(Array.from({ length: clients }, (_, client) => [client, actionsEach]))
  let state: Value
  let lastSeen: Value
  let now = 0
  while (left.size > 0) {
    now++
    const client = [...left.keys()][Math.floor(random() * left.size)] ?? 0
    const pending = underWay.get(client)
    if (pending === undefined) {
      underWay.set(client, { action: anAction(random, `${client}/${now}`, lastSeen), beganMs: now })
      continue
    }
    // It takes effect, and a while later its client hears of it.
    const { answer, after } = answered(state, pending.action)
    const isLost = random() < 0.05
    if (isLost) state = random() < 0.5 ? after : state
    else state = after
    lastSeen = state ?? lastSeen
    underWay.delete(client)
    observed.push({ ...pending, answer: isLost ? { said: 'unknown' } : answer, endedMs: now + random() * 3 })
    now += 4
    const more = (left.get(client) ?? 0) - 1
    if (more === 0) left.delete(client)
    else left.set(client, more)
  }
  return observed
}

function anAction(random: () => number, value: string, seen: Value): Action {
  const dice = random()
  if (dice < 0.4) return { kind: 'get' }
  if (dice < 0.6) return { kind: 'put', value }
  if (dice < 0.75) return { kind: 'put if absent', value }
  if (dice < 0.9) return { kind: 'put if match', value, expected: seen ?? 'none' }
  return { kind: 'delete' }
}

function answered(state: Value, action: Action): { answer: Answer; after: Value } {
  if (action.kind === 'get') return { answer: { said: 'value', value: state }, after: state }
  if (action.kind === 'delete') return { answer: { said: 'ok' }, after: undefined }
  if (action.kind === 'put if absent' && state !== undefined) return { answer: { said: 'failed' }, after: state }
  if (action.kind === 'put if match' && state === undefined) return { answer: { said: 'absent' }, after: state }
  if (action.kind === 'put if match' && state !== action.expected) return { answer: { said: 'failed' }, after: state }
  return { answer: { said: 'ok' }, after: action.value }
}

export const bugs = ['a stale read', 'a lost write', 'two winners', 'a read of what nobody wrote'] as const
export type Bug = (typeof bugs)[number]

const laterThanAll = (history: readonly Observed[]): number => Math.max(...history.map(({ endedMs }) => endedMs)) + 1

/** The history with what a server with that bug would have said next, when nothing else was under way. */
export function withBug(history: readonly Observed[], bug: Bug): Observed[] {
  let now = laterThanAll(history)
  const next = (action: Action, answer: Answer): Observed => {
    now += 2
    return { action, answer, beganMs: now - 1, endedMs: now }
  }
  const ok: Answer = { said: 'ok' }
  const isOf = (value: Value): Answer => ({ said: 'value', value })
  const put = next({ kind: 'put', value: 'new' }, ok)
  if (bug === 'a stale read') {
    const newer = next({ kind: 'put', value: 'newer' }, ok)
    return [...history, put, newer, next({ kind: 'get' }, isOf('new'))]
  }
  if (bug === 'a lost write') {
    const gone = next({ kind: 'delete' }, ok)
    return [...history, put, next({ kind: 'get' }, isOf('new')), gone, next({ kind: 'get' }, isOf('new'))]
  }
  if (bug === 'two winners') {
    const replace = (value: string): Observed => next({ kind: 'put if match', value, expected: 'new' }, ok)
    const [one, other] = [replace('one'), replace('other')]
    // At the same time.
    return [...history, put, one, { ...other, beganMs: one.beganMs }]
  }
  return [...history, put, next({ kind: 'get' }, isOf('from nowhere'))]
}
