/** `holdfast locations`: shows the state of a data directory's locations, whether a server runs or not, and replaces lost stores. */

import { systemClock } from '../../clock.ts'
import { ConfigurationError } from '../../config/configuration-error.ts'
import { recordStart } from '../../instance/metadata-id.ts'
import { type Health, healthOf, worstHealth } from '../../jobs/locations/location-health.ts'
import {
  type LocationStatus,
  locationStatuses,
  type MoveStatus,
  type StoreStatus,
} from '../../jobs/locations/location-status.ts'
import type { OpenData } from '../../opening/open-backend.ts'
import { replaceStore } from '../../opening/placement/replace-store.ts'
import { refuseUnfitDirectory } from '../../opening/placement/replacement-directory.ts'
import { audited } from '../audited-command.ts'
import type { Invocation } from '../command.ts'
import { counted } from '../counted.ts'
import { healthExitCodes } from '../exit-codes.ts'
import { withReadOnlyData } from '../stopped-data.ts'
import { cancelMove, moveBucket } from '../tasks/move-bucket.ts'
import { formatBytes } from '../tasks/progress.ts'
import { claimStore } from './claim-store.ts'
import { planLocations, planMove } from './plan-locations.ts'

export async function locations(invocation: Invocation): Promise<number> {
  const [word = 'status', ...rest] = invocation.words
  if (word === 'status' && rest.length === 0) return status(invocation)
  const [name, to] = rest
  if (word === 'plan' && rest.length === 0) return planLocations(invocation)
  if (word === 'plan' && name !== undefined && to !== undefined && rest.length === 2) {
    return planMove(invocation, name, to)
  }
  if (word === 'replace' && name !== undefined && rest.length === 1) return replace(invocation, name)
  if (word === 'claim' && name !== undefined && rest.length === 1) return claimStore(invocation, name)
  const { cancel = false } = invocation.extra
  if (word === 'move' && name !== undefined && cancel === true && rest.length === 1) return cancelMove(invocation, name)
  if (word === 'move' && name !== undefined && to !== undefined && cancel === false && rest.length === 2) {
    return moveBucket(invocation, name, to)
  }
  throw new ConfigurationError(
    'expects `locations status`, `plan`, `plan BUCKET TO`, `move BUCKET TO`, `move BUCKET --cancel`, `replace STORE` or `claim STORE`',
  )
}

async function status(invocation: Invocation): Promise<number> {
  const statuses = await withReadOnlyData(invocation, ({ backend }) => locationStatuses(backend))
  const health = worstHealth(statuses.map(healthOf))
  if (invocation.json) invocation.print(JSON.stringify({ event: 'locations', health, locations: statuses }))
  else for (const line of [`${health}: ${meanings[health]}`, ...statuses.flatMap(linesOf)]) invocation.print(line)
  return healthExitCodes[health]
}

const meanings: Record<Health, string> = {
  OK: 'everything is where it belongs',
  DEGRADED: 'nothing is at risk yet, but something needs repair or room',
  'AT RISK': 'one more failure, or what has failed already, may lose data',
}

function linesOf(location: LocationStatus): string[] {
  const { name, version, writeAck, storageClasses, degradedBlobs, lostBlobs, failuresSurvived } = location
  const kept = storageClasses.length === 0 ? '' : `; keeps ${storageClasses.join(', ')}`
  const survives = `survives ${counted(failuresSurvived.now, 'failure')} now, ${failuresSurvived.whole} when whole`
  const degraded = degradedBlobs === 0 ? 'nothing to repair' : `${counted(degradedBlobs, 'blob')} to repair`
  const lost = lostBlobs === 0 ? '' : `; ${counted(lostBlobs, 'blob')} lost, which \`holdfast scrub\` lists`
  return [
    `${name}  version ${version}  ${layoutOf(location)}, ${writeAck} to acknowledge; ${survives}; ${degraded}${lost}${kept}`,
    ...location.stores.map((store) => `  ${store.name}  domain ${store.domain}  ${conditionOf(store)}`),
    ...location.moves.map((move) => `  ${moveLine(move)}`),
  ]
}

function layoutOf({ scheme, copies, striping }: LocationStatus): string {
  const whole = counted(copies, 'copy', 'copies')
  if (striping === undefined) return `${scheme}, ${whole}`
  const { data, parity, replicateBelow } = striping
  return `${scheme}, ${data} + ${parity} shards (${whole} below ${formatBytes(replicateBelow)})`
}

function conditionOf({ state, reason, usedBytes, freeBytes }: StoreStatus): string {
  const used = usedBytes === undefined ? '' : `  ${formatBytes(usedBytes)} used`
  const free = freeBytes === undefined ? '' : `${used === '' ? '  ' : ', '}${formatBytes(freeBytes)} free`
  return `${state}${reason === undefined ? '' : `: ${reason}`}${used}${free}`
}

function moveLine({ bucket, state, reason, progress: { done, total, counts } }: MoveStatus): string {
  if (state === 'waiting') return `bucket ${bucket} is to be moved here`
  const far = `${formatBytes(done)}${total === undefined ? '' : ` of ${formatBytes(total)}`} in ${counted(counts.moved ?? 0, 'blob')} so far`
  if (state === 'running') return `bucket ${bucket} is moved here: ${far}`
  const why = reason === undefined ? state : `${state}: ${reason}`
  return `the move of bucket ${bucket} here was not ended (${why}): ${far}. Repeat it to go on`
}

async function replace(invocation: Invocation, name: string): Promise<number> {
  const { configuration, json, print, notice } = invocation
  const settings = configuration.placement.stores.find((store) => store.name === name)
  if (settings === undefined) throw new ConfigurationError(`there is no [stores.${name}] in the configuration`)
  if (invocation.extra.force !== true) await refuseUnfitDirectory(settings, configuration.placement.stores)
  const change = async ({ backend, directory, shared }: OpenData): Promise<number> => {
    const claimant = await recordStart(backend.kv, systemClock, directory.path)
    return replaceStore(backend, settings, {
      clock: systemClock,
      warn: notice,
      member: shared?.member,
      ownership: { claimant: async () => claimant },
    })
  }
  const entry = { operation: 'ReplaceStore', target: { store: name } }
  const queued = await audited(invocation, entry, () => withReadOnlyData(invocation, change))
  if (json) print(JSON.stringify({ event: 'replaced', store: name, queuedBlobs: queued }))
  else
    print(
      `store ${name} is a new one; ${counted(queued, 'blob')} will be repaired by the server, or by \`holdfast repair\``,
    )
  return 0
}
