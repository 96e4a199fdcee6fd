/** PutBucketNotificationConfiguration, GetBucketNotificationConfiguration. */
import { type Clock, randomId } from '../../clock.ts'
import { testEventPut } from '../../commits/event-queue.ts'
import { vendor } from '../../contract/fields.ts'
import { checksumsIn, ownership, requiredDocument } from '../../contract/groups.ts'
import { type Infer, list, optional, refusedElement, string, struct } from '../../contract/shapes.ts'
import { boolean } from '../../contract/values.ts'
import { invalidArgument } from '../../errors.ts'
import { changeBucket, findBucket } from '../../objects/buckets.ts'
import type { NotificationRule } from '../../records/notifications.ts'
import { checkNotifications, newWebhooks } from '../../rules/notifications.ts'
import { defineOperation } from '../context.ts'

const filterRuleShape = struct({ Name: string, Value: string })
const queueShape = struct({
  Id: optional(string),
  Queue: string,
  Event: list(string),
  Filter: optional(struct({ S3Key: optional(struct({ FilterRule: list(filterRuleShape) })) })),
})
const root = 'NotificationConfiguration'
const shape = struct({
  QueueConfiguration: list(queueShape),
  // Every webhook is a queue here.
  TopicConfiguration: refusedElement,
  CloudFunctionConfiguration: refusedElement,
  EventBridgeConfiguration: refusedElement,
})

export const putBucketNotificationOperation = defineOperation({
  name: 'PutBucketNotificationConfiguration',
  method: 'PUT',
  target: 'bucket',
  query: ['notification'],
  permission: 's3:PutBucketNotification',
  summary:
    'Sets which events of the bucket go to which webhooks of the server. An empty configuration turns them off. Webhooks are queues: `arn:aws:sqs:REGION:ACCOUNT:NAME` or `arn:minio:sqs::NAME:webhook`, where NAME is a webhook of the configuration file.',
  input: {
    skipDestinationValidation: vendor('skip-destination-validation', boolean),
    ...checksumsIn,
    ...ownership,
  },
  inputBody: requiredDocument(root, shape),
  output: {},
  errors: ['NoSuchBucket', 'MalformedXML', 'BadDigest', 'InvalidDigest', 'NotImplemented', 'InvalidArgument'],

  async handle({ backend, scope, bucket, requestId }, { skipDestinationValidation, body }) {
    const rules = body.QueueConfiguration.map((element) => toRule(element, backend.clock))
    await changeBucket(
      backend,
      scope,
      (record) => ({ ...record, notifications: checkNotifications(rules, backend.webhooks ?? noWebhooks) }),
      ({ notifications = [] }) =>
        skipDestinationValidation === true
          ? []
          : newWebhooks(notifications, rules).map((webhook) =>
              testEventPut(backend.clock, webhook, { bucket, requestId }),
            ),
    )
    return {}
  },
})

export const getBucketNotificationOperation = defineOperation({
  name: 'GetBucketNotificationConfiguration',
  method: 'GET',
  target: 'bucket',
  query: ['notification'],
  permission: 's3:GetBucketNotification',
  summary: 'Returns which events of the bucket go to which webhooks. Empty: none.',
  input: ownership,
  output: {},
  outputBody: { kind: 'xml', root, shape },
  errors: ['NoSuchBucket'],

  async handle({ backend, scope }) {
    const { notifications = [] } = await findBucket(backend, scope)
    return { body: { QueueConfiguration: notifications.map(fromRule) } }
  },
})

const noWebhooks: ReadonlySet<string> = new Set()

type QueueElement = Infer<typeof queueShape>

function toRule({ Id, Queue, Event, Filter }: QueueElement, clock: Clock): NotificationRule {
  const filters = new Map<string, string>()
  for (const { Name, Value } of Filter?.S3Key?.FilterRule ?? []) {
    const name = Name.toLowerCase()
    if (name !== 'prefix' && name !== 'suffix') {
      throw invalidArgument('FilterRule.Name', Name, 'filter rule name must be either prefix or suffix')
    }
    if (filters.has(name)) {
      throw invalidArgument('FilterRule.Name', Name, `Cannot specify more than one ${name} rule in a filter.`)
    }
    filters.set(name, Value)
  }
  const [prefix, suffix] = [filters.get('prefix'), filters.get('suffix')]
  return { id: Id || randomId(clock), queueArn: Queue, events: [...new Set(Event)], prefix, suffix }
}

function fromRule({ id, queueArn, events, prefix, suffix }: NotificationRule): QueueElement {
  const filters = [
    ['prefix', prefix],
    ['suffix', suffix],
  ] as const
  const rules = filters.flatMap(([Name, Value]) => (Value === undefined ? [] : [{ Name, Value }]))
  return {
    Id: id,
    Queue: queueArn,
    Event: [...events],
    Filter: rules.length === 0 ? undefined : { S3Key: { FilterRule: rules } },
  }
}
