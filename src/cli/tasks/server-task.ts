/** Asks a running server for a task over its admin port, and follows it to its end. Needs no access to the data directory. */
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { taskView } from '../../admin/state-views.ts'
import { AdminRefused, askAdmin } from '../admin/admin-client.ts'
import { adminTarget } from '../admin/admin-target.ts'
import type { Invocation } from '../command.ts'
import { openProgress } from './progress.ts'

type Task = z.output<typeof taskView>

const followEveryMs = 200

/** `input`: as `StartTask` takes it. Rejects with `AdminRefused`. */
export async function runServerTask(
  invocation: Invocation,
  input: { kind: string; graceSeconds?: number },
): Promise<Task> {
  const { target } = await adminTarget(invocation)
  const path = ['v1', 'tasks']
  const started = await askAdmin(target, { method: 'POST', path, input }, taskView)
  const progress = openProgress({ ...invocation, label: input.kind })
  for (;;) {
    const { tasks } = await askAdmin(target, { method: 'GET', path }, z.object({ tasks: z.array(taskView) }))
    const task = tasks.find(({ id }) => id === started.id)
    if (task === undefined) throw new AdminRefused(`another request for ${input.kind} took the place of this one`)
    if (task.state === 'done' || task.state === 'failed' || task.state === 'cancelled') {
      progress.end(task.progress)
      return task
    }
    progress.show(task.progress)
    await delay(followEveryMs)
  }
}
