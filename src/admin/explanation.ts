/** Explains the decision about a hypothetical request. Uses the same decision code as real requests, on the current records. */

import { reasonText } from '../access/reason-text.ts'
import type { Credentials } from '../auth/credentials.ts'
import { nobody, type Principal } from '../auth/principal.ts'
import { systemClock } from '../clock.ts'
import type { Backend } from '../commits/backend.ts'
import { S3Error } from '../errors.ts'
import { limits } from '../limits.ts'
import type { AccountBlocks } from '../operations/access/account-blocks.ts'
import {
  explainAccess as explainDecision,
  mayLearnReason,
  namedResource,
  usualConditions,
} from '../operations/access/explain-access.ts'
import { checkBucketNameLength } from '../operations/bucket-name.ts'
import type { ConditionValue } from '../operations/context.ts'

/** Who sends the hypothetical request: the holder of a key, an anonymous sender if the key is absent, or a known principal. */
export type Subject = { accessKeyId: string | undefined } | { principal: Principal }

export interface AccessQuestion {
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
  subject: Subject,
  question: AccessQuestion,
): Promise<ExplainedDecision> {
  await credentials.renewal()
  const resource = resourceOf(question)
  const principal = principalOf(credentials, subject)
  const { allowed, because } = await explainDecision(backend, {
    principal,
    permission: question.action,
    resource,
    withoutBucket: resource.bucket === '' || question.action === 's3:CreateBucket',
    conditionValue: contextOf(question, principal, region),
    accountBlocks,
  })
  const isTold = 'accessKeyId' in subject || (await mayLearnReason(backend, principal, resource, because))
  const hidden = `the bucket of another account ${allowed ? 'allows' : 'does not allow'} it`
  return { allowed, reason: isTold ? reasonText(because) : hidden }
}

function principalOf({ find }: Explaining['credentials'], subject: Subject): Principal {
  if ('principal' in subject) return subject.principal
  const { accessKeyId } = subject
  if (accessKeyId === undefined) return nobody
  const principal = find(accessKeyId)
  if (principal === undefined) throw new S3Error('InvalidAccessKeyId')
  return principal
}

function resourceOf({ resource }: AccessQuestion): { bucket: string; key: string } {
  const named = namedResource(resource)
  checkBucketNameLength(named.bucket)
  if (Buffer.byteLength(named.key) > limits.keyBytesMax) throw new S3Error('KeyTooLongError')
  return named
}

function contextOf(question: AccessQuestion, sender: Principal, region: string): (key: string) => ConditionValue {
  const { sourceIp, secureTransport = false, conditions = {} } = question
  const usual = usualConditions(region, systemClock.now(), sender === nobody)
  usual.set('aws:SecureTransport', String(secureTransport)).set('aws:SourceIp', sourceIp)
  const given = new Map(Object.entries(conditions).map(([name, value]) => [name.toLowerCase(), value]))
  return (key) => given.get(key.toLowerCase()) ?? usual.get(key)
}
