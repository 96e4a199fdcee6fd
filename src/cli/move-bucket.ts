/** `holdfast locations move`: brings a bucket's data to another location, or to the newest version of its own, also beside a running server. */
import { ConfigurationError } from '../config/configuration-error.ts'
import { didYouMean } from '../config/suggestion.ts'
import { moveTask } from '../jobs/move-bucket.ts'
import { defaultLocation } from '../operations/location-constraint.ts'
import { askedRate } from './asked-rate.ts'
import type { Invocation } from './command.ts'
import { formatBytes } from './progress.ts'
import { runTask } from './run-task.ts'

export async function moveBucket(invocation: Invocation, bucket: string, to: string): Promise<number> {
  const { configuration, json, print } = invocation
  requireLocation(configuration.placement.locations, to)
  const { state, reason, progress } = await runTask(
    invocation,
    { kind: moveTask.kind, name: bucket, arguments: { to, ...askedRate(invocation) } },
    moveTask,
  )
  const { moved = 0, unreadable = 0 } = progress.counts
  const wrote = `${formatBytes(progress.done)} written, ${moved} blobs moved`
  if (json)
    print(JSON.stringify({ event: 'moved', bucket, to, state, reason, bytes: progress.done, moved, unreadable }))
  else if (state === 'done')
    print(`all data of ${bucket} lies in ${to}: ${wrote}. What it left is removed after the grace`)
  else print(`${state}${reason === undefined ? '' : `: ${reason}`}; ${wrote} so far. Repeat the command to go on`)
  return state === 'done' ? 0 : 1
}

/** Throws `ConfigurationError`. */
export function requireLocation(configured: readonly { name: string }[], name: string): void {
  const names = [defaultLocation, ...configured.map((location) => location.name)]
  if (names.includes(name)) return
  throw new ConfigurationError(`there is no location '${name}'${didYouMean(name, names)}`)
}
