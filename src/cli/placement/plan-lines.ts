/** Describes a plan of stores and locations in words. Pure. */
import type { Forecast } from '../../blobs/forecast.ts'
import type { LocationPolicy } from '../../blobs/location-policy.ts'
import { counted } from '../counted.ts'
import { formatBytes } from '../tasks/progress.ts'
import type { LocationPlan, PlannedLocation, PlannedStore } from './location-plan.ts'

export function planLines(plan: LocationPlan): string[] {
  const changed = [...plan.locations, ...plan.stores].some(({ change }) => change !== 'same')
  return [
    ...plan.locations.flatMap(locationLines),
    ...plan.stores.map(storeLine),
    ...plan.moving.map((bucket) => `the move of ${bucket} has not ended: repeat it to go on`),
    ...plan.notices.map((notice) => `kept: ${notice}`),
    ...plan.waiting.map((change) => `waits: ${change}`),
    ...plan.refusals.map((refusal) => `refused: ${refusal}`),
    plan.refusals.length > 0
      ? 'a server with this configuration would not start'
      : changed
        ? 'a server that starts with this configuration takes it over; data stays where it is until it is moved'
        : 'nothing is changed by this configuration',
  ]
}

function locationLines({ name, change, before, after, buckets, blobs, bytes }: PlannedLocation): string[] {
  const holds = `${counted(buckets.length, 'bucket')}, ${counted(blobs, 'blob')}, ${formatBytes(bytes)}`
  if (after === undefined) return [`location ${name}  removed  ${holds}`]
  const { version, policy, overhead, storesSurvived, domainsSurvived, outdated } = after
  const lines = [
    `location ${name}  ${change === 'changed' ? `version ${before?.version} -> ${version}` : `${change}, version ${version}`}  ${layoutOf(policy)}; ${holds}`,
    `  ${overhead.toFixed(2)} bytes kept a byte; ${policy.writeAck} shards acknowledge a write; survives ${counted(storesSurvived.whole, 'store')} (now ${storesSurvived.now}), ${counted(domainsSurvived.whole, 'failure domain')} (now ${domainsSurvived.now})`,
  ]
  if (change === 'changed' && before !== undefined) lines.push(`  was ${differences(before.policy, policy)}`)
  if (outdated.blobs > 0) {
    lines.push(
      `  ${counted(outdated.blobs, 'blob')} of ${formatBytes(outdated.bytes)} lie otherwise: to lay them so, ${formatBytes(outdated.storedBytes)} are written by ${movesOf(buckets, name)}`,
    )
    if (outdated.fault !== undefined) lines.push(`  which can't be done now: ${outdated.fault}`)
  }
  return lines
}

const bucketsShown = 3

function movesOf(buckets: readonly string[], location: string): string {
  const shown = buckets.slice(0, bucketsShown).map((bucket) => `\`holdfast locations move ${bucket} ${location}\``)
  return [...shown, ...(buckets.length > bucketsShown ? [`${buckets.length - bucketsShown} more`] : [])].join(', ')
}

function differences(before: LocationPolicy, after: LocationPolicy): string {
  const gone = before.stores.filter((store) => !after.stores.includes(store))
  const come = after.stores.filter((store) => !before.stores.includes(store))
  return [
    `${layoutOf(before)}, ${before.writeAck} to acknowledge, at most ${before.maxPerDomain} a domain`,
    ...(classesOf(before) === classesOf(after) ? [] : [`with ${classesOf(before)}`]),
    ...(come.length > 0 ? [`with ${come.join(', ')} now`] : []),
    ...(gone.length > 0 ? [`without ${gone.join(', ')}`] : []),
  ].join('; ')
}

const classesOf = ({ storageClasses = [] }: LocationPolicy): string =>
  storageClasses.length === 0 ? 'no storage classes' : storageClasses.join(', ')

function layoutOf(policy: LocationPolicy): string {
  const kept = policy.storageClasses === undefined ? '' : `, for ${classesOf(policy)}`
  const over = `over ${counted(policy.stores.length, 'store')}${kept}`
  if (policy.scheme === 'replica') return `${counted(policy.copies, 'copy', 'copies')} ${over}`
  const { data, parity, replicateBelow } = policy
  return `${data} + ${parity} shards (${counted(parity + 1, 'copy', 'copies')} below ${formatBytes(replicateBelow)}) ${over}`
}

function storeLine({
  name,
  change,
  state,
  reason,
  usedBytes,
  freeBytes,
  heldBytes,
  gets,
  leaves,
}: PlannedStore): string {
  const condition = change === 'removed' ? '' : `  ${state}${reason === undefined ? '' : `: ${reason}`}`
  const used = usedBytes === undefined ? '' : `  ${formatBytes(usedBytes)} used`
  const room = freeBytes === undefined ? '' : `, ${formatBytes(freeBytes)} free`
  const after =
    freeBytes === undefined || (gets === 0 && leaves === 0)
      ? ''
      : `; after moving ${formatBytes(heldBytes + gets - leaves)} held, ${formatBytes(Math.max(0, freeBytes - gets + leaves))} free`
  return `store ${name}  ${change}${condition}${used}${room}; holds ${formatBytes(heldBytes)}${after}`
}

export function moveLines(bucket: string, to: string, planned: Forecast & { from: string }): string[] {
  const { from, blobs, bytes, storedBytes, stores, fault } = planned
  if (blobs === 0) return [`all data of ${bucket} lies as ${to} lays it: nothing is written by moving it`]
  const rooms = stores.map(({ name, bytes: gets, freeBytes }) => {
    const free = freeBytes === undefined ? 'free room not known' : `${formatBytes(freeBytes)} free`
    return `  store ${name} gets about ${formatBytes(gets)}; ${free}${freeBytes !== undefined && freeBytes < gets ? ': others have to take more' : ''}`
  })
  return [
    `moving ${bucket} from ${from} to ${to} reads ${counted(blobs, 'blob')} of ${formatBytes(bytes)} and writes ${formatBytes(storedBytes)}`,
    ...rooms,
    fault === undefined ? 'there is room' : `it can't be done now: ${fault}`,
  ]
}
