/** Calls on what else a bucket or an object has: access control, attributes, and what nobody configured. */
import { type Call, owner, type Scenario, time } from './call.ts'
import { digitsSums, etags } from './files.ts'

const name = 's3api-documents'
const bucket = ['--bucket', name]
const object = [...bucket, '--key', 'k']

const grants = { Grants: [{ Grantee: { ...owner, Type: 'CanonicalUser' }, Permission: 'FULL_CONTROL' }], Owner: owner }
const blocks = {
  ...{ BlockPublicAcls: true, IgnorePublicAcls: true },
  ...{ BlockPublicPolicy: true, RestrictPublicBuckets: true },
}

/** A read of what no bucket has from the start, and its removal. */
const without = (get: string, fails: string, remove?: string): Call[] => [
  { operation: get, about: 'says that there is none', words: bucket, fails },
  ...(remove ? [{ operation: remove, about: 'has nothing to remove', words: bucket }] : []),
]

const byId = ['Analytics', 'IntelligentTiering', 'Inventory', 'Metrics'].flatMap((kind): Call[] => {
  const none = { words: [...bucket, '--id', 'none'], fails: 'NoSuchConfiguration' }
  return [
    {
      operation: `ListBucket${kind}Configurations`,
      about: 'lists none',
      words: bucket,
      prints: { IsTruncated: false },
    },
    { operation: `GetBucket${kind}Configuration`, about: 'finds none', ...none },
    { operation: `DeleteBucket${kind}Configuration`, about: 'finds none', ...none },
  ]
})

const policy = JSON.stringify({
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: `arn:aws:s3:::${name}/public/*` }],
})

const access: readonly Call[] = [
  ...without('GetBucketPolicy', 'NoSuchBucketPolicy', 'DeleteBucketPolicy'),
  ...without('GetBucketPolicyStatus', 'NoSuchBucketPolicy'),
  { operation: 'PutBucketPolicy', about: 'opens a part of the bucket', words: [...bucket, '--policy', policy] },
  { operation: 'GetBucketPolicy', about: 'prints it', words: bucket, prints: { Policy: policy } },
  {
    operation: 'GetBucketPolicyStatus',
    about: 'says that it is public',
    words: bucket,
    prints: { PolicyStatus: { IsPublic: true } },
  },
  { operation: 'DeleteBucketPolicy', about: 'closes it', words: bucket },
  ...without('GetPublicAccessBlock', 'NoSuchPublicAccessBlockConfiguration', 'DeletePublicAccessBlock'),
  {
    operation: 'PutPublicAccessBlock',
    about: 'blocks all of it',
    words: [...bucket, '--public-access-block-configuration', blocks],
  },
  {
    operation: 'GetPublicAccessBlock',
    about: 'says so',
    words: bucket,
    prints: { PublicAccessBlockConfiguration: blocks },
  },
  {
    operation: 'PutBucketPolicy',
    about: 'is refused for a public policy meanwhile',
    words: [...bucket, '--policy', policy],
    fails: 'AccessDenied',
  },
  { operation: 'DeletePublicAccessBlock', about: 'lifts it', words: bucket },
]

const notified = {
  QueueConfigurations: [
    {
      Id: 'pictures',
      QueueArn: 'arn:aws:sqs:us-east-1:123456789012:primary',
      Events: ['s3:ObjectCreated:*', 's3:ObjectRemoved:Delete'],
      Filter: { Key: { FilterRules: [{ Name: 'suffix', Value: '.jpg' }] } },
    },
  ],
}

