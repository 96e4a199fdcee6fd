/** Whether access logs may be written to a bucket. Policies know their delivery as a service of AWS. Pure. */
import type { Decision } from '../../access/decide.ts'
import { nobody, type Principal } from '../../auth/principal.ts'
import { S3Error } from '../../errors.ts'
import type { BucketRecord } from '../../records/bucket-record.ts'
import { decisionOn } from '../access/authorize.ts'
import { valuesOfOwnRequest } from '../access/own-request.ts'

const service = 'logging.s3.amazonaws.com'
const delivery: Principal = { ...nobody, service }

export interface LogToDeliver {
  source: BucketRecord
  target: BucketRecord
  key: string
  /** Every key that begins with `key`, which ends with a star. */
  everyKey?: boolean
}

/** What the policy and the grants of the target say. */
function decisionOnDelivery({ source, target, key, everyKey }: LogToDeliver, nowMs: number): Decision {
  const values = new Map([
    ...valuesOfOwnRequest(nowMs),
    ['aws:SourceArn', `arn:aws:s3:::${source.name}`],
    ['aws:SourceAccount', source.owner],
  ])
  const asker = {
    principal: delivery,
    conditionValue: (name: string) => values.get(name),
    existing: () => 'none' as const,
  }
  return decisionOn(asker, { permission: 's3:PutObject', name: target.name, bucket: target, key, everyKey })
}

/** Whether it says so itself. Otherwise nothing has to allow it, because the sender of PutBucketLogging may write there. */
const isDenied = ({ allowed, because }: Decision): boolean => !allowed && because.by !== 'default'

/** Throws InvalidTargetBucketForLogging where the log of `source` can't be written to the target. */
export function checkLogTarget(source: BucketRecord, target: BucketRecord | undefined, name: string): BucketRecord {
  if (target === undefined) throw invalidTarget(name, 'The target bucket for logging does not exist')
  if (target.owner !== source.owner) {
    throw invalidTarget(name, 'The owner for the bucket to be logged and the target bucket must be the same.')
  }
  return target
}

/** Throws InvalidTargetBucketForLogging. */
export function checkDelivery(log: LogToDeliver, nowMs: number): Decision {
  const decision = decisionOnDelivery(log, nowMs)
  if (!isDenied(decision)) return decision
  throw invalidTarget(log.target.name, `The policy of the target bucket denies s3:PutObject to the service ${service}`)
}

/** Throws InvalidTargetBucketForLogging where the log may not be written any more. */
export function admitLog(source: BucketRecord, target: BucketRecord, key: string, nowMs: number): void {
  checkLogTarget(source, target, target.name)
  checkDelivery({ source, target, key }, nowMs)
}

const invalidTarget = (name: string, message: string): S3Error =>
  new S3Error('InvalidTargetBucketForLogging', { message, details: { TargetBucket: name } })
