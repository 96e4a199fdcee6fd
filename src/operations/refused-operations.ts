/** Operations that S3 has and this server refuses by name, so that a request for one never runs another operation. */
import type { Method, Operation, Target } from '../contract/operation.ts'
import type { OperationContext } from './context.ts'

type Row = [name: string, method: Method, target: Target, ...query: string[]]

const rows: readonly Row[] = [
  ['PutBucketAbac', 'PUT', 'bucket', 'abac'],
  ['PutBucketAnalyticsConfiguration', 'PUT', 'bucket', 'analytics'],
  ['PutBucketIntelligentTieringConfiguration', 'PUT', 'bucket', 'intelligent-tiering'],
  ['PutBucketInventoryConfiguration', 'PUT', 'bucket', 'inventory'],
  ['GetBucketMetadataConfiguration', 'GET', 'bucket', 'metadataConfiguration'],
  ['CreateBucketMetadataConfiguration', 'POST', 'bucket', 'metadataConfiguration'],
  ['DeleteBucketMetadataConfiguration', 'DELETE', 'bucket', 'metadataConfiguration'],
  ['GetBucketMetadataTableConfiguration', 'GET', 'bucket', 'metadataTable'],
  ['CreateBucketMetadataTableConfiguration', 'POST', 'bucket', 'metadataTable'],
  ['DeleteBucketMetadataTableConfiguration', 'DELETE', 'bucket', 'metadataTable'],
  ['UpdateBucketMetadataAnnotationTableConfiguration', 'PUT', 'bucket', 'metadataAnnotationTable'],
  ['UpdateBucketMetadataInventoryTableConfiguration', 'PUT', 'bucket', 'metadataInventoryTable'],
  ['UpdateBucketMetadataJournalTableConfiguration', 'PUT', 'bucket', 'metadataJournalTable'],
  ['PutBucketMetricsConfiguration', 'PUT', 'bucket', 'metrics'],
  // S3 has it at another endpoint. Here only `x-id` distinguishes it from ListBuckets, which lists no directory buckets.
  ['ListDirectoryBuckets', 'GET', 'service', 'x-id=ListDirectoryBuckets'],
  ['CreateSession', 'GET', 'bucket', 'session'],
  ['ListObjectAnnotations', 'GET', 'object', 'annotation'],
  ['GetObjectAnnotation', 'GET', 'object', 'annotation', 'annotationName'],
  ['PutObjectAnnotation', 'PUT', 'object', 'annotation'],
  ['DeleteObjectAnnotation', 'DELETE', 'object', 'annotation'],
  ['RenameObject', 'PUT', 'object', 'renameObject'],
  ['SelectObjectContent', 'POST', 'object', 'select'],
  ['GetObjectTorrent', 'GET', 'object', 'torrent'],
]

/** S3's permissions that are not named like their operation. Operations whose permission belongs to another service are not listed, and use their own name. */
const permissionsOtherwise: Readonly<Record<string, string>> = {
  PutBucketAnalyticsConfiguration: 's3:PutAnalyticsConfiguration',
  PutBucketIntelligentTieringConfiguration: 's3:PutIntelligentTieringConfiguration',
  PutBucketInventoryConfiguration: 's3:PutInventoryConfiguration',
  PutBucketMetricsConfiguration: 's3:PutMetricsConfiguration',
  GetBucketMetadataConfiguration: 's3:GetBucketMetadataTableConfiguration',
  CreateBucketMetadataConfiguration: 's3:CreateBucketMetadataTableConfiguration',
  DeleteBucketMetadataConfiguration: 's3:DeleteBucketMetadataTableConfiguration',
  DeleteBucketOwnershipControls: 's3:PutBucketOwnershipControls',
  SelectObjectContent: 's3:GetObject',
}

export const refusedOperations: readonly Operation<OperationContext>[] = [
  ...rows.map(([name, method, target, ...query]) => refusedOperation(name, method, target, query)),
  // Part of Object Lambda. On S3 the host name and this header both name the request that it answers.
  refusedOperation('WriteGetObjectResponse', 'POST', 'object', [], ['request-route']),
]

function refusedOperation(
  name: string,
  method: Method,
  target: Target,
  query: string[],
  vendorHeaders: string[] = [],
): Operation<OperationContext> {
  return {
    name,
    method,
    target,
    query,
    vendorHeaders,
    permission: permissionsOtherwise[name] ?? `s3:${name}`,
    authentication: 'signed',
    summary: 'Refused by name.',
    status: 501,
    implemented: false,
    slow: false,
    input: {},
    inputBody: { kind: 'none' },
    output: {},
    outputBody: { kind: 'none' },
    errors: ['NotImplemented'],
    handle: async () => ({}),
  }
}
