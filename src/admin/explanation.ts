/** Answers what would be decided about a request that nobody has sent: by the decision that requests meet, of the records as they are now. */

import { reasonText } from '../access/reason-text.ts'
import type { Credentials } from '../auth/credentials.ts'
import { nobody, type Principal } from '../auth/principal.ts'
import { systemClock } from '../clock.ts'
import type { Backend } from '../commits/backend.ts'
import { S3Error } from '../errors.ts'
import { limits } from '../limits.ts'
import { findBucket } from '../objects/buckets.ts'
import { findVersion } from '../objects/find-version.ts'
import { type Asked, type Asker, decisionOn, ExistingTagsNeeded } from '../operations/authorize.ts'
import { checkBucketNameLength } from '../operations/bucket-name.ts'
import type { Tag } from '../records/object-attributes.ts'

export interface AccessQuestion {
  /** Absent: the request is not signed. */
  accessKeyId?: string | undefined
  /** `s3:GetObject`. */
  action: string
  /** `bucket`, `bucket/key`, either as ARN, or a star. */
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
  region: string
}

/** Throws InvalidAccessKeyId when there is no such key, NoSuchBucket. */
export async function explainAccess(
  { backend, credentials, region }: Explaining,
  question: AccessQuestion,
): Promise<ExplainedDecision> {
  await credentials.renewal()
  const asker: Asker = { principal: principalOf(credentials, question), conditionValue: contextOf(question, region) }
  const asked = { permission: question.action, ...(await resourceOf(backend, question)) }
  const { allowed, because } = await decisionWithTags(backend, asker, asked)
  return { allowed, reason: reasonText(because) }
}

function principalOf({ find }: Explaining['credentials'], { accessKeyId }: AccessQuestion): Principal {
  if (accessKeyId === undefined) return nobody
  const principal = find(accessKeyId)
  if (principal === undefined) throw new S3Error('InvalidAccessKeyId')
  return principal
}

const arnPrefix = 'arn:aws:s3:::'

async function resourceOf(backend: Backend, { resource, action }: AccessQuestion): Promise<Omit<Asked, 'permission'>> {
  const path = resource.startsWith(arnPrefix) ? resource.slice(arnPrefix.length) : resource
  if (path === '*') return { name: '', key: '', bucket: undefined }
  const slash = path.indexOf('/')
  const [name, key] = slash < 0 ? [path, ''] : [path.slice(0, slash), path.slice(slash + 1)]
  checkBucketNameLength(name)
  if (Buffer.byteLength(key) > limits.keyBytesMax) throw new S3Error('KeyTooLongError')
  const isToBeMade = action === 's3:CreateBucket'
  return { name, key, bucket: isToBeMade ? undefined : await findBucket(backend, { name, admit: () => {} }) }
}

function contextOf(question: AccessQuestion, region: string): Asker['conditionValue'] {
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

async function decisionWithTags(backend: Backend, asker: Asker, asked: Asked): Promise<ReturnType<typeof decisionOn>> {
  try {
    return decisionOn(asker, asked)
  } catch (error) {
    if (!(error instanceof ExistingTagsNeeded)) throw error
    return decisionOn({ ...asker, existingTags: await tagsOf(backend, asked) }, asked)
  }
}

async function tagsOf(backend: Backend, { name, key }: Asked): Promise<readonly Tag[]> {
  try {
    const { record } = await findVersion(backend, { name, admit: () => {} }, key, undefined)
    return record.attributes.tags
  } catch (error) {
    if (error instanceof S3Error) return []
    throw error
  }
}
