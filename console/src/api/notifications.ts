/** A bucket's notification rules, as S3 keeps them. */
import { putConfiguration } from './buckets.ts'
import { askForXml } from './s3-request.ts'
import { childOf, childrenOf, contentOf, textOf } from './xml.ts'
import type { XmlContent } from './xml-text.ts'

/** The events that a rule of the page can ask for. */
export const eventGroups = [
  's3:ObjectCreated:*',
  's3:ObjectRemoved:*',
  's3:LifecycleExpiration:*',
  's3:LifecycleTransition',
  's3:ObjectTagging:*',
  's3:ObjectAcl:Put',
] as const

export interface NotificationRule {
  /** Empty: the server makes one. */
  id: string
  /** The name of a webhook of the server's configuration. */
  webhook: string
  /** As the rule came. It is sent again while it names `webhook`. */
  arn?: string
  events: readonly string[]
  prefix: string
  suffix: string
  /** The whole rule, where it says more than the fields above. It is saved as it came. */
  more?: XmlContent
}

export async function bucketNotifications(bucket: string): Promise<NotificationRule[]> {
  const xml = await askForXml({ bucket, query: { notification: '' } })
  return childrenOf(xml, 'QueueConfiguration').map(readRule)
}

export const putBucketNotifications = (bucket: string, rules: readonly NotificationRule[]): Promise<void> =>
  putConfiguration(bucket, 'notification', 'NotificationConfiguration', {
    QueueConfiguration: rules.map(({ more, ...rule }) => more ?? ruleOf(rule)),
  })

function readRule(element: Element): NotificationRule {
  const arn = textOf(element, 'Queue') ?? ''
  const webhook = webhookOf(arn)
  const events = childrenOf(element, 'Event').map((each) => each.textContent ?? '')
  const key = childOf(childOf(element, 'Filter'), 'S3Key')
  const filters = (key === undefined ? [] : childrenOf(key, 'FilterRule')).map(
    (each) => [textOf(each, 'Name') ?? '', textOf(each, 'Value') ?? ''] as const,
  )
  const { prefix = '', suffix = '' } = Object.fromEntries(filters)
  const rule = { id: textOf(element, 'Id') ?? '', webhook: webhook ?? arn, arn, events, prefix, suffix }
  const isShown =
    webhook !== undefined &&
    events.every((event) => eventGroups.some((group) => group === event)) &&
    filters.every(([name]) => name === 'prefix' || name === 'suffix') &&
    [...element.querySelectorAll('*')].every(({ localName }) => elements.has(localName))
  return isShown ? rule : { ...rule, more: contentOf(element) }
}

/** The elements that the fields of a rule stand for, and those around them. */
const elements: ReadonlySet<string> = new Set([
  'Id',
  'Queue',
  'Event',
  'Filter',
  'S3Key',
  'FilterRule',
  'Name',
  'Value',
])

function ruleOf({ id, webhook, arn, events, prefix, suffix }: NotificationRule): XmlContent {
  const name = webhook.trim()
  const filters = [
    { Name: 'prefix', Value: prefix },
    { Name: 'suffix', Value: suffix },
  ].filter(({ Value }) => Value !== '')
  return {
    Id: id,
    Queue: arn !== undefined && webhookOf(arn) === name ? arn : `arn:aws:sqs:::${name}`,
    Event: events,
    Filter: filters.length === 0 ? undefined : { S3Key: { FilterRule: filters } },
  }
}

/** The webhook that `arn:aws:sqs:REGION:ACCOUNT:NAME` or `arn:minio:sqs:REGION:NAME:webhook` names. */
function webhookOf(arn: string): string | undefined {
  const [, partition, fifth, sixth] = /^arn:([a-z-]+):sqs:[^:]*:([^:]*):([^:]+)$/.exec(arn) ?? []
  return partition === 'minio' ? (sixth === 'webhook' ? fifth : undefined) : sixth
}
