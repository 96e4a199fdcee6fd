/** Long work: asked for by records, done by one runner at a time, gone on with from where it was. */
import { EventEmitter, once } from 'node:events'
import { afterEach, describe, expect, it } from 'vitest'
import {
  type RunningTask,
  startTasks,
  type TaskKind,
  TaskRefused,
  type TaskRunner,
} from '../../../src/jobs/tasks/task-runner.ts'
import { cancelTask, readTask, requestTask, type TaskRecord } from '../../../src/jobs/tasks/tasks.ts'
import { tasks } from '../../../src/records/keyspace.ts'
import { memoryStore, type TestStore } from '../../objects/fixture.ts'

const runners: TaskRunner[] = []
afterEach(async () => {
  await Promise.all(runners.splice(0).map((runner) => runner.stop()))
})

const failures: unknown[] = []
const warnings: string[] = []
function start({ backend }: TestStore, ...kinds: TaskKind[]): TaskRunner {
  const runner = startTasks({
    backend,
    kinds,
    onError: (error) => failures.push(error),
    warn: (line) => warnings.push(line),
    pollMs: 5,
  })
  runners.push(runner)
  return runner
}

const scan = { kind: 'scan', name: '' }
const ask = ({ backend }: TestStore, name = '', options: { restart?: boolean; step?: number } = {}) =>
  requestTask(backend, {
    kind: 'scan',
    name,
    arguments: { step: options.step ?? 1 },
    ...(options.restart === undefined ? {} : { restart: options.restart }),
  })

