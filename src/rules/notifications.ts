/** Which events the notifications of a bucket tell, and which rules can be set, as in S3. Pure. */
import { invalidArgument } from '../errors.ts'
import { limits } from '../limits.ts'
import type { EventName, NotificationRule } from '../records/notifications.ts'

/** What S3 can tell. What is not an `EventName` never happens here: nothing is archived, and failures of replication are told to the operator. */
const eventNames: readonly string[] = [
  's3:ObjectCreated:Put',
  's3:ObjectCreated:Post',
  's3:ObjectCreated:Copy',
  's3:ObjectCreated:CompleteMultipartUpload',
  's3:ObjectRemoved:Delete',
  's3:ObjectRemoved:DeleteMarkerCreated',
  's3:LifecycleExpiration:Delete',
  's3:LifecycleExpiration:DeleteMarkerCreated',
  's3:ObjectTagging:Put',
  's3:ObjectTagging:Delete',
  's3:ObjectAcl:Put',
  's3:ObjectRestore:Post',
  's3:ObjectRestore:Completed',
  's3:ObjectRestore:Delete',
  's3:ReducedRedundancyLostObject',
  's3:Replication:OperationFailedReplication',
  's3:Replication:OperationMissedThreshold',
  's3:Replication:OperationReplicatedAfterThreshold',
  's3:Replication:OperationNotTracked',
  's3:LifecycleTransition',
  's3:IntelligentTiering',
]

/** What a rule can ask for: one event, or all of a group, such as `s3:ObjectCreated:*`. */
const eventPatterns: ReadonlySet<string> = new Set(
  eventNames.flatMap((name) => [name, name.replace(/^(s3:\w+):\w+$/, '$1:*')]),
)

/** The rules that ask for this event. */
export function rulesFor(rules: readonly NotificationRule[], name: EventName, key: string): NotificationRule[] {
  return rules.filter(
    ({ events, prefix = '', suffix = '' }) =>
      events.some((pattern) => isMatch(pattern, `s3:${name}`)) && key.startsWith(prefix) && key.endsWith(suffix),
  )
}

/**
 * The webhook that an ARN names, in lower case: `arn:aws:sqs:REGION:ACCOUNT:NAME`, as AWS writes queues, or `arn:minio:sqs:REGION:NAME:webhook`. Region and account
 * can be anything. `undefined`: it names none.
 */
export function webhookOf(arn: string): string | undefined {
  const [, partition, fifth, sixth] = /^arn:([a-z-]+):sqs:[^:]*:([^:]*):([^:]+)$/.exec(arn) ?? []
  const name = partition === 'minio' ? sixth === 'webhook' && fifth : sixth
  return name ? name.toLowerCase() : undefined
}

/** The webhooks that rules name and earlier ones did not. */
export function newWebhooks(before: readonly NotificationRule[], now: readonly NotificationRule[]): string[] {
  const [known, named] = [before, now].map((rules) => rules.flatMap(({ queueArn }) => webhookOf(queueArn) ?? []))
  return [...new Set(named)].filter((webhook) => !known?.includes(webhook))
}

/** What a bucket's record keeps of `rules`: `undefined` for none. `webhooks`: the names that the server knows. Throws InvalidArgument with S3's texts. */
export function checkNotifications(
  rules: readonly NotificationRule[],
  webhooks: ReadonlySet<string>,
): readonly NotificationRule[] | undefined {
  if (rules.length === 0) return undefined
  if (rules.length > limits.notificationRulesMax) {
    throw invalidArgument(
      'NotificationConfiguration',
      String(rules.length),
      `The number of configurations must not exceed ${limits.notificationRulesMax}.`,
    )
  }
  for (const rule of rules) checkRule(rule, webhooks)
  const asked = rules.map((rule) => ({ ...rule, names: namesOf(rule) }))
  for (const [at, rule] of asked.entries()) {
    for (const other of asked.slice(0, at)) checkPair(other, rule)
  }
  return rules
}

/** The names of all events that a rule asks for. */
const namesOf = ({ events }: NotificationRule): string[] =>
  eventNames.filter((name) => events.some((pattern) => isMatch(pattern, name)))

function checkRule(
  { id, queueArn, events, prefix = '', suffix = '' }: NotificationRule,
  webhooks: ReadonlySet<string>,
) {
  if ([...id].length > limits.notificationIdCharsMax) {
    throw invalidArgument('Id', id, `Id must not be longer than ${limits.notificationIdCharsMax} characters.`)
  }
  const webhook = webhookOf(queueArn)
  if (webhook === undefined || queueArn.length > limits.notificationArnCharsMax) {
    throw invalidArgument('QueueArn', queueArn, 'The ARN is not well formed')
  }
  if (!webhooks.has(webhook)) {
    throw invalidArgument(
      queueArn,
      'The destination queue does not exist',
      'Unable to validate the following destination configurations',
    )
  }
  if (events.length === 0) throw invalidArgument('Event', '', 'A configuration must name at least one event')
  for (const event of events) {
    if (!eventPatterns.has(event)) {
      throw invalidArgument('Event', event, 'The event is not supported for notifications')
    }
  }
  for (const value of [prefix, suffix]) {
    if (Buffer.byteLength(value) > limits.keyBytesMax) {
      throw invalidArgument('FilterRule.Value', value, 'The filter value must not exceed 1024 bytes in UTF-8')
    }
  }
}

interface AskingRule extends NotificationRule {
  names: readonly string[]
}

/** One event must not match two rules, because S3 tells each event once. */
function checkPair(one: AskingRule, other: AskingRule): void {
  if (one.id === other.id) {
    throw invalidArgument('Id', one.id, 'Same ID used for multiple configurations. IDs must be unique')
  }
  const share = one.names.some((name) => other.names.includes(name))
  if (!share || !beginAlike(one.prefix, other.prefix) || !endAlike(one.suffix, other.suffix)) return
  throw invalidArgument(
    'NotificationConfiguration',
    other.id,
    'Configuration is ambiguously defined. Cannot have overlapping suffixes in two rules if the prefixes are overlapping for the same event type.',
  )
}

const isMatch = (pattern: string, name: string): boolean =>
  pattern.endsWith(':*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern

/** Whether some keys have both prefixes. */
const beginAlike = (one = '', other = ''): boolean => one.startsWith(other) || other.startsWith(one)

const endAlike = (one = '', other = ''): boolean => one.endsWith(other) || other.endsWith(one)
