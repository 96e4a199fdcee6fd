/** Which pages of other origins may use a bucket from a browser. */
import { bucketCors, type CorsRule, putBucketCors } from '../../../api/buckets.ts'
import { Setting } from './panel.tsx'
import { RuleField, RulesForm } from './rules-form.tsx'

const newRule: CorsRule = {
  origins: ['*'],
  methods: ['GET', 'HEAD'],
  headers: ['*'],
  exposed: ['ETag'],
  maxAgeSeconds: 3000,
}

export function Cors({ bucket }: { bucket: string }) {
  return (
    <Setting title="Other origins (CORS)" load={() => bucketCors(bucket)}>
      {(rules, reload) => (
        <RulesForm
          key={JSON.stringify(rules)}
          {...{ bucket, rules, newRule, reload }}
          part="cors"
          put={putBucketCors}
          says={(count) => count === 0 && <p>No rules. Browsers don't let pages of other origins use this bucket.</p>}
        >
          {(rule, change) => <Rule rule={rule} onChange={change} />}
        </RulesForm>
      )}
    </Setting>
  )
}

const words = (text: string): string[] => text.split(/[\s,]+/).filter((word) => word !== '')

const fields = [
  ['origins', 'Origins'],
  ['methods', 'Methods'],
  ['headers', 'Headers of requests'],
  ['exposed', 'Headers of answers'],
] as const

function Rule({ rule, onChange }: { rule: CorsRule; onChange: (rule: CorsRule) => void }) {
  return (
    <>
      {fields.map(([field, title]) => (
        <RuleField
          key={field}
          label={title}
          text={rule[field].join(' ')}
          onChange={(text) => onChange({ ...rule, [field]: words(text) })}
        />
      ))}
      <RuleField
        label="Seconds for which browsers remember the answer"
        text={rule.maxAgeSeconds === undefined ? '' : String(rule.maxAgeSeconds)}
        onChange={(text) => onChange({ ...rule, maxAgeSeconds: text.trim() === '' ? undefined : Number(text) })}
      />
    </>
  )
}
