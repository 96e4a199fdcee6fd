/** Every operation, in the order of the docs. Order decides nothing. */
import type { Operation } from '../contract/operation.ts'
import { abortMultipartUploadOperation } from './abort-multipart-upload.ts'
import { absentConfiguration } from './absent-configurations.ts'
import {
  deleteAccountPublicAccessBlockOperation,
  getAccountPublicAccessBlockOperation,
  putAccountPublicAccessBlockOperation,
} from './account-public-access-block.ts'
import { getBucketAclOperation, putBucketAclOperation } from './bucket-acl.ts'
import { deleteBucketCorsOperation, getBucketCorsOperation, putBucketCorsOperation } from './bucket-cors.ts'
import {
  deleteBucketEncryptionOperation,
  getBucketEncryptionOperation,
  putBucketEncryptionOperation,
} from './bucket-encryption.ts'
import {
  deleteBucketOwnershipControlsOperation,
  getBucketOwnershipControlsOperation,
  putBucketOwnershipControlsOperation,
} from './bucket-ownership-controls.ts'
import {
  deleteBucketPolicyOperation,
  getBucketPolicyOperation,
  getBucketPolicyStatusOperation,
  putBucketPolicyOperation,
} from './bucket-policy.ts'
import { deleteBucketTaggingOperation, getBucketTaggingOperation, putBucketTaggingOperation } from './bucket-tagging.ts'
import { getBucketVersioningOperation, putBucketVersioningOperation } from './bucket-versioning.ts'
import { deleteBucketWebsiteOperation, getBucketWebsiteOperation, putBucketWebsiteOperation } from './bucket-website.ts'
import { completeMultipartUploadOperation } from './complete-multipart-upload.ts'
import { configurationsById } from './configurations-by-id.ts'
import type { OperationContext } from './context.ts'
import { copyObjectOperation } from './copy-object.ts'
import { createBucketOperation } from './create-bucket.ts'
import { createMultipartUploadOperation } from './create-multipart-upload.ts'
import { deleteBucketOperation } from './delete-bucket.ts'
import { deleteObjectOperation } from './delete-object.ts'
import { deleteObjectsOperation } from './delete-objects.ts'
import { fixedConfigurations } from './fixed-configurations.ts'
import { getBucketLocationOperation } from './get-bucket-location.ts'
import { getObjectOperation } from './get-object.ts'
import { getObjectAttributesOperation } from './get-object-attributes.ts'
import { headBucketOperation } from './head-bucket.ts'
import { headObjectOperation } from './head-object.ts'
import { listBucketsOperation } from './list-buckets.ts'
import { listMultipartUploadsOperation } from './list-multipart-uploads.ts'
import { listObjectVersionsOperation } from './list-object-versions.ts'
import { listObjectsOperation } from './list-objects.ts'
import { listObjectsV2Operation } from './list-objects-v2.ts'
import { listPartsOperation } from './list-parts.ts'
import { getObjectAclOperation, putObjectAclOperation } from './object-acl.ts'
import { getObjectLegalHoldOperation, putObjectLegalHoldOperation } from './object-legal-hold.ts'
import {
  getObjectLockConfigurationOperation,
  putObjectLockConfigurationOperation,
} from './object-lock-configuration.ts'
import { getObjectRetentionOperation, putObjectRetentionOperation } from './object-retention.ts'
import { deleteObjectTaggingOperation, getObjectTaggingOperation, putObjectTaggingOperation } from './object-tagging.ts'
import { postObjectOperation } from './post-object.ts'
import {
  deletePublicAccessBlockOperation,
  getPublicAccessBlockOperation,
  putPublicAccessBlockOperation,
} from './public-access-block.ts'
import { putObjectOperation } from './put-object.ts'
import { refusedOperations } from './refused-operations.ts'
import { updateObjectEncryptionOperation } from './update-object-encryption.ts'
import { uploadPartOperation } from './upload-part.ts'
import { uploadPartCopyOperation } from './upload-part-copy.ts'

export const operations: readonly Operation<OperationContext>[] = [
  listBucketsOperation,
  createBucketOperation,
  headBucketOperation,
  deleteBucketOperation,
  getBucketLocationOperation,
  putBucketPolicyOperation,
  getBucketPolicyOperation,
  deleteBucketPolicyOperation,
  getBucketPolicyStatusOperation,
  putAccountPublicAccessBlockOperation,
  getAccountPublicAccessBlockOperation,
  deleteAccountPublicAccessBlockOperation,
  putPublicAccessBlockOperation,
  getPublicAccessBlockOperation,
  deletePublicAccessBlockOperation,
  putBucketTaggingOperation,
  getBucketTaggingOperation,
  deleteBucketTaggingOperation,
  putBucketVersioningOperation,
  getBucketVersioningOperation,
  putBucketEncryptionOperation,
  getBucketEncryptionOperation,
  deleteBucketEncryptionOperation,
  putBucketCorsOperation,
  getBucketCorsOperation,
  deleteBucketCorsOperation,
  putBucketWebsiteOperation,
  getBucketWebsiteOperation,
  deleteBucketWebsiteOperation,
  putObjectLockConfigurationOperation,
  getObjectLockConfigurationOperation,
  putBucketOwnershipControlsOperation,
  getBucketOwnershipControlsOperation,
  deleteBucketOwnershipControlsOperation,
  putBucketAclOperation,
  getBucketAclOperation,
  ...fixedConfigurations,
  ...absentConfiguration({
    what: 'replication configuration',
    query: 'replication',
    code: 'ReplicationConfigurationNotFoundError',
    read: ['GetBucketReplication', 's3:GetReplicationConfiguration'],
    write: 'PutBucketReplication',
    remove: ['DeleteBucketReplication', 's3:PutReplicationConfiguration'],
  }),
  ...absentConfiguration({
    what: 'lifecycle configuration',
    query: 'lifecycle',
    code: 'NoSuchLifecycleConfiguration',
    read: ['GetBucketLifecycleConfiguration', 's3:GetLifecycleConfiguration'],
    write: 'PutBucketLifecycleConfiguration',
    remove: ['DeleteBucketLifecycle', 's3:PutLifecycleConfiguration'],
  }),
  ...configurationsById,
  putObjectOperation,
  postObjectOperation,
  getObjectOperation,
  headObjectOperation,
  getObjectAttributesOperation,
  copyObjectOperation,
  deleteObjectOperation,
  deleteObjectsOperation,
  putObjectTaggingOperation,
  getObjectTaggingOperation,
  deleteObjectTaggingOperation,
  putObjectLegalHoldOperation,
  getObjectLegalHoldOperation,
  putObjectRetentionOperation,
  getObjectRetentionOperation,
  putObjectAclOperation,
  getObjectAclOperation,
  updateObjectEncryptionOperation,
  listObjectsOperation,
  listObjectsV2Operation,
  listObjectVersionsOperation,
  createMultipartUploadOperation,
  uploadPartOperation,
  uploadPartCopyOperation,
  completeMultipartUploadOperation,
  abortMultipartUploadOperation,
  listPartsOperation,
  listMultipartUploadsOperation,
  ...refusedOperations,
]
