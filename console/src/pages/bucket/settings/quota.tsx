/** The most that a bucket may hold. Only who operates the server sees and sets it. */
import { useSignal } from '@preact/signals'
import { bucketQuota, putQuota, removeQuota, type Quota as State } from '../../../api/quotas.ts'
import { may } from '../../../model/permissions.ts'
import { MayChange } from '../../../model/rights.ts'
import { countText, sizeText } from '../../../model/text.ts'
import { TextField } from '../../../ui/fields.tsx'
import { Setting, SettingForm } from './panel.tsx'

const gibibyte = 2 ** 30

export function Quota({ bucket }: { bucket: string }) {
  if (!may('GetQuota')) return null
  return (
    <MayChange.Provider value={may('SetQuota')}>
      <Setting title="Quota" load={() => bucketQuota(bucket)}>
        {(quota, reload) => <Form key={JSON.stringify(quota)} bucket={bucket} quota={quota} reload={reload} />}
      </Setting>
    </MayChange.Provider>
  )
}

interface FormParts {
  bucket: string
  quota: State | undefined
  reload: () => Promise<void>
}

function Form({ bucket, quota, reload }: FormParts) {
  const { bytes, objects } = quota ?? {}
  const size = useSignal(bytes === undefined ? '' : String(bytes / gibibyte))
  const count = useSignal(objects === undefined ? '' : String(objects))
  const save = async () => {
    await putQuota(bucket, {
      ...(size.value === '' ? {} : { bytes: Math.round(Number(size.value) * gibibyte) }),
      ...(count.value === '' ? {} : { objects: Number(count.value) }),
    })
    await reload()
  }
  const remove = async () => {
    await removeQuota(bucket)
    await reload()
  }
  return (
    <SettingForm onSubmit={save} onRemove={quota === undefined ? undefined : remove}>
      <p>{usedText(quota)}</p>
      <TextField label="Most GiB" value={size} pattern="[0-9]+([.][0-9]+)?" hint="Older versions and uploads count." />
      <TextField label="Most objects" value={count} pattern="[0-9]+" />
    </SettingForm>
  )
}

function usedText(quota: State | undefined): string {
  if (quota === undefined) return 'None. The bucket may hold whatever the stores have room for.'
  const { bytes, objects, used } = quota
  if (used === undefined) return 'What the bucket holds is being counted. Nothing is refused before that.'
  return [
    ...(bytes === undefined ? [] : [`${sizeText(used.bytes)} of ${sizeText(bytes)}`]),
    ...(objects === undefined ? [] : [`${countText(used.objects)} of ${countText(objects)} objects`]),
  ].join(', ')
}
