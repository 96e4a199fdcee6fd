/** Each location with its stores by failure domain: how full they are, how its shards are spread, how many stores can fail, and what to do about a lost one. */
import { useSignal } from '@preact/signals'
import { type LocationState, locationStates, replaceStore, type StoreState } from '../../api/machine.ts'
import { tell } from '../../model/notices.ts'
import { useOpened } from '../../model/opened.ts'
import { may } from '../../model/permissions.ts'
import { useSampled } from '../../model/sampled.ts'
import { countText, failureText, sizeText, timeText } from '../../model/text.ts'
import { Button } from '../../ui/button.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { Check } from '../../ui/fields.tsx'
import { Failure, Loading } from '../../ui/loading.tsx'
import { StartButtons } from './start-buttons.tsx'

const refreshMs = 3000

export function Locations() {
  const { value, failure } = useSampled(locationStates, refreshMs)
  const replacing = useOpened<StoreState>()
  if (value === undefined) {
    return failure === undefined ? <Loading /> : <Failure>{failureText(failure)}</Failure>
  }
  return (
    <>
      <div class="bar">
        <Health health={value.health} />
        <span class="push">
          <StartButtons kinds={['scrub', 'repair', 'snapshot']} />
        </span>
      </div>
      {failure !== undefined && <Failure>{failureText(failure)}</Failure>}
      <div class="locations">
        {value.locations.map((location) => (
          <Location key={location.name} location={location} onReplace={replacing.open} />
        ))}
      </div>
      {replacing.for && <Replace store={replacing.for} onClose={replacing.close} />}
    </>
  )
}

const healthKinds: Record<string, string> = { OK: 'good', DEGRADED: 'warning', 'AT RISK': 'danger' }

const Health = ({ health }: { health: string }) => <span class={`badge ${healthKinds[health] ?? ''}`}>{health}</span>

const schemeText = ({ scheme, copies, striping }: LocationState): string =>
  scheme === 'erasure' && striping
    ? `${striping.data} data and ${striping.parity} parity shards`
    : copies === 1
      ? 'one copy'
      : `${copies} copies`

function Location({ location, onReplace }: { location: LocationState; onReplace: (store: StoreState) => void }) {
  const {
    name,
    isDefault,
    health,
    stores,
    degradedBlobs,
    lostBlobs,
    storageClasses,
    failuresSurvived: { now, whole },
  } = location
  const domains = new Set(stores.map(({ domain }) => domain))
  const shardsMax = Math.max(...stores.map(({ shards }) => shards?.count ?? 0))
  return (
    <section class="panel" aria-label={`Location ${name}`}>
      <header>
        <h2>
          {name} {isDefault && <span class="badge">default</span>}
        </h2>
        <Health health={health} />
      </header>
      <p class="quiet">
        {schemeText(location)}; survives the loss of {now} {now === 1 ? 'store' : 'stores'}
        {now < whole && ` (of ${whole} when whole)`}.
        {degradedBlobs > 0 && ` ${countText(degradedBlobs)} blobs lack shards.`}
        {lostBlobs > 0 && ` ${countText(lostBlobs)} blobs cannot be read.`}
        {storageClasses.length > 0 && ` Keeps objects of ${storageClasses.join(', ')}.`}
      </p>
      <div class="domains">
        {[...domains].map((domain) => (
          <fieldset key={domain}>
            <legend>{isNamed(domain) ? domain : 'this machine'}</legend>
            {stores
              .filter((store) => store.domain === domain)
              .map((store) => (
                <Store key={store.name} store={store} shardsMax={shardsMax} onReplace={onReplace} />
              ))}
          </fieldset>
        ))}
      </div>
    </section>
  )
}

/** A store without a configured domain has one of its own, named by its id. */
const isNamed = (domain: string): boolean => !/^[0-9a-f]{32}$/.test(domain)

const storeKinds: Record<StoreState['state'], string> = {
  up: 'good',
  full: 'warning',
  'read-only': 'warning',
  out: 'danger',
}

interface StoreParts {
  store: StoreState
  /** What the fullest store of the location holds. */
  shardsMax: number
  onReplace: (store: StoreState) => void
}

function Store({ store, shardsMax, onReplace }: StoreParts) {
  const { name, state, reason, usedBytes, freeBytes, shards } = store
  const all = usedBytes !== undefined && freeBytes !== undefined ? usedBytes + freeBytes : undefined
  return (
    <div class="store">
      <strong>{name}</strong> <span class={`badge ${storeKinds[state]}`}>{state}</span>
      {all !== undefined && (
        <meter min={0} max={all} high={all * 0.9} value={usedBytes} aria-label={`${name} is filled`} />
      )}
      <span class="quiet">
        {all === undefined ? '' : `${sizeText(usedBytes ?? 0)} of ${sizeText(all)}`} {reason}
      </span>
      {shards !== undefined && (
        <>
          <progress max={Math.max(1, shardsMax)} value={shards.count} aria-label={`Shards in ${name}`} />
          <span class="quiet" title={`Counted ${timeText(shards.measured)}`}>
            {countText(shards.count)} {shards.count === 1 ? 'shard' : 'shards'}, {sizeText(shards.bytes)}
          </span>
        </>
      )}
      {state === 'out' && may('ReplaceStore') && (
        <div class="bar">
          <Button onClick={() => onReplace(store)}>Replace…</Button>
        </div>
      )}
    </div>
  )
}

function Replace({ store, onClose }: { store: StoreState; onClose: () => void }) {
  const force = useSignal(false)
  const replace = async () => {
    const queued = await replaceStore(store.name, force.value)
    tell(`${store.name} is replaced. ${countText(queued)} blobs wait for repair.`)
  }
  return (
    <FormDialog title={`Replace ${store.name}?`} action="Replace" danger onClose={onClose} onSubmit={replace}>
      <p>
        What the store held is given up. A new, empty store takes its place, at the path or address of the
        configuration, and is filled from the others. Mount the new disk first.
      </p>
      <Check label="Accept a directory that is not a mount, although the other stores are" value={force} />
    </FormDialog>
  )
}