const fixed: readonly Call[] = [
  { operation: 'GetBucketAccelerateConfiguration', about: 'prints nothing', words: bucket },
  {
    operation: 'PutBucketAccelerateConfiguration',
    about: 'accepts that nothing is accelerated',
    words: [...bucket, '--accelerate-configuration', 'Status=Suspended'],
  },
  {
    operation: 'PutBucketAccelerateConfiguration',
    about: 'refuses to accelerate',
    words: [...bucket, '--accelerate-configuration', 'Status=Enabled'],
    fails: 'NotImplemented',
  },
  {
    operation: 'GetBucketRequestPayment',
    about: 'says that the owner pays',
    words: bucket,
    prints: { Payer: 'BucketOwner' },
  },
  {
    operation: 'PutBucketRequestPayment',
    about: 'accepts that the owner pays',
    words: [...bucket, '--request-payment-configuration', 'Payer=BucketOwner'],
  },
  {
    operation: 'PutBucketRequestPayment',
    about: 'refuses that others pay',
    words: [...bucket, '--request-payment-configuration', 'Payer=Requester'],
    fails: 'NotImplemented',
  },
  { operation: 'GetBucketLogging', about: 'prints nothing', words: bucket },
  {
    operation: 'PutBucketLogging',
    about: 'accepts that nothing is logged',
    words: [...bucket, '--bucket-logging-status', {}],
  },
  {
    operation: 'PutBucketLogging',
    about: 'logs to a bucket that there is',
    words: [
      ...bucket,
      '--bucket-logging-status',
      { LoggingEnabled: { TargetBucket: `${name}-none`, TargetPrefix: 'log/' } },
    ],
    fails: 'InvalidTargetBucketForLogging',
  },
  { operation: 'GetBucketNotificationConfiguration', about: 'prints nothing', words: bucket },
  { operation: 'GetBucketNotification', about: 'prints nothing', words: bucket },
  {
    operation: 'PutBucketNotificationConfiguration',
    about: 'accepts that nobody is notified',
    words: [...bucket, '--notification-configuration', {}, '--skip-destination-validation'],
  },
  {
    operation: 'PutBucketNotificationConfiguration',
    about: 'names a webhook',
    words: [...bucket, '--notification-configuration', notified],
  },
  { operation: 'GetBucketNotificationConfiguration', about: 'shows it', words: bucket, prints: notified },
  {
    operation: 'PutBucketNotificationConfiguration',
    about: 'refuses EventBridge',
    words: [...bucket, '--notification-configuration', { EventBridgeConfiguration: {} }],
    fails: 'NotImplemented',
  },
  {
    operation: 'PutBucketNotification',
    about: 'accepts that nobody is notified',
    words: [...bucket, '--notification-configuration', {}],
  },
  {
    operation: 'GetBucketOwnershipControls',
    about: 'says that the owner of the bucket owns all',
    words: bucket,
    prints: { OwnershipControls: { Rules: [{ ObjectOwnership: 'BucketOwnerEnforced' }] } },
  },
  {
    operation: 'PutBucketOwnershipControls',
    about: 'accepts just that',
    words: [...bucket, '--ownership-controls', 'Rules=[{ObjectOwnership=BucketOwnerEnforced}]'],
  },
  {
    operation: 'PutBucketOwnershipControls',
    about: 'refuses what is none',
    words: [...bucket, '--ownership-controls', 'Rules=[{ObjectOwnership=Nobody}]'],
    fails: 'MalformedXML',
  },
  {
    operation: 'GetBucketAbac',
    about: 'says that tags permit nothing',
    words: bucket,
    prints: { AbacStatus: { Status: 'Disabled' } },
  },
]

const corsRules = {
  CORSRules: [
    {
      ...{ ID: 'uploads', AllowedOrigins: ['https://app.test'], AllowedMethods: ['PUT', 'GET'] },
      ...{ AllowedHeaders: ['*'], ExposeHeaders: ['ETag'], MaxAgeSeconds: 3000 },
    },
  ],
}

