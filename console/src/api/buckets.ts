/** Buckets and their configurations, as S3 keeps them. */
import { readTags, type Tags, tagging } from './objects.ts'
import { askForXml, askS3, askUnlessAbsent } from './s3-request.ts'
import { childOf, childrenOf, textOf } from './xml.ts'
import { document, type XmlContent } from './xml-text.ts'

export interface ListedBucket {
  name: string
  created: string
}

export async function listBuckets(): Promise<ListedBucket[]> {
  const xml = await askForXml({})
  const buckets = childOf(xml, 'Buckets')
  return (buckets === undefined ? [] : childrenOf(buckets, 'Bucket')).map((bucket) => ({
    name: textOf(bucket, 'Name') ?? '',
    created: textOf(bucket, 'CreationDate') ?? '',
  }))
}

export async function createBucket(
  name: string,
  { location, lock }: { location: string; lock: boolean },
): Promise<void> {
  const body = location === '' ? undefined : document('CreateBucketConfiguration', { LocationConstraint: location })
  const headers: Record<string, string> = lock ? { 'x-amz-bucket-object-lock-enabled': 'true' } : {}
  await askS3({ method: 'PUT', bucket: name, headers, ...(body === undefined ? {} : { body }) })
}

export async function deleteBucket(name: string): Promise<void> {
  await askS3({ method: 'DELETE', bucket: name })
}

export async function bucketLocation(bucket: string): Promise<string> {
  return (await askForXml({ bucket, query: { location: '' } })).textContent ?? ''
}

export type Versioning = 'Enabled' | 'Suspended' | 'Off'

export async function bucketVersioning(bucket: string): Promise<Versioning> {
  const status = textOf(await askForXml({ bucket, query: { versioning: '' } }), 'Status')
  return status === 'Enabled' || status === 'Suspended' ? status : 'Off'
}

export const putVersioning = (bucket: string, status: 'Enabled' | 'Suspended'): Promise<void> =>
  putConfiguration(bucket, 'versioning', 'VersioningConfiguration', { Status: status })

export async function putConfiguration(bucket: string, part: string, root: string, content: XmlContent): Promise<void> {
  await askS3({ method: 'PUT', bucket, query: { [part]: '' }, body: document(root, content) })
}

export async function removeConfiguration(bucket: string, part: string): Promise<void> {
  await askS3({ method: 'DELETE', bucket, query: { [part]: '' } })
}

export interface DefaultLock {
  mode: 'GOVERNANCE' | 'COMPLIANCE'
  unit: 'Days' | 'Years'
  count: number
}

/** `undefined`: the bucket has no lock. */
export async function bucketLock(bucket: string): Promise<{ default: DefaultLock | undefined } | undefined> {
  const xml = await askUnlessAbsent({ bucket, query: { 'object-lock': '' } }, 'ObjectLockConfigurationNotFoundError')
  if (xml === undefined) return undefined
  const mode = textOf(xml, 'Rule', 'DefaultRetention', 'Mode')
  if (mode !== 'GOVERNANCE' && mode !== 'COMPLIANCE') return { default: undefined }
  const days = textOf(xml, 'Rule', 'DefaultRetention', 'Days')
  const years = textOf(xml, 'Rule', 'DefaultRetention', 'Years')
  return { default: { mode, unit: days === undefined ? 'Years' : 'Days', count: Number(days ?? years) } }
}

export const putBucketLock = (bucket: string, lock: DefaultLock | undefined): Promise<void> =>
  putConfiguration(bucket, 'object-lock', 'ObjectLockConfiguration', {
    ObjectLockEnabled: 'Enabled',
    Rule: lock && { DefaultRetention: { Mode: lock.mode, [lock.unit]: lock.count } },
  })

/** `undefined`: the bucket has no default. The server may still encrypt everything. */
export async function bucketEncryption(
  bucket: string,
): Promise<{ algorithm: string; keyId: string | undefined } | undefined> {
  const xml = await askUnlessAbsent(
    { bucket, query: { encryption: '' } },
    'ServerSideEncryptionConfigurationNotFoundError',
  )
  const algorithm = xml && textOf(xml, 'Rule', 'ApplyServerSideEncryptionByDefault', 'SSEAlgorithm')
  if (xml === undefined || algorithm === undefined) return undefined
  return { algorithm, keyId: textOf(xml, 'Rule', 'ApplyServerSideEncryptionByDefault', 'KMSMasterKeyID') }
}

