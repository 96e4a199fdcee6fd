/** In which stores a bucket's data lies, and how to move it to another location. */
import { useSignal } from '@preact/signals'
import { bucketLocation } from '../../../api/buckets.ts'
import { startTask } from '../../../api/machine.ts'
import { linkTo } from '../../../model/address.ts'
import { may } from '../../../model/permissions.ts'
import { bucketUsage, locationNames } from '../../../model/server.ts'
import { Choice } from '../../../ui/fields.tsx'
import { Setting, SettingForm } from './panel.tsx'

interface Placed {
  location: string
  locations: string[]
}

async function load(bucket: string): Promise<Placed> {
  const [asked, usage, locations] = await Promise.all([bucketLocation(bucket), bucketUsage(), locationNames()])
  return { location: usage.get(bucket)?.location ?? (asked === '' ? 'default' : asked), locations }
}

export function Placement({ bucket }: { bucket: string }) {
  return (
    <Setting title="Location" load={() => load(bucket)}>
      {(placed, reload) => (
        <>
          <p>
            Its data lies in <strong>{placed.location}</strong>.
          </p>
          {may('StartTask') && placed.locations.length > 1 && <Move bucket={bucket} placed={placed} reload={reload} />}
        </>
      )}
    </Setting>
  )
}

function Move({ bucket, placed, reload }: { bucket: string; placed: Placed; reload: () => Promise<void> }) {
  const others = placed.locations.filter((each) => each !== placed.location)
  const to = useSignal(others[0] ?? '')
  const move = async () => {
    await startTask({ kind: 'move', bucket, to: to.value })
    await reload()
  }
  return (
    <SettingForm action="Move" onSubmit={move}>
      <Choice label="Move to" value={to} options={others.map((each) => [each, each] as const)} />
      <p class="hint">
        The bucket stays in use meanwhile. <a href={linkTo(['machine', 'tasks'])}>Tasks</a> show how far it is.
      </p>
    </SettingForm>
  )
}
