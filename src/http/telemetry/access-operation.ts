/** The names that S3's access logs give to operations: `REST.GET.OBJECT`. Pure. */

/** What a request with this sub-resource is about. Others are about their object or bucket. */
const types: Readonly<Record<string, string>> = {
  abac: 'ABAC',
  accelerate: 'ACCELERATE',
  acl: 'ACL',
  analytics: 'ANALYTICS',
  attributes: 'OBJECT_ATTRIBUTES',
  cors: 'CORS',
  delete: 'MULTI_OBJECT_DELETE',
  encryption: 'ENCRYPTION',
  'intelligent-tiering': 'INTELLIGENT_TIERING',
  inventory: 'INVENTORY',
  'legal-hold': 'LEGAL_HOLD',
  lifecycle: 'LIFECYCLE',
  location: 'LOCATION',
  logging: 'LOGGING_STATUS',
  metrics: 'METRICS',
  notification: 'NOTIFICATION',
  'object-lock': 'OBJECT_LOCK_CONFIGURATION',
  ownershipControls: 'OWNERSHIP_CONTROLS',
  policy: 'BUCKETPOLICY',
  policyStatus: 'POLICY_STATUS',
  publicAccessBlock: 'PUBLIC_ACCESS_BLOCK',
  replication: 'REPLICATION',
  requestPayment: 'REQUEST_PAYMENT',
  restore: 'RESTORE',
  retention: 'RETENTION',
  select: 'SELECT',
  tagging: 'TAGGING',
  torrent: 'TORRENT',
  uploadId: 'UPLOAD',
  uploads: 'UPLOADS',
  versioning: 'VERSIONING',
  versions: 'BUCKETVERSIONS',
  website: 'WEBSITE',
}

const copies: Readonly<Record<string, string>> = { CopyObject: 'OBJECT', UploadPartCopy: 'PART' }

/** `name`: the operation's, or empty where it is not known. `query`: names of parameters. */
export function logOperation(name: string, method: string, query: readonly string[], ofObject: boolean): string {
  const copied = copies[name]
  if (copied !== undefined) return `REST.COPY.${copied}`
  if (method === 'OPTIONS') return 'REST.OPTIONS.PREFLIGHT'
  return `REST.${method}.${typeOf(name, query, ofObject)}`
}

function typeOf(name: string, query: readonly string[], ofObject: boolean): string {
  if (name === 'PostObject') return 'OBJECT'
  if (query.includes('partNumber') && query.includes('uploadId')) return 'PART'
  const type = query.map((each) => (Object.hasOwn(types, each) ? types[each] : undefined)).find(Boolean)
  if (type === undefined) return ofObject ? 'OBJECT' : 'BUCKET'
  return type === 'TAGGING' && ofObject ? 'OBJECT_TAGGING' : type
}

/** The second line of a copy, in the log of its source. `undefined`: the operation is no copy. */
export function copySourceOperation(name: string): string | undefined {
  const copied = copies[name]
  return copied && `REST.COPY.${copied}_GET`
}
