/** What the sender of replication rules must be allowed to do, because the server reads and writes in its place from then on: what S3 demands of the role that rules name. */
import { eachOf } from '../../each-of.ts'
import { S3Error } from '../../errors.ts'
import { findBucketIfAny } from '../../objects/buckets.ts'
import { pauses } from '../../pauses.ts'
import type { BucketRecord } from '../../records/bucket-record.ts'
import type { ReplicationRule, ReplicationSender } from '../../records/replication.ts'
import { replicationLimits } from '../../replication-limits.ts'
import { destinationOf, ownBucketFault, takesMarkers } from '../../rules/replication.ts'
import { invalidRequest } from '../../rules/rule-filter.ts'
import { authorize } from '../access/authorize.ts'
import { RequestScope } from '../access/request-scope.ts'
import type { AskingScope, OperationContext, ScopedResource } from '../context.ts'
import { noting, senderOf } from './replication-sender.ts'

/** Who asks, and what of the request conditions asked. */
interface Rights extends Pick<OperationContext, 'backend' | 'principal' | 'conditionValue'> {
  scopeOf(resource: ScopedResource, permission: string): AskingScope
}

/**
 * Resolves with the sender, as the bucket is to keep it. Throws InvalidRequest for a bucket that takes no copies, and AccessDenied where the sender may not read or
 * write what the rules copy.
 */
export async function checkRights(
  context: OperationContext,
  bucket: BucketRecord,
  rules: readonly ReplicationRule[],
): Promise<ReplicationSender> {
  const { backend, principal } = context
  const noted = new Map<string, string | readonly string[]>()
  const request = { ...context, conditionValue: noting(context.conditionValue, noted), expectedBucketOwner: undefined }
  const scopeOf: Rights['scopeOf'] = (resource, permission) => new RequestScope(request, resource, [permission])
  await checkEach({ backend, principal, conditionValue: request.conditionValue, scopeOf }, bucket, rules)
  return senderOf(principal, noted)
}

async function checkEach(context: Rights, bucket: BucketRecord, rules: readonly ReplicationRule[]): Promise<void> {
  const pause = pauses()
  for (const key of new Set(rules.map(keysOf))) {
    await pause()
    const source = { bucket: bucket.name, key, everyKey: true }
    context.scopeOf(source, 's3:GetObjectVersionForReplication').admit(bucket)
  }
  const kinds = new Map(
    rules.map((rule) => [`${rule.destination.bucketArn} ${takesMarkers(rule)} ${keysOf(rule)}`, rule]),
  )
  const sites = new Map<string, () => Promise<string | undefined>>()
  await eachOf(kinds.values(), replicationLimits.keysAtOnce, async (rule) => {
    await pause()
    const { bucketArn } = rule.destination
    const { site, bucket: to } = destinationOf(bucketArn) ?? { bucket: '' }
    if (site === undefined) refuseFault(await ownFault(context, bucket, to, rule))
    else sites.set(bucketArn, siteFault(context, bucket, { site, to }, rule))
  })
  await eachOf(sites.values(), replicationLimits.keysAtOnce, async (fault) => refuseFault(await fault()))
}

const keysOf = ({ filter: { prefix = '' } }: ReplicationRule): string => `${prefix}*`

const permissionsOf = (rule: ReplicationRule): readonly string[] => [
  's3:ReplicateObject',
  's3:ReplicateTags',
  ...(takesMarkers(rule) ? ['s3:ReplicateDelete'] : []),
]

/** Why a bucket of this server takes no copies. Rejects with AccessDenied. */
async function ownFault(
  { backend, scopeOf }: Rights,
  { owner }: BucketRecord,
  bucket: string,
  rule: ReplicationRule,
): Promise<string | undefined> {
  const [first = '', ...others] = permissionsOf(rule)
  const scope = scopeOf({ bucket, key: keysOf(rule), everyKey: true }, first)
  for (const permission of others) scope.ask(permission)
  return ownBucketFault(await findBucketIfAny(backend, scope), owner)
}

/** Returns what asks the site why the bucket takes no copies. Throws InvalidRequest, AccessDenied. */
function siteFault(
  { backend, principal, conditionValue }: Rights,
  { owner }: BucketRecord,
  { site: name, to }: { site: string; to: string },
  rule: ReplicationRule,
): () => Promise<string | undefined> {
  const site = backend.sites?.get(name)
  if (site === undefined) throw invalidRequest(`The server's configuration has no site ${name}.`)
  if (!site.mayUse(owner)) throw new S3Error('AccessDenied')
  // The ARN of the destination is that of its objects, too. No bucket's policy can allow anything there.
  const objects = { name, bucket: undefined, key: `${to}/${keysOf(rule)}`, everyKey: true }
  for (const permission of permissionsOf(rule)) {
    authorize({ principal, conditionValue, existing: () => 'none' }, { permission, ...objects })
  }
  return () => site.fault(to)
}

function refuseFault(fault: string | undefined): void {
  if (fault !== undefined) throw invalidRequest(fault)
}
