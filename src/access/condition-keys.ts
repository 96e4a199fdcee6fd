/** The condition keys that this server evaluates, and those that it only knows. A policy that names one of the latter is refused. */
import { referenceActions, referenceKeys } from './service-reference.ts'

/** All evaluated keys, in the spelling for `AccessRequest.value`. A key that ends with a slash is followed by a tag's key. */
export const evaluatedKeys = [
  // About the principal.
  'aws:PrincipalAccount',
  'aws:PrincipalArn',
  'aws:PrincipalIsAWSService',
  'aws:PrincipalServiceName',
  'aws:PrincipalTag/',
  'aws:PrincipalType',
  'aws:userid',
  'aws:username',
  // About the request and its connection.
  'aws:CurrentTime',
  'aws:EpochTime',
  'aws:MultiFactorAuthAge',
  'aws:MultiFactorAuthPresent',
  'aws:referer',
  'aws:RequestedRegion',
  'aws:RequestTag/',
  'aws:ResourceAccount',
  'aws:SecureTransport',
  'aws:SourceAccount',
  'aws:SourceArn',
  'aws:SourceIp',
  'aws:TagKeys',
  'aws:TokenIssueTime',
  'aws:UserAgent',
  'aws:ViaAWSService',
  's3:authType',
  's3:delimiter',
  's3:ExistingObjectTag/',
  's3:if-match',
  's3:if-none-match',
  's3:locationconstraint',
  's3:max-keys',
  's3:object-lock-legal-hold',
  's3:object-lock-mode',
  's3:object-lock-remaining-retention-days',
  's3:object-lock-retain-until-date',
  's3:ObjectCreationOperation',
  's3:prefix',
  's3:RequestObjectTag/',
  's3:RequestObjectTagKeys',
  's3:ResourceAccount',
  's3:signatureAge',
  's3:signatureversion',
  's3:TlsVersion',
  's3:versionid',
  's3:x-amz-acl',
  's3:x-amz-content-sha256',
  's3:x-amz-copy-source',
  's3:x-amz-grant-full-control',
  's3:x-amz-grant-read',
  's3:x-amz-grant-read-acp',
  's3:x-amz-grant-write',
  's3:x-amz-grant-write-acp',
  's3:x-amz-metadata-directive',
  's3:x-amz-object-ownership',
  's3:x-amz-server-side-encryption',
  's3:x-amz-server-side-encryption-aws-kms-key-id',
  's3:x-amz-server-side-encryption-customer-algorithm',
  's3:x-amz-storage-class',
  's3:x-amz-website-redirect-location',
] as const

export interface ConditionKey {
  /** As in the service reference. A name that ends with a slash is followed by a tag's key. */
  readonly name: string
  readonly type: string
  readonly use: 'evaluated' | 'refused'
  /** Lower-case names of the actions whose requests can have the key. `undefined`: all. */
  readonly actions: ReadonlySet<string> | undefined
}

const evaluated: ReadonlySet<string> = new Set(evaluatedKeys.map((key) => key.toLowerCase()))

/** Actions that the reference leaves out of a key's row, though S3 takes policies with both, and compares the key. */
const leftOut: ReadonlyMap<string, readonly string[]> = new Map([
  ['s3:x-amz-object-ownership', ['s3:putbucketownershipcontrols']],
])

/** By name in lower case: condition keys ignore case. */
export const conditionKeys: ReadonlyMap<string, ConditionKey> = new Map(
  referenceKeys().map(({ name, type, actions }) => [
    name.toLowerCase(),
    {
      name,
      type,
      use: evaluated.has(name.toLowerCase()) ? 'evaluated' : 'refused',
      actions: actions && new Set([...actions, ...(leftOut.get(name) ?? [])]),
    },
  ]),
)

/** Claims of a web identity's token. MinIO's policies have such keys, AWS's reference does not. Any claim can be named. */
const claimKey = /^jwt:([\x21-\x7e]{1,128})$/i
const claimRow: ConditionKey = { name: 'jwt:', type: 'String', use: 'evaluated', actions: undefined }

/** For `s3:existingobjecttag/Project`: its row, and the spelling for `AccessRequest.value`, `s3:ExistingObjectTag/Project`. */
export function findConditionKey(key: string): { row: ConditionKey; spelled: string } | undefined {
  const claim = claimKey.exec(key)?.[1]
  if (claim !== undefined) return { row: claimRow, spelled: `jwt:${claim.toLowerCase()}` }
  const slash = key.indexOf('/')
  const row = conditionKeys.get((slash < 0 ? key : key.slice(0, slash + 1)).toLowerCase())
  if (row === undefined || (slash >= 0 && slash === key.length - 1)) return undefined
  return { row, spelled: slash < 0 ? row.name : row.name + key.slice(slash + 1) }
}

/** What each action of S3 is about, by name in lower case. `none`: neither a bucket nor an object. */
export const s3Actions: ReadonlyMap<string, ActionTarget> = new Map(
  referenceActions().map(({ name, target }) => [`s3:${name.toLowerCase()}`, target]),
)

export type ActionTarget = 'bucket' | 'object' | 'none'
