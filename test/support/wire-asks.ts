/** One request of every operation, and what must be there for all of them to succeed: for tests that ask the same of each. */
import { expect } from 'vitest'
import type { ErrorCode } from '../../src/errors.ts'
import type { KeptState } from './kept-state.ts'
import { md5Base64 } from './wire-checksums.ts'
import type { Ask, Wire } from './wire-client.ts'
import { siteName, type WireServer } from './wire-server.ts'
import { completeDocument, uploadOf } from './wire-uploads.ts'

export interface OpenUpload {
  uploadId: string
  /** The ETag of its only part. */
  etag: string
}

const tagging = '<Tagging><TagSet/></Tagging>'
const versioning = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>'
const lock = '<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled></ObjectLockConfiguration>'
const encryption =
  '<ServerSideEncryptionConfiguration><Rule><ApplyServerSideEncryptionByDefault><SSEAlgorithm>AES256</SSEAlgorithm></ApplyServerSideEncryptionByDefault></Rule></ServerSideEncryptionConfiguration>'
/** The ARN of a key that the server has. The name is behind the last slash. */
const kmsKeyArn = 'arn:aws:kms:us-east-1:123456789012:key/invoices'
const ofAccount = { account: 'main', vendor: { 'account-id': 'main' } } as const
const ofArn = { ...ofAccount, arn: 'arn:aws:s3:::wire' } as const
const noBlocks =
  '<PublicAccessBlockConfiguration><BlockPublicAcls>false</BlockPublicAcls></PublicAccessBlockConfiguration>'
const website =
  '<WebsiteConfiguration><IndexDocument><Suffix>index.html</Suffix></IndexDocument></WebsiteConfiguration>'
const cors =
  '<CORSConfiguration><CORSRule><AllowedOrigin>*</AllowedOrigin><AllowedMethod>GET</AllowedMethod></CORSRule></CORSConfiguration>'
const lifecycle =
  '<LifecycleConfiguration><Rule><Prefix/><Status>Enabled</Status><Expiration><Days>1</Days></Expiration></Rule></LifecycleConfiguration>'
const replication = `<ReplicationConfiguration><Role/><Rule><Prefix/><Status>Enabled</Status><Destination><Bucket>arn:aws:s3:::${siteName}/copies</Bucket></Destination></Rule></ReplicationConfiguration>`
const hold = '<LegalHold><Status>OFF</Status></LegalHold>'
const lockedUntil = '2099-01-01T00:00:00.000Z'
const retention = `<Retention><Mode>GOVERNANCE</Mode><RetainUntilDate>${lockedUntil}</RetainUntilDate></Retention>`
/** With the digest that Object Lock and CORS ask for. */
const sent = (body: string) => ({ headers: { 'Content-MD5': md5Base64(body) }, body })
const held = { bucket: 'locked', key: 'held' } as const
const listed = '<Delete><Object><Key>a</Key></Object></Delete>'

/** How a request is answered when nothing is wrong with it. */
export interface Succeeding extends Ask {
  succeeds: number
  /** Where what is asked for can never be there. */
  code?: ErrorCode
}

const sub = (subResource: string): Pick<Ask, 'query'> => ({ query: { [subResource]: '' } })
const configured = { method: 'PUT', succeeds: 200 } as const
const answered = { method: 'GET', succeeds: 200 } as const
const absent = { method: 'GET', succeeds: 404 } as const
const removed = { method: 'DELETE', succeeds: 204 } as const
const unknown = { succeeds: 404, code: 'NoSuchConfiguration' } as const
const allBlocked = ['BlockPublicAcls', 'IgnorePublicAcls', 'BlockPublicPolicy', 'RestrictPublicBuckets']
  .map((name) => `<${name}>true</${name}>`)
  .join('')
const blockDocument = `<PublicAccessBlockConfiguration>${allBlocked}</PublicAccessBlockConfiguration>`
/** Opens something, but to nobody who is asked for anything in tests. */
const policyDocument = JSON.stringify({
  Version: '2012-10-17',
  Statement: [{ Effect: 'Deny', Principal: '*', Action: 's3:GetObject', Resource: 'arn:aws:s3:::wire/denied' }],
})

