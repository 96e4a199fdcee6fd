/** Requests a task and follows it to its end. A running server does the work; without one, this process does. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../../clock.ts'
import { InstanceInUse, isOwnershipWanted } from '../../instance/instance-lock.ts'
import { startTasks, type TaskKind } from '../../jobs/tasks/task-runner.ts'
import { isEnded, readTask, requestTask, type TaskRecord, type TaskRequest } from '../../jobs/tasks/tasks.ts'
import type { Kv } from '../../kv/kv.ts'
import { isServer } from '../../members/list-members.ts'
import type { Invocation } from '../command.ts'
import { withMetadata, withSharedData, withYieldedData } from '../stopped-data.ts'
import { openProgress, type Progress } from './progress.ts'

const followEveryMs = 200
/**
 * How long the data directory must be without a server before this process takes over the task. A starting server owns the directory before it takes up
 * tasks, and an ending one drops its tasks before the directory.
 */
const unservedMsMax = 2_000

/**
 * Resolves with the task's record when the task has ended, however it ended. `kind` does the work when no server runs. When a running server ends, this
 * process takes over the task; when a server starts, it takes the task from this process.
 */
export async function runTask(invocation: Invocation, request: TaskRequest, kind: TaskKind): Promise<TaskRecord> {
  const progress = openProgress({ ...invocation, label: [request.kind, request.name].filter(Boolean).join(' ') })
  const following = new FollowedTask(request, progress)
  for (;;) {
    const ended =
      invocation.configuration.metadata === undefined
        ? ((await byThisProcess(invocation, kind, following)) ?? (await byServer(invocation, following)))
        : await byMaintainer(invocation, kind, following)
    if (ended !== undefined) {
      progress.end(ended.progress)
      return ended
    }
  }
}

/** `undefined`: a server runs on the data, or is about to start. */
async function byThisProcess(
  invocation: Invocation,
  kind: TaskKind,
  following: FollowedTask,
): Promise<TaskRecord | undefined> {
  try {
    return await withYieldedData(invocation, async ({ backend }) => {
      await following.ask(backend)
      const runner = startTasks({ backend, kinds: [{ ...kind, everyMs: undefined }], onError: () => {} })
      try {
        return await following.follow(backend.kv, async () => !(await isOwnershipWanted(backend.kv)))
      } finally {
        await runner.stop()
      }
    })
  } catch (error) {
    if (error instanceof InstanceInUse) return undefined
    throw error
  }
}

/** `undefined`: the server has gone before the task ended. */
function byServer(invocation: Invocation, following: FollowedTask): Promise<TaskRecord | undefined> {
  return withMetadata(invocation, async (metadata) => {
    await following.ask(metadata)
    let unservedMs = 0
    return following.follow(metadata.kv, async () => {
      unservedMs = (await metadata.isServed()) ? 0 : unservedMs + followEveryMs
      return unservedMs < unservedMsMax
    })
  })
}

/** For shared metadata: the maintainer does the work. If no server runs that could be it, this process takes the post. */
function byMaintainer(
  invocation: Invocation,
  kind: TaskKind,
  following: FollowedTask,
): Promise<TaskRecord | undefined> {
  return withSharedData(invocation, async ({ backend, maintain, others }) => {
    await following.ask(backend)
    const tasks = { kinds: [{ ...kind, everyMs: undefined }], onError: () => {} }
    let giveUp: (() => Promise<void>) | undefined
    try {
      return await following.follow(backend.kv, async () => {
        const isServed = (await others()).some(isServer)
        if (isServed) {
          await giveUp?.()
          giveUp = undefined
        } else giveUp ??= maintain(async (maintaining) => startTasks({ ...tasks, backend: maintaining.backend }))
        return true
      })
    } finally {
      await giveUp?.()
    }
  })
}

/** One requested task, whichever process does the work. */
class FollowedTask {
  readonly #request: TaskRequest
  readonly #progress: Progress
  #id: string | undefined

  constructor(request: TaskRequest, progress: Progress) {
    this.#request = request
    this.#progress = progress
  }

  /** Makes the request on the first call only: after a change of process it already exists, even if the task has ended. */
  async ask(writing: { kv: Kv; clock: Clock }): Promise<void> {
    this.#id ??= (await requestTask(writing, this.#request)).id
  }

  /** Polls until the task has ended. `undefined`: `goesOn` resolved with false before that. */
  async follow(kv: Kv, goesOn: () => Promise<boolean>): Promise<TaskRecord | undefined> {
    do {
      const record = (await readTask(kv, this.#request))?.record
      if (record === undefined || record.id !== this.#id) {
        throw new Error(`another request for ${this.#request.kind} took the place of this one`)
      }
      if (isEnded(record)) return record
      this.#progress.show(record.progress)
      await delay(followEveryMs)
    } while (await goesOn())
    return undefined
  }
}