export const putBucketEncryption = (bucket: string, algorithm: string, keyId: string | undefined): Promise<void> =>
  putConfiguration(bucket, 'encryption', 'ServerSideEncryptionConfiguration', {
    Rule: { ApplyServerSideEncryptionByDefault: { SSEAlgorithm: algorithm, KMSMasterKeyID: keyId } },
  })

export interface CorsRule {
  origins: string[]
  methods: string[]
  headers: string[]
  exposed: string[]
  maxAgeSeconds: number | undefined
}

export async function bucketCors(bucket: string): Promise<CorsRule[]> {
  const xml = await askUnlessAbsent({ bucket, query: { cors: '' } }, 'NoSuchCORSConfiguration')
  const texts = (rule: Element, name: string) => childrenOf(rule, name).map((each) => each.textContent ?? '')
  return (xml === undefined ? [] : childrenOf(xml, 'CORSRule')).map((rule) => {
    const age = textOf(rule, 'MaxAgeSeconds')
    return {
      origins: texts(rule, 'AllowedOrigin'),
      methods: texts(rule, 'AllowedMethod'),
      headers: texts(rule, 'AllowedHeader'),
      exposed: texts(rule, 'ExposeHeader'),
      maxAgeSeconds: age === undefined ? undefined : Number(age),
    }
  })
}

export const putBucketCors = (bucket: string, rules: readonly CorsRule[]): Promise<void> =>
  putConfiguration(bucket, 'cors', 'CORSConfiguration', {
    CORSRule: rules.map((rule) => ({
      AllowedOrigin: rule.origins,
      AllowedMethod: rule.methods,
      AllowedHeader: rule.headers,
      ExposeHeader: rule.exposed,
      MaxAgeSeconds: rule.maxAgeSeconds,
    })),
  })

export interface Website {
  index: string
  error: string
}

export async function bucketWebsite(bucket: string): Promise<Website | undefined> {
  const xml = await askUnlessAbsent({ bucket, query: { website: '' } }, 'NoSuchWebsiteConfiguration')
  if (xml === undefined) return undefined
  return { index: textOf(xml, 'IndexDocument', 'Suffix') ?? '', error: textOf(xml, 'ErrorDocument', 'Key') ?? '' }
}

export const putBucketWebsite = (bucket: string, { index, error }: Website): Promise<void> =>
  putConfiguration(bucket, 'website', 'WebsiteConfiguration', {
    IndexDocument: { Suffix: index },
    ErrorDocument: error === '' ? undefined : { Key: error },
  })

/** The document as it was set. Empty: the bucket has no policy. */
export async function bucketPolicy(bucket: string): Promise<string> {
  try {
    return await (await askS3({ bucket, query: { policy: '' } })).text()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'NoSuchBucketPolicy') return ''
    throw error
  }
}

export async function putBucketPolicy(bucket: string, policy: string): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  await askS3({ method: 'PUT', bucket, query: { policy: '' }, headers, body: policy })
}

export async function bucketTags(bucket: string): Promise<Tags> {
  return readTags(await askUnlessAbsent({ bucket, query: { tagging: '' } }, 'NoSuchTagSet'))
}

export async function putBucketTags(bucket: string, tags: Tags): Promise<void> {
  if (Object.keys(tags).length === 0) await removeConfiguration(bucket, 'tagging')
  else await askS3({ method: 'PUT', bucket, query: { tagging: '' }, body: tagging(tags) })
}

export const publicAccessBlocks = [
  'BlockPublicAcls',
  'IgnorePublicAcls',
  'BlockPublicPolicy',
  'RestrictPublicBuckets',
] as const

export type PublicAccessBlock = Readonly<Record<(typeof publicAccessBlocks)[number], boolean>>

export async function bucketPublicAccessBlock(bucket: string): Promise<PublicAccessBlock> {
  const xml = await askUnlessAbsent(
    { bucket, query: { publicAccessBlock: '' } },
    'NoSuchPublicAccessBlockConfiguration',
  )
  const isOn = (name: string) => xml !== undefined && textOf(xml, name) === 'true'
  return {
    BlockPublicAcls: isOn('BlockPublicAcls'),
    IgnorePublicAcls: isOn('IgnorePublicAcls'),
    BlockPublicPolicy: isOn('BlockPublicPolicy'),
    RestrictPublicBuckets: isOn('RestrictPublicBuckets'),
  }
}

export const putPublicAccessBlock = (bucket: string, block: PublicAccessBlock): Promise<void> =>
  putConfiguration(bucket, 'publicAccessBlock', 'PublicAccessBlockConfiguration', block)
