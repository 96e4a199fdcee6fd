/** To which other buckets the versions of a bucket are copied. */
import {
  bucketReplication,
  type DestinationStatus,
  putBucketReplication,
  type ReplicationRule,
  replicationStatus,
} from '../../../api/replication.ts'
import { useLoaded } from '../../../model/loaded.ts'
import { may } from '../../../model/permissions.ts'
import { countText, timeText } from '../../../model/text.ts'
import { Button } from '../../../ui/button.tsx'
import { Toggle } from '../../../ui/fields.tsx'
import { Show } from '../../../ui/loading.tsx'
import { Setting } from './panel.tsx'
import { RuleField, RulesForm } from './rules-form.tsx'

const newRule: ReplicationRule = { id: '', destination: '', prefix: '', deleteMarkers: true, existing: true }

export function Replication({ bucket }: { bucket: string }) {
  return (
    <Setting title="Replication" load={() => bucketReplication(bucket)}>
      {(rules, reload) => (
        <RulesForm
          key={JSON.stringify(rules)}
          {...{ bucket, rules, newRule, reload }}
          part="replication"
          put={putBucketReplication}
          says={(count) => (
            <>
              <p>
                {count === 0
                  ? 'No rules. Nothing is copied to another bucket. Both buckets need versioning.'
                  : 'Versions are copied as they are written. Each object shows its state.'}
              </p>
              {rules.length > 0 && may('ListReplication') && <Waiting bucket={bucket} />}
            </>
          )}
        >
          {(rule, change) => <Rule rule={rule} onChange={change} />}
        </RulesForm>
      )}
    </Setting>
  )
}

/** Loads by itself, because a site that is away keeps who asks waiting. */
function Waiting({ bucket }: { bucket: string }) {
  const { state, reload } = useLoaded(() => replicationStatus(bucket), [bucket])
  return (
    <Show of={state} again={reload}>
      {(destinations) => (
        <div class="bar">
          <ul>
            {destinations.map((status) => (
              <li key={status.destination}>{statusText(status)}</li>
            ))}
          </ul>
          <Button onClick={reload}>Look again</Button>
        </div>
      )}
    </Show>
  )
}

function statusText({ destination, waiting, since, queueing, fault }: DestinationStatus): string {
  const queue = queueing
    ? 'what was there before is being queued.'
    : since === undefined
      ? 'nothing waits.'
      : `${countText(waiting)} ${waiting === 1 ? 'version waits' : 'versions wait'}, the first since ${timeText(since)}.`
  return `${destination}: ${queue}${fault === undefined ? '' : ` It takes no copies: ${fault}`}`
}

function Rule({ rule, onChange }: { rule: ReplicationRule; onChange: (rule: ReplicationRule) => void }) {
  if (rule.more !== undefined) {
    return (
      <p>
        <b>{rule.id}</b>, to {rule.destination}. It has conditions that were set elsewhere, and stays as it is.
      </p>
    )
  }
  const field = (name: 'id' | 'destination' | 'prefix') => ({
    text: rule[name],
    onChange: (text: string) => onChange({ ...rule, [name]: text }),
  })
  return (
    <>
      <RuleField label="Name" {...field('id')} />
      <RuleField
        label="Copy to"
        hint="A bucket on this server, or SITE/BUCKET for a site of the server's configuration."
        required
        {...field('destination')}
      />
      <RuleField label="Only keys that begin with" {...field('prefix')} />
      <Toggle
        label="Copy delete markers"
        on={rule.deleteMarkers}
        onChange={(deleteMarkers) => onChange({ ...rule, deleteMarkers })}
      />
      <Toggle
        label="Copy existing versions"
        on={rule.existing}
        onChange={(existing) => onChange({ ...rule, existing })}
      />
    </>
  )
}
