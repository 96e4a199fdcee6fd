/** `holdfast locations move`: moves a bucket's data to another location, or to the newest version of its own, whether a server runs or not. */
import { requireTarget } from '../../config/locations.ts'
import { moveKind, moveTask } from '../../jobs/moves/move-bucket.ts'
import { cancelTask } from '../../jobs/tasks/tasks.ts'
import type { Invocation } from '../command.ts'
import { withMetadata } from '../stopped-data.ts'
import { askedRate } from './asked-rate.ts'
import { formatBytes } from './progress.ts'
import { runTask } from './run-task.ts'

export async function moveBucket(invocation: Invocation, bucket: string, to: string): Promise<number> {
  const { configuration, json, print } = invocation
  requireTarget(configuration.placement.locations, to, configuration.metadata !== undefined)
  const { state, reason, progress } = await runTask(
    invocation,
    { kind: moveKind, name: bucket, arguments: { to, ...askedRate(invocation) } },
    moveTask(),
  )
  const { moved = 0, unreadable = 0 } = progress.counts
  const wrote = `${formatBytes(progress.done)} in ${moved} blobs moved`
  if (json)
    print(JSON.stringify({ event: 'moved', bucket, to, state, reason, bytes: progress.done, moved, unreadable }))
  else if (state === 'done')
    print(`all data of ${bucket} lies in ${to}: ${wrote}. What it left is removed after the grace`)
  else print(`${state}${reason === undefined ? '' : `: ${reason}`}; ${wrote} so far. Repeat the command to go on`)
  return state === 'done' ? 0 : 1
}

/** Cancels a move. Data that was moved stays in the new location, and new data still goes there. */
export async function cancelMove(invocation: Invocation, bucket: string): Promise<number> {
  const { json, print } = invocation
  const task = { kind: moveKind, name: bucket }
  const cancelled = await withMetadata(invocation, (metadata) => cancelTask(metadata, task))
  if (json) print(JSON.stringify({ event: 'cancelled', bucket, cancelled }))
  else
    print(cancelled ? 'cancelled; a move to the same location goes on from there' : `no move of ${bucket} is under way`)
  return cancelled ? 0 : 1
}