const cors: readonly Call[] = [
  ...without('GetBucketCors', 'NoSuchCORSConfiguration'),
  { operation: 'PutBucketCors', about: 'sets rules', words: [...bucket, '--cors-configuration', corsRules] },
  { operation: 'GetBucketCors', about: 'shows them', words: bucket, prints: corsRules },
  {
    operation: 'PutBucketCors',
    about: 'refuses a method that S3 does not know',
    words: [
      ...[...bucket, '--cors-configuration'],
      { CORSRules: [{ AllowedOrigins: ['*'], AllowedMethods: ['PATCH'] }] },
    ],
    fails: 'InvalidRequest',
  },
  { operation: 'DeleteBucketCors', about: 'removes them', words: bucket },
]

const lifecycleRules = {
  Rules: [
    {
      ID: 'logs',
      Status: 'Enabled',
      Filter: { And: { Prefix: 'logs/', Tags: [{ Key: 'keep', Value: 'no' }], ObjectSizeGreaterThan: 100 } },
      Expiration: { Days: 30 },
      NoncurrentVersionExpiration: { NoncurrentDays: 7, NewerNoncurrentVersions: 2 },
    },
    {
      ID: 'uploads',
      Status: 'Disabled',
      Filter: { Prefix: '' },
      AbortIncompleteMultipartUpload: { DaysAfterInitiation: 3 },
    },
  ],
}

/** Of the commands that came before filters. */
const firstRules = { Rules: [{ ID: 'tmp', Prefix: 'tmp/', Status: 'Enabled', Expiration: { Days: 1 } }] }

const lifecycle: readonly Call[] = [
  ...without('GetBucketLifecycleConfiguration', 'NoSuchLifecycleConfiguration'),
  {
    operation: 'PutBucketLifecycleConfiguration',
    about: 'sets rules',
    words: [...bucket, '--lifecycle-configuration', lifecycleRules],
  },
  {
    operation: 'GetBucketLifecycleConfiguration',
    about: 'shows them',
    words: bucket,
    prints: { TransitionDefaultMinimumObjectSize: 'all_storage_classes_128K', ...lifecycleRules },
  },
  {
    operation: 'PutBucketLifecycleConfiguration',
    about: 'refuses days that are none',
    words: [
      ...[...bucket, '--lifecycle-configuration'],
      { Rules: [{ Status: 'Enabled', Filter: {}, Expiration: { Days: 0 } }] },
    ],
    fails: 'InvalidArgument',
  },
  {
    operation: 'PutBucketLifecycle',
    about: 'sets rules of the first form',
    words: [...bucket, '--lifecycle-configuration', firstRules],
  },
  { operation: 'GetBucketLifecycle', about: 'shows them', words: bucket, prints: firstRules },
  { operation: 'DeleteBucketLifecycle', about: 'removes them', words: bucket },
  ...without('GetBucketLifecycle', 'NoSuchLifecycleConfiguration'),
]

const website = {
  IndexDocument: { Suffix: 'index.html' },
  ErrorDocument: { Key: 'error.html' },
  RoutingRules: [
    {
      Condition: { HttpErrorCodeReturnedEquals: '404', KeyPrefixEquals: 'old/' },
      Redirect: { HostName: 'a.test', HttpRedirectCode: '302', Protocol: 'https', ReplaceKeyPrefixWith: 'new/' },
    },
  ],
}

const websites: readonly Call[] = [
  ...without('GetBucketWebsite', 'NoSuchWebsiteConfiguration', 'DeleteBucketWebsite'),
  {
    operation: 'PutBucketWebsite',
    about: 'sets documents and rules',
    words: [...bucket, '--website-configuration', website],
  },
  { operation: 'GetBucketWebsite', about: 'shows them', words: bucket, prints: website },
  {
    operation: 'PutBucketWebsite',
    about: 'refuses an index document in a directory',
    words: [...bucket, '--website-configuration', { IndexDocument: { Suffix: 'a/index.html' } }],
    fails: 'InvalidArgument',
  },
  { operation: 'DeleteBucketWebsite', about: 'removes them', words: bucket },
]

