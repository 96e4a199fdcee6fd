/** Whether a bucket keeps older versions. */
import { useContext } from 'preact/hooks'
import { bucketVersioning, putVersioning, type Versioning as State } from '../../../api/buckets.ts'
import { attempt } from '../../../model/notices.ts'
import { MayChange } from '../../../model/rights.ts'
import { Button } from '../../../ui/button.tsx'
import { Setting } from './panel.tsx'

const states: Record<State, string> = {
  Off: 'Off: a new object replaces the one with the same key.',
  Enabled: 'On: older versions stay, and deleted objects can be restored.',
  Suspended: 'Suspended: older versions stay, and new objects replace each other.',
}

export function Versioning({ bucket }: { bucket: string }) {
  const mayChange = useContext(MayChange)
  return (
    <Setting title="Versions" load={() => bucketVersioning(bucket)}>
      {(state, reload) => (
        <>
          <p>{states[state]}</p>
          {mayChange && (
            <Button
              onClick={async () => {
                const next = state === 'Enabled' ? 'Suspended' : 'Enabled'
                if (await attempt(() => putVersioning(bucket, next))) await reload()
              }}
            >
              {state === 'Enabled' ? 'Suspend' : 'Turn on'}
            </Button>
          )}
        </>
      )}
    </Setting>
  )
}
