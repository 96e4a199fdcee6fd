/** Servers in one process over one metadata and the same directories: what each opens of the placement, without ports. */
import { join } from 'node:path'
import { type Blobs, openBlobs } from '../../src/blobs/blobs.ts'
import type { LocationPolicy } from '../../src/blobs/location-policy.ts'
import { randomId, systemClock } from '../../src/clock.ts'
import { type ClosingStack, closingStack } from '../../src/closing-stack.ts'
import type { Placement } from '../../src/config/locations.ts'
import { readClaimant, recordStart } from '../../src/instance/metadata-id.ts'
import { known } from '../../src/known.ts'
import type { Kv } from '../../src/kv/kv.ts'
import { type OpenPlacement, openPlacement } from '../../src/opening/placement/open-placement.ts'
import type { Telling } from '../../src/opening/placement/open-stores.ts'
import type { SharedPlacement } from '../../src/opening/placement/shared-placement.ts'

export interface Gateway extends OpenPlacement {
  host: string
  blobs: Blobs
  warnings: string[]
  said: string[]
  shared: SharedPlacement
  ownership: Telling['ownership']
  /** Takes up at once what the server would take up at its next regular look. */
  look(): Promise<void>
  /** Ends the server. `killed`: the others find out later, and its offer stays. */
  close(): Promise<void>
  kill(): void
}

export interface World {
  kv: Kv
  directory: string
  living: Set<string>
  /** Locations with as many copies as stores. `at`: paths of stores that differ from their names. */
  configured(stores: readonly string[], locations?: Record<string, string[]>, more?: MoreSettings): Placement
  /** `looksByItself`: regularly, as servers do. Otherwise it takes up changes only when it is told to look, or needs a location that it does not know. */
  start(host: string, placement: Placement, how?: { looksByItself?: boolean }): Promise<Gateway>
  end(): Promise<void>
}

interface MoreSettings {
  defaultLocation?: string
  at?: Record<string, string>
}

/** Longer than any test. */
const neverMs = 24 * 60 * 60 * 1000

export function sharedWorld(kv: Kv, directory: string): World {
  const living = new Set<string>()
  const stacks: ClosingStack[] = []
  return {
    kv,
    directory,
    living,
    configured: (stores, locations = {}, { defaultLocation = Object.keys(locations)[0], at = {} } = {}) => ({
      stores: stores.map((name) => ({
        type: 'directory',
        name,
        path: join(directory, at[name] ?? name),
        domain: name,
      })),
      locations: Object.entries(locations).map(([name, over]) => ({ name, policy: copiesOver(over) })),
      defaultLocation: defaultLocation ?? 'default',
    }),
    async start(host, configured, { looksByItself = false } = {}) {
      const opened = closingStack()
      stacks.push(opened)
      const member = randomId(systemClock)
      living.add(member)
      opened.add(() => void living.delete(member))
      const [warnings, said]: [string[], string[]] = [[], []]
      const warn = (message: string): void => void warnings.push(message)
      const inform = (message: string): void => void said.push(message)
      const shared = { member, host, address: `${host}:9000`, living: async () => new Set(living), warn, inform }
      try {
        const { claims } = await recordStart(kv, systemClock, `/${host}`)
        const ownership = { claimant: async () => ({ ...(await readClaimant(kv)), claims }) }
        const oftenMs = 50
        const asked = {
          configured,
          owner: true,
          adopt: true,
          ownership,
          clock: systemClock,
          warn,
          shared,
          proposeEveryMs: oftenMs,
          lookEveryMs: looksByItself ? oftenMs : neverMs,
        }
        const placed = await openPlacement(kv, asked, opened)
        const { locations, stores, ...rest } = placed
        const blobs = openBlobs(locations, { otherStores: stores, ...rest })
        const look = async (): Promise<void> => known(placed.feed).look()
        const kill = (): void => void living.delete(member)
        return { ...placed, host, blobs, warnings, said, shared, ownership, look, close: opened.close, kill }
      } catch (error) {
        await opened.close()
        throw error
      }
    },
    end: async () => {
      for (const stack of stacks) await stack.close()
    },
  }
}

const copiesOver = (stores: string[]): LocationPolicy => ({
  scheme: 'replica',
  copies: stores.length,
  stores,
  maxPerDomain: 1,
  writeAck: stores.length,
})
