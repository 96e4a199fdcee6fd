/** The lifecycle rules of a bucket: what is removed, and when. */
import { bucketLifecycle, type LifecycleRule, putBucketLifecycle } from '../../../api/lifecycle.ts'
import { Toggle } from '../../../ui/fields.tsx'
import { Setting } from './panel.tsx'
import { RuleField, RulesForm } from './rules-form.tsx'

const newRule: LifecycleRule = {
  id: '',
  enabled: true,
  prefix: '',
  days: '',
  replacedDays: '',
  keeps: '',
  uploadDays: '7',
}

export function Lifecycle({ bucket }: { bucket: string }) {
  return (
    <Setting title="Lifecycle" load={() => bucketLifecycle(bucket)}>
      {(rules, reload) => (
        <RulesForm
          key={JSON.stringify(rules)}
          {...{ bucket, rules, newRule, reload }}
          part="lifecycle"
          put={putBucketLifecycle}
          says={(count) => (
            <p>
              {count === 0
                ? 'No rules. Nothing is removed automatically.'
                : 'Rules remove data for good, once a day. Locked versions stay.'}
            </p>
          )}
        >
          {(rule, change) => <Rule rule={rule} onChange={change} />}
        </RulesForm>
      )}
    </Setting>
  )
}

const fields = [
  ['id', 'Name', 'text'],
  ['prefix', 'Only keys that begin with', 'text'],
  ['days', 'Days after which an object is removed', 'number'],
  ['replacedDays', 'Days after which a replaced version is removed', 'number'],
  ['keeps', 'Newest replaced versions to keep', 'number'],
  ['uploadDays', 'Days after which an unfinished upload is aborted', 'number'],
] as const

function Rule({ rule, onChange }: { rule: LifecycleRule; onChange: (rule: LifecycleRule) => void }) {
  if (rule.more !== undefined) {
    return (
      <p>
        <b>{rule.id}</b>, {rule.enabled ? 'on' : 'off'}. It has conditions that were set elsewhere, and stays as it is.
      </p>
    )
  }
  return (
    <>
      <Toggle label="On" on={rule.enabled} onChange={(enabled) => onChange({ ...rule, enabled })} />
      {fields.map(([field, label, type]) => (
        <RuleField
          key={field}
          label={label}
          type={type}
          text={rule[field]}
          onChange={(text) => onChange({ ...rule, [field]: text })}
        />
      ))}
    </>
  )
}