const accessControl = (get: string, put: string, words: readonly string[]): Call[] => [
  { operation: get, about: 'gives all to the owner', words, prints: grants },
  { operation: put, about: 'accepts that', words: [...words, '--acl', 'private'] },
  { operation: put, about: 'accepts it grant by grant', words: [...words, '--access-control-policy', grants] },
  {
    operation: put,
    about: 'gives nothing to others',
    words: [...words, '--acl', 'public-read'],
    fails: 'AccessControlListNotSupported',
  },
]

const everyone = { Type: 'Group', URI: 'http://acs.amazonaws.com/groups/global/AllUsers' }
const publicGrants = { ...grants, Grants: [...grants.Grants, { Grantee: everyone, Permission: 'READ' }] }
const granted = { ...grants, Grants: grants.Grants.map((grant) => ({ ...grant, Permission: 'READ_ACP' })) }

/** The same in a bucket that has lists. */
const lists: readonly Call[] = [
  {
    operation: 'PutBucketOwnershipControls',
    about: 'lets writers own what they write',
    words: [...bucket, '--ownership-controls', 'Rules=[{ObjectOwnership=ObjectWriter}]'],
  },
  { operation: 'PutBucketAcl', about: 'opens the bucket', words: [...bucket, '--acl', 'public-read'] },
  { operation: 'GetBucketAcl', about: 'shows it', words: bucket, prints: publicGrants },
  {
    operation: 'PutBucketOwnershipControls',
    about: 'is refused while the bucket is open by its list',
    words: [...bucket, '--ownership-controls', 'Rules=[{ObjectOwnership=BucketOwnerEnforced}]'],
    fails: 'InvalidBucketAclWithObjectOwnership',
  },
  { operation: 'PutObjectAcl', about: 'opens the object', words: [...object, '--acl', 'public-read'] },
  { operation: 'GetObjectAcl', about: 'shows it', words: object, prints: publicGrants },
  { operation: 'PutObjectAcl', about: 'grants', words: [...object, '--grant-read-acp', `id=${owner.ID}`] },
  { operation: 'GetObjectAcl', about: 'shows the grant', words: object, prints: granted },
  {
    operation: 'PutObjectAcl',
    about: 'refuses whom nobody knows',
    words: [...object, '--grant-read', 'id=nobody'],
    fails: 'InvalidArgument',
  },
  { operation: 'PutBucketAcl', about: 'closes the bucket', words: [...bucket, '--acl', 'private'] },
  { operation: 'DeleteBucketOwnershipControls', about: 'removes the setting', words: bucket },
  ...without('GetBucketOwnershipControls', 'OwnershipControlsNotFoundError'),
]

const attributes: Call = {
  operation: 'GetObjectAttributes',
  about: 'gives what is asked for',
  words: [...object, '--object-attributes', 'ETag', 'Checksum', 'ObjectParts', 'StorageClass', 'ObjectSize'],
  prints: {
    ...{ LastModified: time, ETag: etags.digits.replaceAll('"', ''), StorageClass: 'STANDARD', ObjectSize: 9 },
    Checksum: { ChecksumCRC32: digitsSums.crc32, ChecksumType: 'FULL_OBJECT' },
  },
}

export const documents: Scenario = {
  name: 'what else there is',
  calls: [
    { operation: 'CreateBucket', about: 'makes room', words: bucket, prints: { Location: `/${name}` } },
    {
      operation: 'PutObject',
      about: 'stores an object',
      words: [...object, '--body', 'digits', '--checksum-algorithm', 'CRC32', '--query', 'ETag'],
      prints: etags.digits,
    },
    ...byId,
    ...access,
    ...cors,
    ...lifecycle,
    ...lifecycle,
    ...websites,
    ...fixed,
    ...accessControl('GetBucketAcl', 'PutBucketAcl', bucket),
    ...accessControl('GetObjectAcl', 'PutObjectAcl', object),
    ...lists,
    attributes,
  ],
}
