/** PutBucketLogging, GetBucketLogging. */
import { checksumsIn, ownership, requiredDocument } from '../../contract/groups.ts'
import { type Infer, oneOf, optional, refusedElement, string, struct } from '../../contract/shapes.ts'
import { S3Error } from '../../errors.ts'
import { changeBucket, findBucket, findBucketIfAny } from '../../objects/buckets.ts'
import type { BucketLogging, LogKeyFormat } from '../../records/bucket-logging.ts'
import type { BucketRecord } from '../../records/bucket-record.ts'
import { checkLogPrefix } from '../../rules/access-log.ts'
import { defineOperation, type OperationContext } from '../context.ts'
import { checkDelivery, checkLogTarget } from './log-delivery.ts'

const root = 'BucketLoggingStatus'
const keyFormatShape = struct({
  SimplePrefix: optional(struct({})),
  PartitionedPrefix: optional(struct({ PartitionDateSource: optional(oneOf('EventTime', 'DeliveryTime')) })),
})
const enabledShape = struct({
  TargetBucket: string,
  TargetPrefix: string,
  TargetGrants: refusedElement,
  TargetObjectKeyFormat: optional(keyFormatShape),
})
const shape = struct({ LoggingEnabled: optional(enabledShape) })

export const putBucketLoggingOperation = defineOperation({
  name: 'PutBucketLogging',
  method: 'PUT',
  target: 'bucket',
  query: ['logging'],
  permission: 's3:PutBucketLogging',
  summary:
    'Sets to which bucket the access log of this bucket is written, a line for each request. An empty status turns it off.',
  input: { ...checksumsIn, ...ownership },
  inputBody: requiredDocument(root, shape),
  output: {},
  errors: [
    'NoSuchBucket',
    'MalformedXML',
    'BadDigest',
    'InvalidDigest',
    'NotImplemented',
    'InvalidTargetBucketForLogging',
    'KeyTooLongError',
  ],

  async handle(context, { body }) {
    const { backend, scope } = context
    const logging = body.LoggingEnabled && toLogging(body.LoggingEnabled)
    if (logging !== undefined) await checkLogging(context, await findBucket(backend, scope), logging)
    await changeBucket(backend, scope, (bucket) => ({ ...bucket, logging }))
    return {}
  },
})

export const getBucketLoggingOperation = defineOperation({
  name: 'GetBucketLogging',
  method: 'GET',
  target: 'bucket',
  query: ['logging'],
  permission: 's3:GetBucketLogging',
  summary: 'Returns to which bucket the access log of this bucket is written. Empty: it has none.',
  input: ownership,
  output: {},
  outputBody: { kind: 'xml', root, shape },
  errors: ['NoSuchBucket'],

  async handle({ backend, scope }) {
    const { logging } = await findBucket(backend, scope)
    return { body: { LoggingEnabled: logging && fromLogging(logging) } }
  },
})

/** Throws InvalidTargetBucketForLogging, KeyTooLongError, and AccessDenied where neither the service nor the sender may write the log. */
async function checkLogging(context: OperationContext, source: BucketRecord, logging: BucketLogging): Promise<void> {
  const { backend, region } = context
  const { targetBucket, targetPrefix } = logging
  const found = await findBucketIfAny(backend, { name: targetBucket, admit: () => {} })
  const target = checkLogTarget(source, found, targetBucket)
  checkLogPrefix(logging, { name: source.name, owner: source.owner, region })
  const everyLog = { key: `${targetPrefix}*`, everyKey: true }
  if (checkDelivery({ source, target, ...everyLog }, backend.clock.now()).allowed) return
  context.scopeOf({ bucket: targetBucket, ...everyLog }, 's3:PutObject', undefined).admit(target)
}

function toLogging({
  TargetBucket,
  TargetPrefix,
  TargetObjectKeyFormat: format,
}: Infer<typeof enabledShape>): BucketLogging {
  return { targetBucket: TargetBucket, targetPrefix: TargetPrefix, keyFormat: format && toKeyFormat(format) }
}

/** Throws MalformedXML unless it is one of the two. */
function toKeyFormat({ SimplePrefix, PartitionedPrefix }: Infer<typeof keyFormatShape>): LogKeyFormat {
  if ((SimplePrefix === undefined) === (PartitionedPrefix === undefined)) throw new S3Error('MalformedXML')
  return PartitionedPrefix === undefined ? 'simple' : (PartitionedPrefix.PartitionDateSource ?? 'partitioned')
}

function fromLogging({ targetBucket, targetPrefix, keyFormat }: BucketLogging): Infer<typeof enabledShape> {
  return {
    TargetBucket: targetBucket,
    TargetPrefix: targetPrefix,
    TargetObjectKeyFormat: keyFormat && fromKeyFormat(keyFormat),
  }
}

function fromKeyFormat(format: LogKeyFormat): Infer<typeof keyFormatShape> {
  if (format === 'simple') return { SimplePrefix: {} }
  return { PartitionedPrefix: { PartitionDateSource: format === 'partitioned' ? undefined : format } }
}
