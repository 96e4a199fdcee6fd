/** Which pages of other origins may use a bucket from a browser. */
import { useSignal, useSignalEffect } from '@preact/signals'
import { bucketCors, type CorsRule, putBucketCors, removeConfiguration } from '../../../api/buckets.ts'
import { Button } from '../../../ui/button.tsx'
import { TextField } from '../../../ui/fields.tsx'
import { Setting, SettingForm } from './panel.tsx'

export function Cors({ bucket }: { bucket: string }) {
  return (
    <Setting title="Other origins (CORS)" load={() => bucketCors(bucket)}>
      {(rules, reload) => <Form key={JSON.stringify(rules)} bucket={bucket} rules={rules} reload={reload} />}
    </Setting>
  )
}

const words = (text: string): string[] => text.split(/[\s,]+/).filter((word) => word !== '')

const newRule: CorsRule = {
  origins: ['*'],
  methods: ['GET', 'HEAD'],
  headers: ['*'],
  exposed: ['ETag'],
  maxAgeSeconds: 3000,
}

function Form({ bucket, rules, reload }: { bucket: string; rules: readonly CorsRule[]; reload: () => Promise<void> }) {
  const edited = useSignal<readonly CorsRule[]>(rules)
  const save = async () => {
    if (edited.value.length === 0) await removeConfiguration(bucket, 'cors')
    else await putBucketCors(bucket, edited.value)
    await reload()
  }
  const change = (index: number, rule: CorsRule | undefined) => {
    edited.value = edited.value.flatMap((each, i) => (i === index ? (rule ?? []) : each))
  }
  return (
    <SettingForm onSubmit={save}>
      {edited.value.length === 0 && <p>No rules. Browsers let no page of another origin use this bucket.</p>}
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

function Rule({
  number,
  rule,
  onChange,
}: {
  number: number
  rule: CorsRule
  onChange: (rule: CorsRule | undefined) => void
}) {
  const fields = [
    ['origins', 'Origins'],
    ['methods', 'Methods'],
    ['headers', 'Headers of requests'],
    ['exposed', 'Headers of answers'],
  ] as const
  return (
    <fieldset>
      <legend>Rule {number}</legend>
      {fields.map(([field, title]) => (
        <Words
          key={field}
          label={title}
          words={rule[field]}
          onChange={(text) => onChange({ ...rule, [field]: words(text) })}
        />
      ))}
      <Words
        label="Seconds for which browsers remember the answer"
        words={rule.maxAgeSeconds === undefined ? [] : [String(rule.maxAgeSeconds)]}
        onChange={(text) => onChange({ ...rule, maxAgeSeconds: text.trim() === '' ? undefined : Number(text) })}
      />
      <Button icon="trash" kind="danger" onClick={() => onChange(undefined)}>
        Remove rule {number}
      </Button>
    </fieldset>
  )
}

function Words({
  label,
  words: given,
  onChange,
}: {
  label: string
  words: readonly string[]
  onChange: (text: string) => void
}) {
  const text = useSignal(given.join(' '))
  useSignalEffect(() => {
    if (text.value !== given.join(' ')) onChange(text.value)
  })
  return <TextField label={label} value={text} />
}
