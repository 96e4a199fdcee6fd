/** The admin port's operations on long work: to start, watch and cancel scrubs, repairs, moves, snapshots and reclaims. */
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { limits } from '../limits.ts'
import { defineAdminOperation, defineAdminStream } from './requests/operation.ts'
import { AdminRefused } from './requests/refusal.ts'
import type { TaskOrder } from './services.ts'
import { taskView } from './state-views.ts'
import { name, noInput } from './views.ts'

const listTasks = defineAdminOperation({
  name: 'ListTasks',
  summary: 'Lists tasks: those that wait or run, and those that have ended within 30 days.',
  method: 'GET',
  path: '/v1/tasks',
  permission: 'admin:ListTasks',
  status: 200,
  input: noInput,
  output: z.object({ tasks: z.array(taskView) }),
  handle: async ({ tasks }) => ({ tasks: await tasks.list() }),
})

const watchTasks = defineAdminStream({
  name: 'WatchTasks',
  summary: 'Streams all tasks as server-sent events: now, and whenever one of them changes.',
  path: '/v1/tasks/events',
  permission: 'admin:ListTasks',
  input: noInput,
  output: z.object({ tasks: z.array(taskView) }),
  async *events({ tasks }, _, signal) {
    let before: string | undefined
    while (!signal.aborted) {
      const now = await tasks.list()
      const text = JSON.stringify(now)
      if (text !== before) yield { tasks: now }
      before = text
      await delay(limits.taskWatchMs, undefined, { signal }).catch(() => {})
    }
  },
})

const kind = z.enum(['scrub', 'repair', 'move', 'snapshot', 'reclaim'])

const startTask = defineAdminOperation({
  name: 'StartTask',
  summary:
    'Starts a task, or returns the one of its kind that is under way. A move needs `bucket` and `to`; a `snapshot` of the metadata goes to the stores; `reclaim` runs the background jobs now.',
  method: 'POST',
  path: '/v1/tasks',
  permission: 'admin:StartTask',
  status: 201,
  input: z.strictObject({
    kind,
    /** For a move. */
    bucket: name.optional(),
    to: name.optional(),
    /** For a scrub, a repair or a move. Absent: the configured rate. */
    bytesPerSecond: z.int().min(1).optional(),
    /** For a scrub: starts from the beginning. */
    restart: z.boolean().optional(),
    /** For a reclaim: the age at which unreferenced data is removed. Absent: the configured age. A request can only make it longer. */
    graceSeconds: z.int().min(0).max(3_153_600_000).optional(),
  }),
  output: taskView,
  handle: ({ tasks }, _, order) => tasks.start(orderOf(order)),
})

interface Order {
  kind: z.infer<typeof kind>
  bucket?: string | undefined
  to?: string | undefined
  bytesPerSecond?: number | undefined
  restart?: boolean | undefined
  graceSeconds?: number | undefined
}

/** Which fields each kind of task takes. */
const taken: Readonly<Record<Order['kind'], readonly (keyof Order)[]>> = {
  scrub: ['bytesPerSecond', 'restart'],
  repair: ['bytesPerSecond'],
  move: ['bucket', 'to', 'bytesPerSecond'],
  snapshot: [],
  reclaim: ['graceSeconds'],
}

/** Throws `AdminRefused` for a field that would have no effect. */
function orderOf(order: Order): TaskOrder {
  const { kind: of, bucket, to, bytesPerSecond, restart, graceSeconds } = order
  for (const [field, value] of Object.entries(order)) {
    if (value !== undefined && field !== 'kind' && !taken[of].some((known) => known === field)) {
      throw new AdminRefused('Refused', `A ${of} takes no ${field}.`)
    }
  }
  const asked: Record<string, string | number> = {}
  if (bytesPerSecond !== undefined) asked.bytesPerSecond = bytesPerSecond
  if (graceSeconds !== undefined) asked.graceMs = graceSeconds * 1000
  if (of !== 'move') return { kind: of, name: of === 'snapshot' ? 'now' : '', arguments: asked, restart }
  if (bucket === undefined || to === undefined) throw new AdminRefused('Refused', 'A move needs bucket and to.')
  return { kind: of, name: bucket, arguments: { to, ...asked } }
}

const cancelTask = defineAdminOperation({
  name: 'CancelTask',
  summary: 'Stops a task at its next step. Started again, it continues from there.',
  method: 'POST',
  path: '/v1/tasks/cancel',
  permission: 'admin:CancelTask',
  status: 204,
  input: z.strictObject({ kind, name: z.string().max(256).optional() }),
  output: undefined,
  handle: async ({ tasks }, _, { kind: of, name: about = '' }) => {
    const cancelled = await tasks.cancel({ kind: of, name: about })
    if (!cancelled) throw new AdminRefused('NoSuchTask', 'No such task waits or runs.')
  },
})

export const taskOperations = [listTasks, watchTasks, startTask, cancelTask]
