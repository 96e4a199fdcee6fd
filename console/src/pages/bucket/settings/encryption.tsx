/** How a bucket encrypts new objects that do not say so themselves. */
import { useSignal } from '@preact/signals'
import { bucketEncryption, putBucketEncryption, removeConfiguration } from '../../../api/buckets.ts'
import { Choice, TextField } from '../../../ui/fields.tsx'
import { Setting, SettingForm } from './panel.tsx'

type Algorithm = 'AES256' | 'aws:kms'

export function Encryption({ bucket }: { bucket: string }) {
  return (
    <Setting title="Encryption" load={() => bucketEncryption(bucket)}>
      {(current, reload) => <Form bucket={bucket} current={current} reload={reload} />}
    </Setting>
  )
}

interface FormParts {
  bucket: string
  current: { algorithm: string; keyId: string | undefined } | undefined
  reload: () => Promise<void>
}

function Form({ bucket, current, reload }: FormParts) {
  const algorithm = useSignal<Algorithm>(current?.algorithm === 'aws:kms' ? 'aws:kms' : 'AES256')
  const keyId = useSignal(current?.keyId ?? '')
  const save = async () => {
    await putBucketEncryption(
      bucket,
      algorithm.value,
      algorithm.value === 'aws:kms' && keyId.value !== '' ? keyId.value : undefined,
    )
    await reload()
  }
  const remove = async () => {
    await removeConfiguration(bucket, 'encryption')
    await reload()
  }
  return (
    <SettingForm onSubmit={save} onRemove={current === undefined ? undefined : remove}>
      <p>
        {current === undefined
          ? 'New objects are encrypted only if the request asks for it.'
          : 'New objects are encrypted.'}
      </p>
      <Choice
        label="With"
        value={algorithm}
        options={[
          ['AES256', 'a key of the server (SSE-S3)'],
          ['aws:kms', 'a named key (SSE-KMS)'],
        ]}
      />
      {algorithm.value === 'aws:kms' && <TextField label="Key id" value={keyId} hint="Empty: the default key." />}
    </SettingForm>
  )
}
