/** `holdfast repair`: rebuilds the missing shards of queued blobs now, and not only at the next run of the background jobs. */
import { repairKind, repairTask } from '../../jobs/repairing/repair-task.ts'
import type { Invocation } from '../command.ts'
import { askedRate } from './asked-rate.ts'
import { formatBytes } from './progress.ts'
import { runTask } from './run-task.ts'

export async function repair(invocation: Invocation): Promise<number> {
  const { json, print } = invocation
  const { state, reason, progress } = await runTask(
    invocation,
    { kind: repairKind, name: '', arguments: askedRate(invocation) },
    repairTask({ bytesPerSecond: undefined }),
  )
  const { done, counts } = progress
  if (json) print(JSON.stringify({ event: 'repaired', state, reason, bytes: done, ...counts }))
  else if (state !== 'done') print(`${state}${reason === undefined ? '' : `: ${reason}`}`)
  else {
    print(
      `looked at blobs of ${formatBytes(done)}: ${counts.repaired ?? 0} repaired, ${counts.degraded ?? 0} still lack shards, ${counts.lost ?? 0} lost`,
    )
  }
  return state === 'done' && (counts.degraded ?? 0) === 0 && (counts.lost ?? 0) === 0 ? 0 : 1
}