/** What no bucket has configured: one request of each operation that reads it, removes it, or writes what holds anyway. */
const unconfigured: Record<string, Succeeding> = {
  GetBucketAcl: { ...answered, ...sub('acl') },
  PutBucketAcl: { ...configured, ...sub('acl'), vendor: { acl: 'private' } },
  GetObjectAcl: { ...answered, key: 'a', ...sub('acl') },
  PutObjectAcl: { ...configured, key: 'a', ...sub('acl'), vendor: { acl: 'private' } },
  GetBucketAccelerateConfiguration: { ...answered, ...sub('accelerate') },
  PutBucketAccelerateConfiguration: {
    ...configured,
    ...sub('accelerate'),
    body: '<AccelerateConfiguration><Status>Suspended</Status></AccelerateConfiguration>',
  },
  GetBucketRequestPayment: { ...answered, ...sub('requestPayment') },
  PutBucketRequestPayment: {
    ...configured,
    ...sub('requestPayment'),
    body: '<RequestPaymentConfiguration><Payer>BucketOwner</Payer></RequestPaymentConfiguration>',
  },
  GetBucketLogging: { ...answered, ...sub('logging') },
  PutBucketLogging: { ...configured, ...sub('logging'), body: '<BucketLoggingStatus/>' },
  GetBucketNotificationConfiguration: { ...answered, ...sub('notification') },
  PutBucketNotificationConfiguration: { ...configured, ...sub('notification'), body: '<NotificationConfiguration/>' },
  GetBucketOwnershipControls: { ...answered, ...sub('ownershipControls') },
  PutBucketOwnershipControls: {
    ...configured,
    ...sub('ownershipControls'),
    body: '<OwnershipControls><Rule><ObjectOwnership>BucketOwnerEnforced</ObjectOwnership></Rule></OwnershipControls>',
  },
  DeleteBucketOwnershipControls: { ...removed, ...sub('ownershipControls') },
  GetPublicAccessBlock: { ...absent, ...sub('publicAccessBlock'), code: 'NoSuchPublicAccessBlockConfiguration' },
  DeletePublicAccessBlock: { ...removed, ...sub('publicAccessBlock') },
  PutPublicAccessBlock: {
    ...configured,
    ...sub('publicAccessBlock'),
    headers: { 'Content-MD5': md5Base64(blockDocument) },
    body: blockDocument,
  },
  GetBucketAbac: { ...answered, ...sub('abac') },
  PutBucketPolicy: { method: 'PUT', succeeds: 204, ...sub('policy'), body: policyDocument },
  GetBucketPolicy: { ...absent, ...sub('policy'), code: 'NoSuchBucketPolicy' },
  DeleteBucketPolicy: { ...removed, ...sub('policy') },
  GetBucketPolicyStatus: { ...absent, ...sub('policyStatus'), code: 'NoSuchBucketPolicy' },
  GetBucketReplication: { ...absent, ...sub('replication'), code: 'ReplicationConfigurationNotFoundError' },
  PutBucketReplication: { ...configured, ...sub('replication'), bucket: 'locked', body: replication },
  DeleteBucketReplication: { ...removed, ...sub('replication') },
  ...byId('Analytics', 'analytics'),
  ...byId('IntelligentTiering', 'intelligent-tiering'),
  ...byId('Inventory', 'inventory'),
  ...byId('Metrics', 'metrics'),
}

function byId(kind: string, subResource: string): Record<string, Succeeding> {
  const one = { [subResource]: '', id: 'one' }
  return {
    [`ListBucket${kind}Configurations`]: { ...answered, ...sub(subResource) },
    [`GetBucket${kind}Configuration`]: { method: 'GET', query: one, ...unknown },
    [`DeleteBucket${kind}Configuration`]: { method: 'DELETE', query: one, ...unknown },
  }
}

