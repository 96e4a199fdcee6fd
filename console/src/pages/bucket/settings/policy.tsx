/** The policy of a bucket, and why it allows or denies something. */
import { useSignal } from '@preact/signals'
import { bucketPolicy, putBucketPolicy, removeConfiguration } from '../../../api/buckets.ts'
import { useOpened } from '../../../model/opened.ts'
import { may } from '../../../model/permissions.ts'
import { Button } from '../../../ui/button.tsx'
import { Explain } from '../../../ui/explain.tsx'
import { TextArea } from '../../../ui/fields.tsx'
import { Setting, SettingForm } from './panel.tsx'

export function BucketPolicy({ bucket }: { bucket: string }) {
  return (
    <Setting title="Policy" load={() => bucketPolicy(bucket)}>
      {(policy, reload) => <Form bucket={bucket} policy={policy} reload={reload} />}
    </Setting>
  )
}

const publicRead = (bucket: string) => ({
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: `arn:aws:s3:::${bucket}/*` }],
})

const shown = (policy: string): string => {
  try {
    return policy === '' ? '' : JSON.stringify(JSON.parse(policy), null, 2)
  } catch {
    return policy
  }
}

function Form({ bucket, policy, reload }: { bucket: string; policy: string; reload: () => Promise<void> }) {
  const text = useSignal(shown(policy))
  const explaining = useOpened()
  const save = async () => {
    await putBucketPolicy(bucket, text.value)
    await reload()
  }
  const remove = async () => {
    await removeConfiguration(bucket, 'policy')
    text.value = ''
    await reload()
  }
  return (
    <>
      <SettingForm onSubmit={save} onRemove={policy === '' ? undefined : remove}>
        <TextArea label="Document" value={text} code />
        <p class="bar">
          <Button
            onClick={() => {
              text.value = JSON.stringify(publicRead(bucket), null, 2)
            }}
          >
            Let everybody read
          </Button>
        </p>
      </SettingForm>
      {may('ExplainAccess') && (
        <p>
          <Button onClick={() => explaining.open(true)}>Explain…</Button>
        </p>
      )}
      {explaining.for && <Explain resource={`${bucket}/*`} onClose={explaining.close} />}
    </>
  )
}
