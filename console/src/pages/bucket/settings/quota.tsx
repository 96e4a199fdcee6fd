/** How much a bucket may hold. Only operators of the server see and set it. */
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
      <TextField
        label="At most, in GiB"
        value={size}
        pattern="[0-9]+([.][0-9]+)?"
        hint="Older versions and open uploads count, too."
      />
      <TextField label="At most, in objects" value={count} pattern="[0-9]+" />
    </SettingForm>
  )
}

function usedText(quota: State | undefined): string {
  if (quota === undefined) return 'None. The bucket may hold as much as the stores have room for.'
  const { bytes, objects, used } = quota
  if (used === undefined) return 'The contents of the bucket are being counted. Until then, nothing is refused.'
  return [
    ...(bytes === undefined ? [] : [`${sizeText(used.bytes)} of ${sizeText(bytes)}`]),
    ...(objects === undefined ? [] : [`${countText(used.objects)} of ${countText(objects)} objects`]),
  ].join(', ')
}
