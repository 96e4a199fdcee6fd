/** Has a task done, and follows it to its end: by the server that runs on the data, or by this process when none does. */
import { setTimeout as delay } from 'node:timers/promises'
import { InstanceInUse } from '../instance/instance-lock.ts'
import { startTasks, type TaskKind } from '../jobs/task-runner.ts'
import { isEnded, readTask, requestTask, type TaskName, type TaskRecord, type TaskRequest } from '../jobs/tasks.ts'
import type { Kv } from '../kv/kv.ts'
import type { Invocation } from './command.ts'
import { openProgress, type Progress } from './progress.ts'
import { withMetadataBeside, withStoppedData } from './stopped-data.ts'

const followEveryMs = 200
/** A server that starts takes the data directory before it takes up tasks, and one that ends the other way around. */
const unservedMsMax = 2_000

/**
 * Resolves with the record of the task when it has ended, in whatever way. `kind` does it when no server runs; a server that ends meanwhile leaves it to this
 * process, and the other way around.
 */
export async function runTask(invocation: Invocation, request: TaskRequest, kind: TaskKind): Promise<TaskRecord> {
  const progress = openProgress({ ...invocation, label: [request.kind, request.name].filter(Boolean).join(' ') })
  let asked = request
  for (;;) {
    const ended =
      (await byThisProcess(invocation, asked, kind, progress)) ?? (await byServer(invocation, asked, progress))
    if (ended !== undefined) {
      progress.end(ended.progress)
      return ended
    }
    // What is asked for anew goes on.
    asked = { ...request, restart: false }
  }
}

/** `undefined`: a server runs on the data. */
async function byThisProcess(
  invocation: Invocation,
  request: TaskRequest,
  kind: TaskKind,
  progress: Progress,
): Promise<TaskRecord | undefined> {
  try {
    return await withStoppedData(invocation, async ({ store }) => {
      const { id } = await requestTask(store, request)
      const runner = startTasks({ store, kinds: [{ ...kind, everyMs: undefined }], onError: () => {} })
      try {
        return await follow(store.kv, request, id, progress, async () => true)
      } finally {
        await runner.stop()
      }
    })
  } catch (error) {
    if (error instanceof InstanceInUse) return undefined
    throw error
  }
}

/** `undefined`: the server has gone, and the task has not ended. */
function byServer(invocation: Invocation, request: TaskRequest, progress: Progress): Promise<TaskRecord | undefined> {
  return withMetadataBeside(invocation, async (metadata) => {
    const { id } = await requestTask(metadata, request)
    return follow(metadata.kv, request, id, progress, metadata.isServed)
  })
}

async function follow(
  kv: Kv,
  task: TaskName,
  id: string,
  progress: Progress,
  isServed: () => Promise<boolean>,
): Promise<TaskRecord | undefined> {
  let unservedMs = 0
  while (unservedMs < unservedMsMax) {
    const record = (await readTask(kv, task))?.record
    if (record === undefined || record.id !== id)
      throw new Error(`another request for ${task.kind} took the place of this one`)
    if (isEnded(record)) return record
    progress.show(record.progress)
    await delay(followEveryMs)
    unservedMs = (await isServed()) ? 0 : unservedMs + followEveryMs
  }
  return undefined
}
