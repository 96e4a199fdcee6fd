/** What of a bucket is removed when it has served its time. */
import { useSignal, useSignalEffect } from '@preact/signals'
import { removeConfiguration } from '../../../api/buckets.ts'
import { bucketLifecycle, type LifecycleRule, putBucketLifecycle } from '../../../api/lifecycle.ts'
import { Button } from '../../../ui/button.tsx'
import { TextField, Toggle } from '../../../ui/fields.tsx'
import { Setting, SettingForm } from './panel.tsx'

export function Lifecycle({ bucket }: { bucket: string }) {
  return (
    <Setting title="Lifecycle" load={() => bucketLifecycle(bucket)}>
      {(rules, reload) => <Form key={JSON.stringify(rules)} bucket={bucket} rules={rules} reload={reload} />}
    </Setting>
  )
}

const newRule: LifecycleRule = {
  id: '',
  enabled: true,
  prefix: '',
  days: '',
  replacedDays: '',
  keeps: '',
  uploadDays: '7',
}

interface FormParts {
  bucket: string
  rules: readonly LifecycleRule[]
  reload: () => Promise<void>
}

function Form({ bucket, rules, reload }: FormParts) {
  const edited = useSignal<readonly LifecycleRule[]>(rules)
  const save = async () => {
    if (edited.value.length === 0) await removeConfiguration(bucket, 'lifecycle')
    else await putBucketLifecycle(bucket, edited.value)
    await reload()
  }
  const change = (index: number, rule: LifecycleRule | undefined) => {
    edited.value = edited.value.flatMap((each, i) => (i === index ? (rule ?? []) : each))
  }
  return (
    <SettingForm onSubmit={save}>
      {edited.value.length === 0 ? (
        <p>No rules. Nothing is removed by itself.</p>
      ) : (
        <p>Rules remove data for good, once a day. Locked versions stay.</p>
      )}
      {edited.value.map((rule, i) => (
        <Rule
          key={`${i}-${edited.value.length}`}
          number={i + 1}
          rule={rule}
          onChange={(changed) => change(i, changed)}
        />
      ))}
      <p>
        <Button
          icon="plus"
          onClick={() => {
            edited.value = [...edited.value, newRule]
          }}
        >
          Add a rule
        </Button>
      </p>
    </SettingForm>
  )
}

interface RuleParts {
  number: number
  rule: LifecycleRule
  onChange: (rule: LifecycleRule | undefined) => void
}

const fields = [
  ['id', 'Name', 'text'],
  ['prefix', 'Only keys that begin with', 'text'],
  ['days', 'Days after which an object is removed', 'number'],
  ['replacedDays', 'Days after which a replaced version is removed', 'number'],
  ['keeps', 'Newest replaced versions that stay', 'number'],
  ['uploadDays', 'Days after which an unfinished upload is aborted', 'number'],
] as const

function Rule({ number, rule, onChange }: RuleParts) {
  return (
    <fieldset>
      <legend>Rule {number}</legend>
      {rule.more === undefined ? (
        <>
          <Toggle label="On" on={rule.enabled} onChange={(enabled) => onChange({ ...rule, enabled })} />
          {fields.map(([field, label, type]) => (
            <Field
              key={field}
              label={label}
              type={type}
              text={rule[field]}
              onChange={(text) => onChange({ ...rule, [field]: text })}
            />
          ))}
        </>
      ) : (
        <p>
          <b>{rule.id}</b>, {rule.enabled ? 'on' : 'off'}. It has conditions that were set elsewhere, and stays as it
          is.
        </p>
      )}
      <Button icon="trash" kind="danger" onClick={() => onChange(undefined)}>
        Remove rule {number}
      </Button>
    </fieldset>
  )
}

interface FieldParts {
  label: string
  type: 'text' | 'number'
  text: string
  onChange: (text: string) => void
}

function Field({ label, type, text: given, onChange }: FieldParts) {
  const text = useSignal(given)
  useSignalEffect(() => {
    if (text.value !== given) onChange(text.value)
  })
  return <TextField label={label} type={type} value={text} {...(type === 'number' ? { min: 1 } : {})} />
}