const tagsOfResource = '<TagResourceRequest><Tags><Tag><Key>a</Key><Value>1</Value></Tag></Tags></TagResourceRequest>'

/** One request of each implemented operation on what is there: bucket `wire`, object `a`, an open upload of `big`, and more. Refused operations have none. */
export function asks({ uploadId, etag }: OpenUpload): Record<string, Succeeding> {
  const part = { partNumber: '2', uploadId }
  return {
    ListBuckets: { method: 'GET', bucket: '', succeeds: 200 },
    CreateBucket: { method: 'PUT', bucket: 'another', succeeds: 200 },
    HeadBucket: { method: 'HEAD', succeeds: 200 },
    DeleteBucket: { method: 'DELETE', bucket: 'empty', succeeds: 204 },
    GetBucketLocation: { method: 'GET', query: { location: '' }, succeeds: 200 },
    PutBucketTagging: { method: 'PUT', query: { tagging: '' }, body: tagging, succeeds: 200 },
    GetBucketTagging: { method: 'GET', query: { tagging: '' }, succeeds: 200 },
    DeleteBucketTagging: { method: 'DELETE', query: { tagging: '' }, succeeds: 204 },
    TagResource: { method: 'POST', ...ofArn, body: tagsOfResource, succeeds: 204 },
    ListTagsForResource: { method: 'GET', ...ofArn, succeeds: 200 },
    UntagResource: { method: 'DELETE', ...ofArn, query: { tagKeys: 'a' }, succeeds: 204 },
    PutObject: { method: 'PUT', key: 'a', body: 'new', succeeds: 200 },
    PostObject: { method: 'POST', form: { key: 'a' }, body: 'new', succeeds: 204 },
    GetObject: { method: 'GET', key: 'a', succeeds: 200 },
    HeadObject: { method: 'HEAD', key: 'a', succeeds: 200 },
    GetObjectAttributes: {
      method: 'GET',
      key: 'a',
      query: { attributes: '' },
      vendor: { 'object-attributes': 'ETag' },
      succeeds: 200,
    },
    CopyObject: { method: 'PUT', key: 'a', vendor: { 'copy-source': '/wire/b' }, succeeds: 200 },
    DeleteObject: { method: 'DELETE', key: 'a', succeeds: 204 },
    DeleteObjects: {
      method: 'POST',
      query: { delete: '' },
      headers: { 'Content-MD5': md5Base64(listed) },
      body: listed,
      succeeds: 200,
    },
    PutObjectTagging: { method: 'PUT', key: 'a', query: { tagging: '' }, body: tagging, succeeds: 200 },
    GetObjectTagging: { method: 'GET', key: 'a', query: { tagging: '' }, succeeds: 200 },
    DeleteObjectTagging: { method: 'DELETE', key: 'a', query: { tagging: '' }, succeeds: 204 },
    PutBucketVersioning: { method: 'PUT', query: { versioning: '' }, body: versioning, succeeds: 200 },
    GetBucketVersioning: { method: 'GET', query: { versioning: '' }, succeeds: 200 },
    PutObjectLockConfiguration: {
      method: 'PUT',
      bucket: 'locked',
      query: { 'object-lock': '' },
      ...sent(lock),
      succeeds: 200,
    },
    GetObjectLockConfiguration: { method: 'GET', bucket: 'locked', query: { 'object-lock': '' }, succeeds: 200 },
    PutBucketEncryption: {
      method: 'PUT',
      bucket: 'encrypted',
      query: { encryption: '' },
      body: encryption,
      succeeds: 200,
    },
    GetBucketEncryption: { method: 'GET', bucket: 'encrypted', query: { encryption: '' }, succeeds: 200 },
    DeleteBucketEncryption: { method: 'DELETE', bucket: 'encrypted', query: { encryption: '' }, succeeds: 204 },
    PutBucketCors: { method: 'PUT', bucket: 'encrypted', query: { cors: '' }, ...sent(cors), succeeds: 200 },
    GetBucketCors: { method: 'GET', bucket: 'encrypted', query: { cors: '' }, succeeds: 200 },
    DeleteBucketCors: { method: 'DELETE', bucket: 'encrypted', query: { cors: '' }, succeeds: 204 },
    PutBucketLifecycleConfiguration: {
      method: 'PUT',
      bucket: 'encrypted',
      query: { lifecycle: '' },
      ...sent(lifecycle),
      succeeds: 200,
    },
    GetBucketLifecycleConfiguration: { method: 'GET', bucket: 'encrypted', query: { lifecycle: '' }, succeeds: 200 },
    DeleteBucketLifecycle: { method: 'DELETE', bucket: 'encrypted', query: { lifecycle: '' }, succeeds: 204 },
    PutAccountPublicAccessBlock: { method: 'PUT', ...ofAccount, body: noBlocks, succeeds: 200 },
    GetAccountPublicAccessBlock: { method: 'GET', ...ofAccount, succeeds: 200 },
    DeleteAccountPublicAccessBlock: { method: 'DELETE', ...ofAccount, succeeds: 204 },
    PutBucketWebsite: { method: 'PUT', bucket: 'encrypted', query: { website: '' }, ...sent(website), succeeds: 200 },
    GetBucketWebsite: { method: 'GET', bucket: 'encrypted', query: { website: '' }, succeeds: 200 },
    DeleteBucketWebsite: { method: 'DELETE', bucket: 'encrypted', query: { website: '' }, succeeds: 204 },
    UpdateObjectEncryption: {
      method: 'PUT',
      bucket: 'encrypted',
      key: 'sealed',
      query: { encryption: '' },
      body: `<ObjectEncryption><SSE-KMS><KMSKeyArn>${kmsKeyArn}</KMSKeyArn></SSE-KMS></ObjectEncryption>`,
      succeeds: 200,
    },
    RestoreObject: {
      method: 'POST',
      bucket: 'encrypted',
      key: 'archived',
      query: { restore: '' },
      body: '<RestoreRequest><Days>1</Days></RestoreRequest>',
      succeeds: 200,
    },
    PutObjectLegalHold: { method: 'PUT', ...held, query: { 'legal-hold': '' }, ...sent(hold), succeeds: 200 },
    GetObjectLegalHold: { method: 'GET', ...held, query: { 'legal-hold': '' }, succeeds: 200 },
    PutObjectRetention: { method: 'PUT', ...held, query: { retention: '' }, ...sent(retention), succeeds: 200 },
    GetObjectRetention: { method: 'GET', ...held, query: { retention: '' }, succeeds: 200 },
    ListObjectVersions: { method: 'GET', query: { versions: '' }, succeeds: 200 },
    ListObjects: { method: 'GET', succeeds: 200 },
    ListObjectsV2: { method: 'GET', query: { 'list-type': '2' }, succeeds: 200 },
    CreateMultipartUpload: { method: 'POST', key: 'a', query: { uploads: '' }, succeeds: 200 },
    UploadPart: { method: 'PUT', key: 'big', query: part, body: 'x', succeeds: 200 },
    UploadPartCopy: { method: 'PUT', key: 'big', query: part, vendor: { 'copy-source': '/wire/a' }, succeeds: 200 },
    CompleteMultipartUpload: {
      method: 'POST',
      key: 'big',
      query: { uploadId },
      body: completeDocument([[1, etag]]),
      succeeds: 200,
    },
    AbortMultipartUpload: { method: 'DELETE', key: 'big', query: { uploadId }, succeeds: 204 },
    ListParts: { method: 'GET', key: 'big', query: { uploadId }, succeeds: 200 },
    ListMultipartUploads: { method: 'GET', query: { uploads: '' }, succeeds: 200 },
    ...unconfigured,
  }
}

