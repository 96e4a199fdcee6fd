/** A bucket as a website. */
import { useSignal } from '@preact/signals'
import { bucketWebsite, putBucketWebsite, removeConfiguration, type Website as Site } from '../../../api/buckets.ts'
import { TextField } from '../../../ui/fields.tsx'
import { Setting, SettingForm } from './panel.tsx'

export function Website({ bucket }: { bucket: string }) {
  return (
    <Setting title="Website" load={() => bucketWebsite(bucket)}>
      {(site, reload) => <Form bucket={bucket} site={site} reload={reload} />}
    </Setting>
  )
}

function Form({ bucket, site, reload }: { bucket: string; site: Site | undefined; reload: () => Promise<void> }) {
  const index = useSignal(site?.index ?? 'index.html')
  const error = useSignal(site?.error ?? '')
  const save = async () => {
    await putBucketWebsite(bucket, { index: index.value, error: error.value })
    await reload()
  }
  const remove = async () => {
    await removeConfiguration(bucket, 'website')
    await reload()
  }
  return (
    <SettingForm onSubmit={save} onRemove={site === undefined ? undefined : remove}>
      <p>
        {site === undefined
          ? 'Off.'
          : 'On, under the website domain of the server. Saving replaces redirects that were set elsewhere.'}
      </p>
      <TextField label="Index document" value={index} required />
      <TextField label="Error document" value={error} />
    </SettingForm>
  )
}
