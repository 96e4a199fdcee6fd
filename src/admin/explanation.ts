/** Explains the decision about a hypothetical request. Uses the same decision code as real requests, on the current records. */

import { reasonText } from '../access/reason-text.ts'
import type { Credentials } from '../auth/credentials.ts'
import { nobody, type Principal } from '../auth/principal.ts'
import { systemClock } from '../clock.ts'
import type { Backend } from '../commits/backend.ts'
import { S3Error } from '../errors.ts'
import { limits } from '../limits.ts'
import type { AccountBlocks } from '../operations/account-blocks.ts'
import { checkBucketNameLength } from '../operations/bucket-name.ts'
import type { ConditionValue } from '../operations/context.ts'
import { explainAccess as explainDecision } from '../operations/explain-access.ts'

export interface AccessQuestion {
  /** Absent: the request is not signed. */
  accessKeyId?: string | undefined
  /** For example `s3:GetObject`. */
  action: string
  /** `bucket`, `bucket/key`, either one as an ARN, or a star. */
  resource: string
  sourceIp?: string | undefined
  secureTransport?: boolean | undefined
  /** Values of other condition keys. */
  conditions?: Readonly<Record<string, string>> | undefined
}

export interface ExplainedDecision {
  allowed: boolean
  reason: string
}

interface Explaining {
  backend: Backend
  credentials: Pick<Credentials, 'find' | 'renewal'>
  accountBlocks: Pick<AccountBlocks, 'of'>
  region: string
}

/** Throws InvalidAccessKeyId when there is no such key, NoSuchBucket. */
export async function explainAccess(
  { backend, credentials, accountBlocks, region }: Explaining,
  question: AccessQuestion,
): Promise<ExplainedDecision> {
  await credentials.renewal()
  const resource = resourceOf(question)
  const { allowed, because } = await explainDecision(backend, {
    principal: principalOf(credentials, question),
    permission: question.action,
    resource,
    withoutBucket: resource.bucket === '' || question.action === 's3:CreateBucket',
    conditionValue: contextOf(question, region),
    accountBlocks,
  })
  return { allowed, reason: reasonText(because) }
}

function principalOf({ find }: Explaining['credentials'], { accessKeyId }: AccessQuestion): Principal {
  if (accessKeyId === undefined) return nobody
  const principal = find(accessKeyId)
  if (principal === undefined) throw new S3Error('InvalidAccessKeyId')
  return principal
}

const arnPrefix = 'arn:aws:s3:::'

function resourceOf({ resource }: AccessQuestion): { bucket: string; key: string } {
  const path = resource.startsWith(arnPrefix) ? resource.slice(arnPrefix.length) : resource
  if (path === '*') return { bucket: '', key: '' }
  const slash = path.indexOf('/')
  const [bucket, key] = slash < 0 ? [path, ''] : [path.slice(0, slash), path.slice(slash + 1)]
  checkBucketNameLength(bucket)
  if (Buffer.byteLength(key) > limits.keyBytesMax) throw new S3Error('KeyTooLongError')
  return { bucket, key }
}

function contextOf(question: AccessQuestion, region: string): (key: string) => ConditionValue {
  const { accessKeyId, sourceIp, secureTransport = false, conditions = {} } = question
  const nowMs = systemClock.now()
  const usual: Record<string, string | undefined> = {
    'aws:CurrentTime': new Date(nowMs).toISOString(),
    'aws:EpochTime': String(Math.floor(nowMs / 1000)),
    'aws:RequestedRegion': region,
    'aws:SecureTransport': String(secureTransport),
    'aws:SourceIp': sourceIp,
    's3:authType': accessKeyId === undefined ? undefined : 'REST-HEADER',
    's3:signatureversion': accessKeyId === undefined ? undefined : 'AWS4-HMAC-SHA256',
  }
  const given = new Map(Object.entries(conditions).map(([name, value]) => [name.toLowerCase(), value]))
  return (key) => given.get(key.toLowerCase()) ?? usual[key]
}
