/**
 * Takes up requests for long work and does it, in the one process that owns the instance, one task of a kind at a time. When a process ends, the next one
 * continues its tasks from their cursors.
 */
import { setMaxListeners } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { Backend } from '../../commits/backend.ts'
import { limits } from '../../limits.ts'
import {
  allTasks,
  type FoundTask,
  forgetTask,
  isEnded,
  readTask,
  requestTask,
  type TaskArguments,
  type TaskName,
  type TaskProgress,
  type TaskRecord,
  writeTask,
} from './tasks.ts'

/** The request can't be done as things are, and nothing was changed. The message tells its author why. */
export class TaskRefused extends Error {
  constructor(reason: string) {
    super(reason)
    this.name = 'TaskRefused'
  }
}

/** A kind of task. */
export interface TaskKind {
  readonly kind: string
  /** Time after which an ended task is started again, with an empty name and no arguments. Absent: only on request. */
  readonly everyMs?: number | undefined
  /** Time until the first start. Absent: at once. */
  readonly firstAfterMs?: number | undefined
  /**
   * Resolves when all is done. The error that it throws becomes the reason of the failure: `TaskRefused` if only the request is at fault. Running it again from an
   * earlier cursor must do no harm.
   */
  run(backend: Backend, task: RunningTask): Promise<void>
}

/** A task, as its code sees it. */
export interface RunningTask {
  readonly name: string
  /** The arguments of the last request. They can change while the task runs. */
  readonly arguments: TaskArguments
  readonly cursor: string | undefined
  readonly progress: TaskProgress
  /** Aborted when the task is cancelled or requested anew, and when this process ends: then `run` may throw anything. */
  readonly signal: AbortSignal
  /** Saves the progress, and the cursor from which to continue. Durable within about a second. Throws when the task must stop. */
  advance(step: Partial<TaskProgress> & { cursor?: string }): Promise<void>
}

export interface TaskRunnerOptions {
  backend: Backend
  kinds: readonly TaskKind[]
  onError(error: unknown): void
  /** Whether a task can continue where it was after this error. Absent: it never can. */
  isTransient?(error: unknown): boolean
  /** Tells the operator in one line. */
  warn?(message: string): void
  pollMs?: number
}

export interface TaskRunner {
  /** Resolves when the tasks under way have saved their progress. The next runner continues them. */
  stop(): Promise<void>
}

export function startTasks(options: TaskRunnerOptions): TaskRunner {
  const { backend, kinds, onError, isTransient = () => false, warn = () => {}, pollMs = limits.taskPollMs } = options
  const running = new Map<string, { task: Running; ended: Promise<void> }>()
  const stopping = new AbortController()

  const start = (kind: TaskKind, found: FoundTask): void => {
    const task = new Running(backend, found, { stopping: stopping.signal, isTransient })
    const ended = task
      .run(kind, (error) => {
        if (error instanceof TaskRefused) warn(`${nameOf(found)} was refused: ${error.message}`)
        else onError(error)
      })
      .catch(onError)
      .finally(() => running.delete(kind.kind))
    running.set(kind.kind, { task, ended })
  }
  const poll = async (): Promise<void> => {
    const found = await allTasks(backend.kv)
    if (stopping.signal.aborted) return
    for (const kind of kinds) {
      const ofKind = found.filter((task) => task.kind === kind.kind)
      const current = running.get(kind.kind)
      if (current !== undefined) current.task.learn(ofKind)
      else {
        const next = nextOf(ofKind, backend.clock.now())
        if (next !== undefined) start(kind, next)
        else await requestIfDue(backend, kind, ofKind)
      }
    }
    await forgetOld(backend, kinds, found)
  }
  const polling = (async () => {
    while (!stopping.signal.aborted) {
      await poll().catch(onError)
      await delay(pollMs, undefined, { ref: false, signal: stopping.signal }).catch(() => {})
    }
  })()
  return {
    stop: async () => {
      stopping.abort(new Error('the process ends'))
      await polling
      await Promise.all([...running.values()].map(({ ended }) => ended))
    },
  }
}

/** A task that an earlier process left running comes first, then the one that has waited longest. */
function nextOf(found: readonly FoundTask[], nowMs: number): FoundTask | undefined {
  const order = ({ record }: FoundTask): number =>
    record.state === 'running' ? Number.NEGATIVE_INFINITY : record.requestedMs
  return found
    .filter((task) => !isEnded(task.record) && order(task) <= nowMs)
    .toSorted((a, b) => order(a) - order(b))[0]
}