/** Makes in an empty server what `asks` is about. */
export async function prepareAsks(wire: Wire): Promise<OpenUpload> {
  for (const bucket of ['wire', 'empty', 'encrypted']) await wire.must({ method: 'PUT', bucket })
  await wire.must({ method: 'PUT', bucket: 'encrypted', query: { encryption: '' }, body: encryption })
  await wire.must({ method: 'PUT', bucket: 'encrypted', query: { cors: '' }, ...sent(cors) })
  await wire.must({ method: 'PUT', bucket: 'encrypted', query: { website: '' }, ...sent(website) })
  await wire.must({ method: 'PUT', bucket: 'encrypted', query: { lifecycle: '' }, ...sent(lifecycle) })
  await wire.must({ method: 'PUT', ...ofAccount, body: noBlocks })
  await wire.must({ method: 'PUT', bucket: 'encrypted', key: 'sealed', body: 'sealed' })
  const archived = { 'storage-class': 'GLACIER' }
  await wire.must({ method: 'PUT', bucket: 'encrypted', key: 'archived', body: 'x', vendor: archived })
  await wire.must({ method: 'PUT', bucket: 'locked', vendor: { 'bucket-object-lock-enabled': 'true' } })
  const heldVendor = {
    'object-lock-mode': 'GOVERNANCE',
    'object-lock-retain-until-date': lockedUntil,
    'object-lock-legal-hold': 'ON',
  }
  await wire.must({ method: 'PUT', ...held, ...sent('held'), vendor: heldVendor })
  for (const key of ['a', 'b']) await wire.must({ method: 'PUT', key, body: 'old', vendor: { tagging: 'a=1' } })
  await wire.must({
    method: 'PUT',
    query: { tagging: '' },
    body: '<Tagging><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tagging>',
  })
  const facts = await uploadOf(wire, ['part'])
  return { uploadId: facts.uploadId ?? '', etag: facts.etag1 ?? '' }
}

