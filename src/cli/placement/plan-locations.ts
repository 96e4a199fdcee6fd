/** `holdfast locations plan`: gathers the current state, makes the plan, and prints it. Changes nothing. */

import { forecast } from '../../blobs/forecast.ts'
import { locationFor, ownLocation } from '../../blobs/location-policy.ts'
import { ConfigurationError } from '../../config/configuration-error.ts'
import { requireTarget, type StoreSettings } from '../../config/locations.ts'
import { readClaimant } from '../../instance/metadata-id.ts'
import { readOffers } from '../../instance/placement-offers.ts'
import { readBucket } from '../../jobs/blob-reference.ts'
import { locationStatuses } from '../../jobs/locations/location-status.ts'
import { demandOfMove, takeCensus } from '../../jobs/locations/placement-census.ts'
import { type StoreNow, storeNow } from '../../jobs/locations/store-now.ts'
import type { Kv } from '../../kv/kv.ts'
import type { OpenData } from '../../opening/open-backend.ts'
import { judgeConfiguration, otherOffers } from '../../opening/placement/shared-placement.ts'
import type { Invocation } from '../command.ts'
import { withDataForDryRun } from '../stopped-data.ts'
import { locationsToBe, type PlanFacts, planPlacement } from './location-plan.ts'
import { inspectNewStore } from './new-store.ts'
import { moveLines, planLines } from './plan-lines.ts'

/** Exit code 1: the server would refuse the configuration. */
export async function planLocations(invocation: Invocation): Promise<number> {
  const { json, print } = invocation
  const plan = await withDataForDryRun(invocation, async (data) => {
    const facts = await currentPlacement(invocation, data)
    const census = await takeCensus(data.backend.kv, locationsToBe(facts))
    const statuses = await locationStatuses(data.backend)
    const degraded = statuses.filter(({ degradedBlobs, lostBlobs }) => degradedBlobs + lostBlobs > 0)
    return planPlacement({ ...facts, census, degraded: new Set(degraded.map(({ name }) => name)) })
  })
  if (json) print(JSON.stringify({ event: 'plan', ...plan }))
  else for (const line of planLines(plan)) print(line)
  return plan.refusals.length === 0 ? 0 : 1
}

/** Exit code 1: there is no room, or there are too few stores. */
export async function planMove(invocation: Invocation, bucketName: string, to: string): Promise<number> {
  const { configuration, json, print } = invocation
  requireTarget(configuration.placement.locations, to, configuration.metadata !== undefined)
  const planned = await withDataForDryRun(invocation, async (data) => {
    const { kv } = data.backend
    const bucket = (await readBucket(kv, bucketName))?.record
    if (bucket === undefined) return undefined
    const toBe = locationsToBe(await currentPlacement(invocation, data))
    const location = toBe.get(to)
    if (location === undefined) throw new ConfigurationError(`there is no location ${to}`)
    const named = [...toBe].map(([name, { policy }]) => ({ name, ...policy }))
    const belongs = (storageClass: string | undefined): boolean => locationFor(named, to, storageClass) === to
    return { from: bucket.location, ...forecast(await demandOfMove(kv, bucket, location, belongs), location) }
  })
  if (planned === undefined) {
    invocation.notice(`there is no bucket ${bucketName}`)
    return 1
  }
  if (json) print(JSON.stringify({ event: 'plan-move', bucket: bucketName, to, ...planned }))
  else for (const line of moveLines(bucketName, to, planned)) print(line)
  return planned.fault === undefined ? 0 : 1
}

async function currentPlacement(
  { configuration }: Invocation,
  { backend, shared }: OpenData,
): Promise<Pick<PlanFacts, 'known' | 'configured' | 'stores' | 'proposal'>> {
  const { kv } = backend
  const configured = configuration.placement
  const offers = await readOffers(kv)
  const { known } = offers
  const others = shared && (await otherOffers(offers, shared))
  const proposal = others && (await judgeConfiguration(kv, { known, others }, configured))
  const stores = new Map<string, StoreNow & { storeId: string; domain: string }>()
  const own = backend.blobs.locations.find(({ name }) => name === ownLocation)?.stores[0]
  if (own !== undefined)
    stores.set(ownLocation, { storeId: own.store.storeId, domain: own.domain, ...(await storeNow(own)) })
  for (const settings of configured.stores) {
    const storeId = known.stores[settings.name]?.storeId
    const { domain } = settings
    if (storeId !== undefined) stores.set(settings.name, { storeId, domain, ...(await knownStore(backend, storeId)) })
    else
      stores.set(settings.name, {
        domain,
        ...(await newStore(settings, backend.kv, { known: known.stores, configured: configured.stores })),
      })
  }
  return { known, configured, proposal, stores }
}

async function knownStore({ blobs }: OpenData['backend'], storeId: string): Promise<StoreNow> {
  const inLocation = blobs.locations.flatMap(({ stores }) => stores).find(({ store }) => store.storeId === storeId)
  if (inLocation !== undefined) return storeNow(inLocation)
  const inUse = blobs.stores.find((store) => store.storeId === storeId)
  if (inUse !== undefined) return storeNow({ state: 'up', reason: undefined, store: inUse })
  return { state: 'out', reason: 'it is out of use', usedBytes: undefined, freeBytes: undefined }
}

async function newStore(
  settings: StoreSettings,
  kv: Kv,
  { known, configured }: { known: Readonly<Record<string, { storeId: string }>>; configured: readonly StoreSettings[] },
): Promise<StoreNow & { storeId: string }> {
  const found = await inspectNewStore(settings, { claimant: () => readClaimant(kv) })
  const twin = configured.find(({ name }) => known[name]?.storeId === found.storeId)
  if (twin === undefined) return found
  return { ...found, state: 'out', reason: `it is the same store as stores.${twin.name}` }
}