/** Resolves with the record when it is as `test` wants it. */
async function until({ kv }: TestStore, test: (record: TaskRecord) => boolean, name = ''): Promise<TaskRecord> {
  for (;;) {
    const record = (await readTask(kv, { kind: 'scan', name }))?.record
    if (record !== undefined && test(record)) return record
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** The runner has looked twice, from the start, at what there is to do. */
async function polled({ kv }: TestStore): Promise<void> {
  const range = kv.range.bind(kv)
  let begun = 0
  await new Promise<void>((resolve) => {
    kv.range = (query) => {
      if (query.start.equals(tasks.start) && ++begun === 3) resolve()
      return range(query)
    }
  })
  kv.range = range
}

/** Counts to ten, and waits for a word at each step. */
function counting() {
  const events = new EventEmitter()
  const seen: string[] = []
  let allowed = 0
  const kind: TaskKind = {
    kind: 'scan',
    async run(_, task) {
      for (let at = Number(task.cursor ?? 0) + 1; at <= 10; at++) {
        while (at > allowed) await once(events, 'go', { signal: task.signal })
        seen.push(`${task.name}${at}*${task.arguments.step}`)
        await task.advance({ cursor: `${at}`, done: at, total: 10, counts: { odd: Math.ceil(at / 2) } })
      }
    },
  }
  return {
    kind,
    seen,
    allow: (upTo: number) => {
      allowed = upTo
      events.emit('go')
    },
  }
}

describe('a task', () => {
  it('is done by a runner that finds the request, and says how it went', async () => {
    const made = memoryStore()
    const { kind, allow } = counting()
    allow(10)
    start(made, kind)
    await ask(made)
    expect(await until(made, ({ state }) => state === 'done')).toMatchObject({
      progress: { done: 10, total: 10, counts: { odd: 5 } },
      startedMs: made.clock.now(),
      endedMs: made.clock.now(),
    })
  })

  it('is gone on with by the next runner, from its cursor', async () => {
    const made = memoryStore()
    const first = counting()
    const runner = start(made, first.kind)
    await ask(made)
    first.allow(4)
    await until(made, () => first.seen.length === 4)
    await runner.stop()
    expect(await until(made, () => true)).toMatchObject({ state: 'running', cursor: '4', progress: { done: 4 } })

    // Whatever the clock says, and whoever else asked.
    made.clock.advance(-10_000)
    await ask(made, 'another')
    const second = counting()
    second.allow(10)
    start(made, second.kind)
    await until(made, ({ state }) => state === 'done')
    expect(second.seen[0]).toBe('5*1')
  })

  it('asked for twice is one, with the newer arguments', async () => {
    const made = memoryStore()
    const { kind, allow, seen } = counting()
    start(made, kind)
    const { id } = await ask(made)
    allow(2)
    await until(made, () => seen.length === 2)
    expect((await ask(made, '', { step: 7 })).id).toBe(id)
    allow(9)
    await until(made, () => seen.length === 9)
    allow(10)
    await until(made, ({ state }) => state === 'done')
    expect(seen).toHaveLength(10)
    expect((await until(made, () => true)).arguments).toEqual({ step: 7 })
  })

  it('begins anew when that is asked for', async () => {
    const made = memoryStore()
    const { kind, allow, seen } = counting()
    start(made, kind)
    await ask(made)
    allow(3)
    await until(made, () => seen.length === 3)
    await ask(made, '', { restart: true })
    allow(10)
    await until(made, ({ state }) => state === 'done')
    expect(seen.filter((step) => step === '1*1')).toHaveLength(2)
  })

  it('stops when it is cancelled, and goes on from there when it is asked for again', async () => {
    const made = memoryStore()
    const { kind, allow, seen } = counting()
    start(made, kind)
    await ask(made)
    allow(3)
    await until(made, () => seen.length === 3)
    expect(await cancelTask(made.backend, scan)).toBe(true)
    expect(await cancelTask(made.backend, scan)).toBe(false)
    const { record } = (await readTask(made.kv, scan)) ?? {}
    expect(record?.state).toBe('cancelled')
    await polled(made)
    allow(6)
    await polled(made)
    expect(seen).toHaveLength(3)
    await until(made, ({ state }) => state === 'cancelled')
    await ask(made)
    allow(10)
    await until(made, ({ state }) => state === 'done')
  })

  it('that fails says why', async () => {
    const made = memoryStore()
    start(made, {
      kind: 'scan',
      run: async () => {
        throw new Error('no luck')
      },
    })
    await ask(made)
    expect(await until(made, ({ state }) => state === 'failed')).toMatchObject({ reason: 'no luck' })
    expect(failures.splice(0)).toEqual([new Error('no luck')])
  })

  it('that is refused says why, in one line, and is no fault', async () => {
    const made = memoryStore()
    start(made, {
      kind: 'scan',
      run: async (_, { name }) => {
        throw new TaskRefused(`there is no bucket ${name}`)
      },
    })
    await ask(made, 'nowhere')
    expect(await until(made, ({ state }) => state === 'failed', 'nowhere')).toMatchObject({
      reason: 'there is no bucket nowhere',
    })
    expect([failures, warnings.splice(0)]).toEqual([[], ['scan of nowhere was refused: there is no bucket nowhere']])
  })

  it('waits for others of its kind, first come first served, and for none of another kind', async () => {
    const made = memoryStore()
    const { kind, allow, seen } = counting()
    const other = counting()
    other.allow(10)
    for (const name of ['b', 'a']) {
      await ask(made, name)
      made.clock.advance(1)
    }
    await requestTask(made.backend, { kind: 'other', name: '', arguments: {} })
    start(made, kind, { ...other.kind, kind: 'other' })
    await until(made, () => other.seen.length === 10, 'b')
    allow(10)
    await until(made, ({ state }) => state === 'done', 'a')
    expect(seen.map((step) => step[0]).join('')).toBe('b'.repeat(10) + 'a'.repeat(10))
  })

  it('is asked for again when its time has come', async () => {
    const made = memoryStore()
    let runs = 0
    const run = async (_: unknown, task: RunningTask): Promise<void> => {
      runs++
      await task.advance({ done: runs })
    }
    start(made, { kind: 'scan', everyMs: 1000, run })
    await until(made, ({ state }) => state === 'done' && runs === 1)
    made.clock.advance(999)
    await polled(made)
    expect(runs).toBe(1)
    made.clock.advance(1)
    await until(made, ({ state }) => state === 'done' && runs === 2)
  })

  it('that comes by the time may come late for the first time, and at once when it is asked for', async () => {
    const made = memoryStore()
    let runs = 0
    const run = async (): Promise<void> => {
      runs++
    }
    start(made, { kind: 'scan', everyMs: 1000, firstAfterMs: 500, run })
    await until(made, ({ state }) => state === 'waiting')
    made.clock.advance(499)
    await polled(made)
    expect(runs).toBe(0)
    made.clock.advance(1)
    await until(made, ({ state }) => state === 'done')

    const another = memoryStore()
    start(another, { kind: 'scan', everyMs: 1000, firstAfterMs: 500, run })
    await until(another, ({ state }) => state === 'waiting')
    await ask(another)
    await until(another, ({ state }) => state === 'done')
    expect(runs).toBe(2)
  })

  it('that ended long ago is forgotten', async () => {
    const made = memoryStore()
    start(made, { kind: 'scan', run: async () => {} })
    await ask(made, 'bucket')
    await until(made, ({ state }) => state === 'done', 'bucket')
    made.clock.advance(31 * 24 * 60 * 60 * 1000)
    while ((await readTask(made.kv, { kind: 'scan', name: 'bucket' })) !== undefined) {
      await new Promise((resolve) => setImmediate(resolve))
    }
  })
})

it('a task continues where it was after a failure that passes by itself, and reports nothing', async () => {
  const store = memoryStore()
  const error = new Error('away for a moment')
  const seen: string[] = []
  let failuresLeft = 2
  const kind: TaskKind = {
    kind: 'scan',
    async run(_, task) {
      seen.push(task.cursor ?? 'start')
      await task.advance({ cursor: 'half', done: 5 })
      if (failuresLeft-- > 0) throw error
    },
  }
  const told: unknown[] = []
  const options = { backend: store.backend, kinds: [kind], pollMs: 5, onError: (thrown: unknown) => told.push(thrown) }
  runners.push(startTasks({ ...options, isTransient: (thrown) => thrown === error }))
  await ask(store)
  await until(store, ({ state }) => state === 'done')
  expect([seen.length, told]).toEqual([3, []])
})
