/** Object Lock of a bucket, and how long new versions are retained. */
import { useSignal } from '@preact/signals'
import { bucketLock, type DefaultLock, putBucketLock } from '../../../api/buckets.ts'
import { Check, Choice, TextField } from '../../../ui/fields.tsx'
import { Setting, SettingForm } from './panel.tsx'

export function Lock({ bucket }: { bucket: string }) {
  return (
    <Setting title="Object lock" load={() => bucketLock(bucket)}>
      {(lock, reload) =>
        lock === undefined ? (
          <>
            <p>Off. Anybody with the permission can remove versions.</p>
            <SettingForm
              action="Turn on for good"
              onSubmit={async () => {
                await putBucketLock(bucket, undefined)
                await reload()
              }}
            >
              <p class="hint">The bucket needs versioning. Object lock can't be turned off again.</p>
            </SettingForm>
          </>
        ) : (
          <Default bucket={bucket} current={lock.default} reload={reload} />
        )
      }
    </Setting>
  )
}

interface DefaultParts {
  bucket: string
  current: DefaultLock | undefined
  reload: () => Promise<void>
}

function Default({ bucket, current, reload }: DefaultParts) {
  const on = useSignal(current !== undefined)
  const mode = useSignal<DefaultLock['mode']>(current?.mode ?? 'GOVERNANCE')
  const unit = useSignal<DefaultLock['unit']>(current?.unit ?? 'Days')
  const count = useSignal(String(current?.count ?? 30))
  const save = async () => {
    const lock = { mode: mode.value, unit: unit.value, count: Number(count.value) }
    await putBucketLock(bucket, on.value ? lock : undefined)
    await reload()
  }
  return (
    <SettingForm onSubmit={save}>
      <p>On. Versions can be put on hold, or retained until a date.</p>
      <Check label="Retain new versions unless they say otherwise" value={on} />
      {on.value && (
        <>
          <Choice
            label="Mode"
            value={mode}
            options={[
              ['GOVERNANCE', 'Governance'],
              ['COMPLIANCE', 'Compliance'],
            ]}
          />
          <TextField label="For" type="number" min={1} value={count} required />
          <Choice
            label="Unit"
            value={unit}
            options={[
              ['Days', 'Days'],
              ['Years', 'Years'],
            ]}
          />
        </>
      )}
    </SettingForm>
  )
}
