/** A bucket's replication rules, as S3 keeps them. */
import { adminPath, askAdmin } from './admin.ts'
import { putConfiguration } from './buckets.ts'
import { askUnlessAbsent } from './s3-request.ts'
import { childOf, childrenOf, contentOf, textOf } from './xml.ts'
import type { XmlContent } from './xml-text.ts'

export interface ReplicationRule {
  /** Empty: the server makes one. */
  id: string
  /** `BUCKET` of this server, or `SITE/BUCKET`. */
  destination: string
  prefix: string
  deleteMarkers: boolean
  /** Also what is there already. */
  existing: boolean
  /** Absent: one that no other rule has. */
  priority?: number
  /** The whole rule, where it says more than the fields above. It is saved as it came. */
  more?: XmlContent
  /** Of the whole configuration. */
  role?: string
}

/** What a destination of the bucket's rules gets, as its server sees it. */
export interface DestinationStatus {
  /** As in a rule. */
  destination: string
  /** Versions. */
  waiting: number
  /** Absent: none waits. */
  since?: string
  /** What was there before the rule is still being queued. */
  queueing: boolean
  /** Why it takes no copies. Absent: it does. */
  fault?: string
}

/** Asks each destination, which can take ten seconds where one is away. */
export async function replicationStatus(bucket: string): Promise<DestinationStatus[]> {
  const path = `${adminPath('replication')}?${new URLSearchParams({ bucket })}`
  const { destinations } = await askAdmin<{ destinations: DestinationStatus[] }>('GET', path)
  return destinations.map((status) => ({ ...status, destination: shownDestination(status.destination) }))
}

export async function bucketReplication(bucket: string): Promise<ReplicationRule[]> {
  const xml = await askUnlessAbsent({ bucket, query: { replication: '' } }, 'ReplicationConfigurationNotFoundError')
  if (xml === undefined) return []
  const role = textOf(xml, 'Role') ?? ''
  return childrenOf(xml, 'Rule').map((element) => ({ ...readRule(element), role }))
}

export async function putBucketReplication(bucket: string, rules: readonly ReplicationRule[]): Promise<void> {
  let last = Math.max(0, ...rules.map(({ priority = 0 }) => priority))
  await putConfiguration(bucket, 'replication', 'ReplicationConfiguration', {
    Role: rules.find(({ role }) => role !== undefined)?.role ?? '',
    Rule: rules.map(({ more, ...rule }) => more ?? ruleOf({ ...rule, priority: rule.priority ?? ++last })),
  })
}

const arnPrefix = 'arn:aws:s3:::'
const shownDestination = (arn: string): string => (arn.startsWith(arnPrefix) ? arn.slice(arnPrefix.length) : arn)

function readRule(element: Element): ReplicationRule {
  const within = (name: string, child: string): string | undefined => {
    const found = childOf(element, name)
    return found && textOf(found, child)
  }
  const arn = within('Destination', 'Bucket') ?? ''
  const isOn = (name: string): boolean => within(name, 'Status') === 'Enabled'
  const priority = textOf(element, 'Priority')
  const rule = {
    id: textOf(element, 'ID') ?? '',
    destination: shownDestination(arn),
    prefix: within('Filter', 'Prefix') ?? '',
    deleteMarkers: isOn('DeleteMarkerReplication'),
    existing: isOn('ExistingObjectReplication'),
    ...(priority === undefined ? {} : { priority: Number(priority) }),
  }
  const isShown =
    arn.startsWith(arnPrefix) &&
    childOf(element, 'Filter') !== undefined &&
    textOf(element, 'Status') === 'Enabled' &&
    [...element.querySelectorAll('*')].every(({ localName }) => elements.has(localName))
  return isShown ? rule : { ...rule, more: contentOf(element) }
}

/** The elements that the fields of a rule stand for, and those around them. */
const elements: ReadonlySet<string> = new Set([
  'ID',
  'Priority',
  'Status',
  'Filter',
  'Prefix',
  'Destination',
  'Bucket',
  'DeleteMarkerReplication',
  'ExistingObjectReplication',
])

function ruleOf({ id, destination, prefix, deleteMarkers, existing, priority }: ReplicationRule): XmlContent {
  const status = (isOn: boolean) => ({ Status: isOn ? 'Enabled' : 'Disabled' })
  return {
    ID: id,
    Priority: priority,
    Filter: { Prefix: prefix },
    ...status(true),
    ExistingObjectReplication: status(existing),
    Destination: { Bucket: `${arnPrefix}${destination.trim()}` },
    DeleteMarkerReplication: status(deleteMarkers),
  }
}
