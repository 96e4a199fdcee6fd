/** Follows changes of shared placement: locations that other processes have changed, and stores that they have replaced. */
import type { Location, LocationFeed } from '../../blobs/blobs.ts'
import { ownLocation } from '../../blobs/location-policy.ts'
import { type KnownLocation, type KnownPlacement, readKnownPlacement } from '../../instance/known-placement.ts'
import { type Kv, KvUnavailable } from '../../kv/kv.ts'
import { limits } from '../../limits.ts'
import type { GuardedStore } from '../../stores/guarded-store.ts'

export interface FeedOptions {
  kv: Kv
  /** Every store that this process has open, by name. */
  stores: ReadonlyMap<string, GuardedStore>
  /** The placement as it was opened. */
  placement: KnownPlacement
  /** Called with each regular look. */
  refresh(): Promise<void>
  warn(message: string): void
  inform(message: string): void
}

type Relocate = Parameters<LocationFeed['subscribe']>[0]

export class PlacementFeed implements LocationFeed {
  readonly #options: FeedOptions
  /** The locations in use: they can differ from those of the metadata while a store is missing here. */
  #used: Readonly<Record<string, KnownLocation>>
  #defaultLocation: string
  #relocate: Relocate = () => {}
  #looks = 0
  #latest = 0
  #warned: string | undefined

  constructor(options: FeedOptions) {
    this.#options = options
    this.#used = options.placement.locations
    this.#defaultLocation = options.placement.defaultLocation ?? ownLocation
  }

  subscribe(relocate: Relocate): void {
    this.#relocate = relocate
  }

  async look(): Promise<void> {
    const look = ++this.#looks
    const { known } = await readKnownPlacement(this.#options.kv)
    // A look that began later may have ended earlier, and may know more.
    if (look < this.#latest) return
    this.#latest = look
    this.#followStores(known)
    this.#followLocations(known)
  }

  /** Looks at intervals until the returned function is called. */
  start(everyMs: number = limits.placementLookMs): () => Promise<void> {
    let stopped = false
    let running = Promise.resolve()
    let timer: NodeJS.Timeout | undefined
    const next = (): void => {
      if (stopped) return
      timer = setTimeout(() => {
        running = this.#lookRegularly().then(next)
      }, everyMs).unref()
    }
    next()
    return async () => {
      stopped = true
      clearTimeout(timer)
      await running
    }
  }

  async #lookRegularly(): Promise<void> {
    try {
      await this.look()
      await this.#options.refresh()
      this.#warned = undefined
    } catch (error) {
      // The engine reports by itself that the database is away.
      if (!(error instanceof KvUnavailable)) this.#warnOnce(`the locations can't be read again: ${String(error)}`)
    }
  }

  #followStores({ stores }: KnownPlacement): void {
    for (const [name, store] of this.#options.stores) {
      const known = stores[name]?.storeId
      if (known === undefined || known === store.storeId) continue
      store.takeOut(new Error('another store has replaced it'))
      void store.probe()
    }
  }

  #followLocations({ locations, defaultLocation = ownLocation }: KnownPlacement): void {
    const { inform } = this.#options
    const usable = this.#usable(locations)
    const before = this.#used
    const changed = Object.entries(usable).filter(([name, { version }]) => before[name]?.version !== version)
    const removed = Object.keys(before).filter((name) => usable[name] === undefined)
    if (changed.length + removed.length === 0 && defaultLocation === this.#defaultLocation) return
    for (const [name, { version }] of changed) inform(`location ${name} is used at version ${version} from now on`)
    for (const name of removed) inform(`location ${name} was removed`)
    if (defaultLocation !== this.#defaultLocation) inform(`the default location is ${defaultLocation} from now on`)
    this.#used = usable
    this.#defaultLocation = defaultLocation
    this.#relocate(Object.entries(usable).map(this.#opened), defaultLocation)
  }

  /** The locations whose stores are all open here. One that has changed otherwise stays as it was. */
  #usable(locations: KnownPlacement['locations']): Record<string, KnownLocation> {
    const usable: Record<string, KnownLocation> = {}
    for (const [name, location] of Object.entries(locations)) {
      const lacking = location.policy.stores.find((store) => !this.#options.stores.has(store))
      const used = lacking === undefined ? location : this.#used[name]
      if (lacking !== undefined) {
        this.#warnOnce(`location ${name} needs [stores.${lacking}], which this server's configuration lacks`)
      }
      if (used !== undefined) usable[name] = used
    }
    return usable
  }

  readonly #opened = ([name, { version, policy }]: [string, KnownLocation]): Location => ({
    ...policy,
    name,
    version,
    stores: policy.stores.flatMap((store) => this.#options.stores.get(store) ?? []),
  })

  #warnOnce(message: string): void {
    if (this.#warned !== message) this.#options.warn(message)
    this.#warned = message
  }
}