async function requestIfDue(backend: Backend, task: TaskKind, found: readonly FoundTask[]): Promise<void> {
  const { kind, everyMs, firstAfterMs = 0 } = task
  if (everyMs === undefined) return
  const own = found.find(({ name }) => name === '')?.record
  if (own !== undefined && (own.endedMs === undefined || backend.clock.now() < own.endedMs + everyMs)) return
  const afterMs = own === undefined ? firstAfterMs : 0
  await requestTask(backend, { kind, name: '', arguments: {}, afterMs })
}

async function forgetOld(
  { kv, clock }: Backend,
  kinds: readonly TaskKind[],
  found: readonly FoundTask[],
): Promise<void> {
  for (const { kind, name, record, version } of found) {
    const isDue = isEnded(record) && (record.endedMs ?? 0) + limits.endedTaskKeptMs < clock.now()
    const isRepeated = name === '' && kinds.some((known) => known.kind === kind && known.everyMs !== undefined)
    if (isDue && !isRepeated) await forgetTask(kv, { kind, name, version })
  }
}

/** The state of a run, which is ahead of what is saved. */
class Running implements RunningTask {
  readonly name: string
  readonly signal: AbortSignal
  readonly #backend: Backend
  readonly #key: TaskName
  readonly #stopping: AbortSignal
  readonly #isTransient: (error: unknown) => boolean
  readonly #replaced = new AbortController()
  #record: TaskRecord
  #savedMs = performance.now()

  constructor(
    backend: Backend,
    { kind, name, record }: FoundTask,
    { stopping, isTransient }: { stopping: AbortSignal; isTransient(error: unknown): boolean },
  ) {
    this.#backend = backend
    this.#key = { kind, name }
    this.#record = record
    this.#stopping = stopping
    this.#isTransient = isTransient
    this.name = name
    this.signal = AbortSignal.any([stopping, this.#replaced.signal])
    // Each read of a shard adds a listener.
    setMaxListeners(0, this.signal)
  }

  get arguments(): TaskArguments {
    return this.#record.arguments
  }

  get cursor(): string | undefined {
    return this.#record.cursor
  }

  get progress(): TaskProgress {
    return this.#record.progress
  }

  async run(kind: TaskKind, onError: (error: unknown) => void): Promise<void> {
    const { clock } = this.#backend
    await this.#save({ state: 'running', startedMs: this.#record.startedMs ?? clock.now() })
    if (this.signal.aborted) return
    try {
      await kind.run(this.#backend, this)
      await this.#save({ state: 'done', endedMs: clock.now(), cursor: undefined })
    } catch (error) {
      if (this.#stopping.aborted) await this.#save({})
      if (this.signal.aborted) return
      // The record still says that the task is running, as if this process had died. The next look continues it.
      if (this.#isTransient(error)) return
      onError(error)
      await this.#save({ state: 'failed', reason: reasonOf(error), endedMs: clock.now() })
    }
  }

  async advance({ cursor, ...step }: Partial<TaskProgress> & { cursor?: string }): Promise<void> {
    this.signal.throwIfAborted()
    const progress = { ...this.#record.progress, ...step }
    this.#record = { ...this.#record, progress, ...(cursor === undefined ? {} : { cursor }) }
    if (performance.now() - this.#savedMs < limits.taskPollMs) return
    await this.#save({})
    this.signal.throwIfAborted()
  }

  /** Applies changes that other processes wrote to the record. `found`: the records of this kind of task. */
  learn(found: readonly FoundTask[]): void {
    const own = found.find(({ name }) => name === this.name)?.record
    if (own === undefined || own.id !== this.#record.id || isEnded(own)) {
      this.#replaced.abort(new Error('the task was cancelled, or asked for anew'))
    } else {
      this.#record = { ...this.#record, arguments: own.arguments }
    }
  }

  async #save(change: Partial<TaskRecord>): Promise<void> {
    const { kv } = this.#backend
    for (;;) {
      const found = await readTask(kv, this.#key)
      this.learn(found === undefined ? [] : [found])
      if (found === undefined || this.#replaced.signal.aborted) return
      this.#record = { ...this.#record, ...change }
      this.#savedMs = performance.now()
      if (await writeTask(kv, { ...this.#key, record: this.#record, version: found.version })) return
    }
  }
}

const nameOf = ({ kind, name }: TaskName): string => (name === '' ? kind : `${kind} of ${name}`)

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
