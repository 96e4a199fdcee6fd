/** Which events of a bucket the server posts to webhooks. */
import {
  bucketNotifications,
  eventGroups,
  type NotificationRule,
  putBucketNotifications,
} from '../../../api/notifications.ts'
import { Toggle } from '../../../ui/fields.tsx'
import { Setting } from './panel.tsx'
import { RuleField, RulesForm } from './rules-form.tsx'

const newRule: NotificationRule = {
  id: '',
  webhook: '',
  events: ['s3:ObjectCreated:*', 's3:ObjectRemoved:*'],
  prefix: '',
  suffix: '',
}

export function Notifications({ bucket }: { bucket: string }) {
  return (
    <Setting title="Notifications" load={() => bucketNotifications(bucket)}>
      {(rules, reload) => (
        <RulesForm
          key={JSON.stringify(rules)}
          {...{ bucket, rules, newRule, reload }}
          put={putBucketNotifications}
          says={(count) => (
            <p>
              {count === 0
                ? 'No rules. No webhook is told what happens in this bucket.'
                : 'The server posts each event until the webhook accepts it, for up to three days.'}
            </p>
          )}
        >
          {(rule, change) => <Rule rule={rule} onChange={change} />}
        </RulesForm>
      )}
    </Setting>
  )
}

const labels: Readonly<Record<(typeof eventGroups)[number], string>> = {
  's3:ObjectCreated:*': 'Objects created',
  's3:ObjectRemoved:*': 'Objects removed',
  's3:LifecycleExpiration:*': 'Removed by lifecycle rules',
  's3:LifecycleTransition': 'Moved to another storage class',
  's3:ObjectTagging:*': 'Tags changed',
  's3:ObjectAcl:Put': 'Access control lists changed',
}

function Rule({ rule, onChange }: { rule: NotificationRule; onChange: (rule: NotificationRule) => void }) {
  if (rule.more !== undefined) {
    return (
      <p>
        <b>{rule.id}</b>, to {rule.webhook}. It has events or conditions that were set elsewhere, and stays as it is.
      </p>
    )
  }
  const { events } = rule
  const field = (name: 'id' | 'webhook' | 'prefix' | 'suffix') => ({
    text: rule[name],
    onChange: (text: string) => onChange({ ...rule, [name]: text }),
  })
  return (
    <>
      <RuleField label="Name" {...field('id')} />
      <RuleField label="Webhook" hint="Its name in the server's configuration." required {...field('webhook')} />
      {eventGroups.map((group) => (
        <Toggle
          key={group}
          label={labels[group]}
          on={events.includes(group)}
          onChange={(on) =>
            onChange({ ...rule, events: on ? [...events, group] : events.filter((event) => event !== group) })
          }
        />
      ))}
      <RuleField label="Only keys that begin with" {...field('prefix')} />
      <RuleField label="Only keys that end with" {...field('suffix')} />
    </>
  )
}