export interface KeptAsks {
  open: OpenUpload
  state: KeptState
}

/** Empties the server and makes what `asks` is about, once for all tests that go back to it. */
export async function keepAsks(server: Pick<WireServer, 'empty' | 'keep'>, wire: Wire): Promise<KeptAsks> {
  await server.empty()
  const open = await prepareAsks(wire)
  return { open, state: await server.keep() }
}

/** Holds after `prepareAsks`, and must after everything that was refused. */
export async function nothingChanged(wire: Wire, { uploadId }: OpenUpload): Promise<void> {
  const { prefix } = wire.style
  const { body, headers } = await wire.must({ method: 'GET', key: 'a' })
  expect([body.toString(), headers.get(`${prefix}tagging-count`)]).toEqual(['old', '1'])
  const keys = (await wire.must({ method: 'GET' })).body.toString()
  expect([...keys.matchAll(/<Key>(.*?)<\/Key>/g)].map(([, key]) => key)).toEqual(['a', 'b'])
  const parts = (await wire.must({ method: 'GET', key: 'big', query: { uploadId } })).body.toString()
  expect([...parts.matchAll(/<PartNumber>(\d+)</g)].map(([, number]) => number)).toEqual(['1'])
  const uploads = (await wire.must({ method: 'GET', query: { uploads: '' } })).body.toString()
  expect([...uploads.matchAll(/<UploadId>(\w+)</g)].map(([, id]) => id)).toEqual([uploadId])
  await wire.must({ method: 'GET', query: { tagging: '' } })
  const buckets = (await wire.must({ method: 'GET', bucket: '' })).body.toString()
  expect([...buckets.matchAll(/<Name>(.*?)</g)].map(([, name]) => name)).toEqual([
    'empty',
    'encrypted',
    'locked',
    'wire',
  ])
  await wire.must({ method: 'GET', bucket: 'encrypted', query: { encryption: '' } })
  const { headers: lockHeaders } = await wire.must({ method: 'HEAD', ...held })
  const locks = ['mode', 'retain-until-date', 'legal-hold']
  expect(locks.map((name) => lockHeaders.get(`${prefix}object-lock-${name}`))).toEqual([
    'GOVERNANCE',
    lockedUntil,
    'ON',
  ])
}
