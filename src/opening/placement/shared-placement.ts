/** Shared placement: each start offers what its process can serve, and proposes the changes in its configuration (ADR 0044). */
import { isDeepStrictEqual } from 'node:util'
import { ownLocation } from '../../blobs/location-policy.ts'
import type { ClosingStack } from '../../closing-stack.ts'
import type { Placement } from '../../config/locations.ts'
import {
  type KnownPlacement,
  PlacementRefused,
  readKnownPlacement,
  savePlacement,
} from '../../instance/known-placement.ts'
import {
  type MemberOffer,
  type OfferedKey,
  type Offers,
  type PlacementOffer,
  readOffers,
  withdrawOffer,
  writeOffer,
} from '../../instance/placement-offers.ts'
import { judgeProposal, lackedLocations, type Proposal } from '../../instance/placement-proposal.ts'
import type { Kv } from '../../kv/kv.ts'
import type { GuardedStore } from '../../stores/guarded-store.ts'
import { makeStore, refuseTwins } from './make-store.ts'
import { placeName, type Telling } from './open-stores.ts'
import { ownerText } from './placement-refusals.ts'
import { bucketsIn, dataOn } from './placement-users.ts'

/** The process among those that share the metadata. */
export interface SharedPlacement {
  /** Its id as a member. */
  member: string
  /** Its host, and the address where clients reach it, for people. */
  host: string
  address: string
  /** The ids of all members that may be alive. Call it after their offers were read. */
  living(): Promise<ReadonlySet<string>>
  /** The keys that the file or variable of its key ring has now. */
  keys?(): readonly OfferedKey[]
  warn(message: string): void
  inform(message: string): void
}

export interface OpenOffer {
  /** Writes the offer again if the stores in use have changed. */
  refresh(stores: ReadonlyMap<string, GuardedStore>): Promise<void>
}

/** Offers everything that is configured. Call it before the placement is read, so that no proposal misses this process. */
export async function openOffer(
  kv: Kv,
  configured: Placement,
  shared: SharedPlacement,
  opened: ClosingStack,
): Promise<OpenOffer> {
  const { member } = shared
  const { all } = await readOffers(kv)
  const living = await shared.living()
  const gone = all.map(({ id }) => id).filter((id) => !living.has(id))
  let written = offerOf(configured, shared)
  await writeOffer(kv, member, written, gone)
  // A member that is gone does not count, so it does no harm if this fails.
  opened.add(() => withdrawOffer(kv, member).catch(() => {}))
  return {
    refresh: async (stores) => {
      const now = offerOf(configured, shared, stores)
      if (isDeepStrictEqual(now, written)) return
      await writeOffer(kv, member, now)
      written = now
    },
  }
}

function offerOf(
  { stores, locations, defaultLocation }: Placement,
  { host, address, keys }: SharedPlacement,
  opened?: ReadonlyMap<string, GuardedStore>,
): PlacementOffer {
  const places = stores.map((settings) => {
    const condition = opened?.get(settings.name)?.condition()
    const out = condition?.state === 'out' ? { out: condition.reason ?? '' } : {}
    return [settings.name, { place: placeName(settings), ...out }] as const
  })
  return {
    host,
    address,
    stores: Object.fromEntries(places),
    locations: Object.fromEntries(locations.map(({ name, policy }) => [name, policy])),
    ...(defaultLocation === ownLocation ? {} : { defaultLocation }),
    ...(keys === undefined ? {} : { keys: keys() }),
  }
}

/** The offers of other members that may be alive. This process has replaced whatever ran earlier at its host and address. */
export async function otherOffers(
  { all }: Offers,
  { member, host, address, living }: Pick<SharedPlacement, 'member' | 'host' | 'address' | 'living'>,
): Promise<MemberOffer[]> {
  const alive = await living()
  const isReplaced = (offer: MemberOffer): boolean =>
    offer.host === host && offer.address === address && !address.endsWith(':0')
  return all.filter((offer) => offer.id !== member && alive.has(offer.id) && !isReplaced(offer))
}

/** What the configuration would change now. */
export async function judgeConfiguration(
  kv: Kv,
  { known, others }: { known: KnownPlacement; others: readonly MemberOffer[] },
  { stores, locations, defaultLocation }: Placement,
): Promise<Proposal> {
  const configured = {
    stores: stores.map(({ name }) => name),
    locations,
    defaultLocation: defaultLocation === ownLocation ? undefined : defaultLocation,
  }
  const lacked = Object.entries(known.stores).filter(([name]) => !configured.stores.includes(name))
  const data = await dataOn(
    kv,
    lacked.map(([, { storeId }]) => storeId),
  )
  return judgeProposal({
    known,
    configured,
    others,
    buckets: await bucketsIn(
      kv,
      lackedLocations(known, configured).map(([name]) => name),
    ),
    holding: new Map(
      lacked.flatMap(([name, { storeId }]) => {
        const owner = data.get(storeId)
        return owner === undefined ? [] : [[name, ownerText(owner)] as const]
      }),
    ),
  })
}

export interface ProposalOptions extends Telling {
  configured: Placement
  shared: SharedPlacement
}

export interface ProposedPlacement {
  /** The placement that holds from now on. */
  placement: KnownPlacement
  /** Whether more changes wait for a member that can't serve them yet. */
  isWaiting: boolean
}

/** Tells the operator where the configuration will differ from the placement. Throws `PlacementRefused`. */
export async function proposePlacement(kv: Kv, options: ProposalOptions): Promise<ProposedPlacement> {
  const { configured, shared } = options
  for (;;) {
    const offers = await readOffers(kv)
    const others = await otherOffers(offers, shared)
    const proposal = await judgeConfiguration(kv, { known: offers.known, others }, configured)
    const { refusals, notices, waiting } = proposal
    if (refusals.length > 0) throw new PlacementRefused([...refusals, ...waiting].join('\n'))
    const next = await withMadeStores(kv, proposal, options)
    if (next === undefined) continue
    const isChanged = !isDeepStrictEqual(next, offers.known)
    if (isChanged && !(await savePlacement(kv, next, offers.version, [offers.unchanged]))) continue
    for (const line of [...notices, ...waiting]) shared.warn(line)
    return { placement: next, isWaiting: waiting.length > 0 }
  }
}

/** `undefined`: another process has made one of the stores. */
async function withMadeStores(
  kv: Kv,
  { next, made }: Proposal,
  { configured, ...telling }: ProposalOptions,
): Promise<KnownPlacement | undefined> {
  const stores = { ...next.stores }
  for (const settings of configured.stores.filter(({ name }) => made.includes(name))) {
    try {
      // Another process may be making it too, and may use it before this one has seen it.
      stores[settings.name] = { storeId: await makeStore(settings, telling, { first: false }) }
    } catch (error) {
      const { known } = await readKnownPlacement(kv)
      if (known.stores[settings.name] === undefined) throw error
      return undefined
    }
  }
  refuseTwins(stores)
  return { ...next, stores }
}
