/** The permission, by AWS's name, that a key needs for what no bucket has configured: without it nothing is told, not even that there is nothing. */
import { describe, expect, it } from 'vitest'
import { run } from '../../../src/operations/run.ts'
import { operations } from '../../../src/operations/table.ts'
import { outcome, put, storeWithBucket } from '../../objects/fixture.ts'
import { owner, request } from '../fixture.ts'

const versionId = 'f'.repeat(32)
type Row = [name: string, permission: string, outcome: string, input?: Record<string, unknown>]

const rows: Row[] = [
  ['GetBucketAcl', 's3:GetBucketAcl', 'ok'],
  ['PutBucketAcl', 's3:PutBucketAcl', 'ok', { acl: 'private' }],
  ['GetObjectAcl', 's3:GetObjectAcl', 'ok'],
  ['GetObjectAcl', 's3:GetObjectVersionAcl', 'NoSuchVersion', { versionId }],
  ['PutObjectAcl', 's3:PutObjectAcl', 'ok', { acl: 'private' }],
  ['PutObjectAcl', 's3:PutObjectVersionAcl', 'NoSuchVersion', { acl: 'private', versionId }],
  ['GetBucketAccelerateConfiguration', 's3:GetAccelerateConfiguration', 'ok'],
  ['PutBucketAccelerateConfiguration', 's3:PutAccelerateConfiguration', 'ok', { body: { Status: 'Suspended' } }],
  ['GetBucketRequestPayment', 's3:GetBucketRequestPayment', 'ok'],
  ['PutBucketRequestPayment', 's3:PutBucketRequestPayment', 'ok', { body: { Payer: 'BucketOwner' } }],
  ['GetBucketNotificationConfiguration', 's3:GetBucketNotification', 'ok'],
  ['PutBucketNotificationConfiguration', 's3:PutBucketNotification', 'ok', { body: { QueueConfiguration: [] } }],
  ['GetPublicAccessBlock', 's3:GetBucketPublicAccessBlock', 'NoSuchPublicAccessBlockConfiguration'],
  ['PutPublicAccessBlock', 's3:PutBucketPublicAccessBlock', 'ok', { body: { BlockPublicAcls: true } }],
  ['DeletePublicAccessBlock', 's3:PutBucketPublicAccessBlock', 'ok'],
  ['GetBucketAbac', 's3:GetBucketABAC', 'ok'],
  ['PutBucketPolicy', 's3:PutBucketPolicy', 'MalformedPolicy', { body: '{}' }],
  ['GetBucketPolicy', 's3:GetBucketPolicy', 'NoSuchBucketPolicy'],
  ['DeleteBucketPolicy', 's3:DeleteBucketPolicy', 'ok'],
  ['GetBucketPolicyStatus', 's3:GetBucketPolicyStatus', 'NoSuchBucketPolicy'],
  ['GetBucketReplication', 's3:GetReplicationConfiguration', 'ReplicationConfigurationNotFoundError'],
  ['DeleteBucketReplication', 's3:PutReplicationConfiguration', 'ok'],
  ['GetBucketCors', 's3:GetBucketCORS', 'NoSuchCORSConfiguration'],
  ['PutBucketCors', 's3:PutBucketCORS', 'MalformedXML', { body: { CORSRule: [] } }],
  ['DeleteBucketCors', 's3:PutBucketCORS', 'ok'],
  ['GetBucketLifecycleConfiguration', 's3:GetLifecycleConfiguration', 'NoSuchLifecycleConfiguration'],
  ['PutBucketLifecycleConfiguration', 's3:PutLifecycleConfiguration', 'MalformedXML', { body: { Rule: [] } }],
  ['DeleteBucketLifecycle', 's3:PutLifecycleConfiguration', 'ok'],
  ['GetBucketWebsite', 's3:GetBucketWebsite', 'NoSuchWebsiteConfiguration'],
  ['PutBucketWebsite', 's3:PutBucketWebsite', 'InvalidArgument', { body: {} }],
  ['DeleteBucketWebsite', 's3:DeleteBucketWebsite', 'ok'],
  ...['Analytics', 'IntelligentTiering', 'Inventory', 'Metrics'].flatMap((kind): Row[] => [
    [`ListBucket${kind}Configurations`, `s3:Get${kind}Configuration`, 'ok'],
    [`GetBucket${kind}Configuration`, `s3:Get${kind}Configuration`, 'NoSuchConfiguration'],
    [`DeleteBucket${kind}Configuration`, `s3:Put${kind}Configuration`, 'NoSuchConfiguration', { id: 'one' }],
  ]),
]

describe('a key', () => {
  it.each(rows)('that asks %s needs %s', async (name, permission, expected, input = {}) => {
    const made = await storeWithBucket()
    await put(made, 'key')
    const operation = operations.find((other) => other.name === name)
    if (operation === undefined) throw new Error(`no operation ${name}`)
    const asked = (permissions: readonly string[]): Promise<string> => {
      const key = operation.target === 'object' ? 'key' : ''
      return outcome(run(operation, request(made, { key, principal: { ...owner, permissions } }), input))
    }
    expect(await asked([permission])).toBe(expected)
    expect(await asked([])).toBe('AccessDenied')
  })
})
