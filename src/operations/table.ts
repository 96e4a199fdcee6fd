/** Every operation, in the order of the docs. Order decides nothing. */
import type { Operation } from '../contract/operation.ts'
import { getBucketAclOperation, putBucketAclOperation } from './access-lists/bucket-acl.ts'
import {
  deleteBucketOwnershipControlsOperation,
  getBucketOwnershipControlsOperation,
  putBucketOwnershipControlsOperation,
} from './access-lists/bucket-ownership-controls.ts'
import { getObjectAclOperation, putObjectAclOperation } from './access-lists/object-acl.ts'
import {
  deleteAccountPublicAccessBlockOperation,
  getAccountPublicAccessBlockOperation,
  putAccountPublicAccessBlockOperation,
} from './buckets/account-public-access-block.ts'
import { deleteBucketCorsOperation, getBucketCorsOperation, putBucketCorsOperation } from './buckets/bucket-cors.ts'
import {
  deleteBucketEncryptionOperation,
  getBucketEncryptionOperation,
  putBucketEncryptionOperation,
} from './buckets/bucket-encryption.ts'
import {
  deleteBucketLifecycleOperation,
  getBucketLifecycleOperation,
  putBucketLifecycleOperation,
} from './buckets/bucket-lifecycle.ts'
import { getBucketLoggingOperation, putBucketLoggingOperation } from './buckets/bucket-logging.ts'
import { getBucketNotificationOperation, putBucketNotificationOperation } from './buckets/bucket-notification.ts'
import {
  deleteBucketPolicyOperation,
  getBucketPolicyOperation,
  getBucketPolicyStatusOperation,
  putBucketPolicyOperation,
} from './buckets/bucket-policy.ts'
import {
  deleteBucketReplicationOperation,
  getBucketReplicationOperation,
  putBucketReplicationOperation,
} from './buckets/bucket-replication.ts'
import {
  deleteBucketTaggingOperation,
  getBucketTaggingOperation,
  putBucketTaggingOperation,
} from './buckets/bucket-tagging.ts'
import { getBucketVersioningOperation, putBucketVersioningOperation } from './buckets/bucket-versioning.ts'
import {
  deleteBucketWebsiteOperation,
  getBucketWebsiteOperation,
  putBucketWebsiteOperation,
} from './buckets/bucket-website.ts'
import { configurationsById } from './buckets/configurations-by-id.ts'
import { createBucketOperation } from './buckets/create-bucket.ts'
import { deleteBucketOperation } from './buckets/delete-bucket.ts'
import { fixedConfigurations } from './buckets/fixed-configurations.ts'
import { getBucketLocationOperation } from './buckets/get-bucket-location.ts'
import { headBucketOperation } from './buckets/head-bucket.ts'
import { listBucketsOperation } from './buckets/list-buckets.ts'
import {
  getObjectLockConfigurationOperation,
  putObjectLockConfigurationOperation,
} from './buckets/object-lock-configuration.ts'
import {
  deletePublicAccessBlockOperation,
  getPublicAccessBlockOperation,
  putPublicAccessBlockOperation,
} from './buckets/public-access-block.ts'
import {
  listTagsForResourceOperation,
  tagResourceOperation,
  untagResourceOperation,
} from './buckets/resource-tagging.ts'
import type { OperationContext } from './context.ts'
import { listObjectVersionsOperation } from './listings/list-object-versions.ts'
import { listObjectsOperation } from './listings/list-objects.ts'
import { listObjectsV2Operation } from './listings/list-objects-v2.ts'
import { copyObjectOperation } from './objects/copy-object.ts'
import { deleteObjectOperation } from './objects/delete-object.ts'
import { deleteObjectsOperation } from './objects/delete-objects.ts'
import { getObjectOperation } from './objects/get-object.ts'
import { getObjectAttributesOperation } from './objects/get-object-attributes.ts'
import { headObjectOperation } from './objects/head-object.ts'
import { getObjectLegalHoldOperation, putObjectLegalHoldOperation } from './objects/object-legal-hold.ts'
import { getObjectRetentionOperation, putObjectRetentionOperation } from './objects/object-retention.ts'
import {
  deleteObjectTaggingOperation,
  getObjectTaggingOperation,
  putObjectTaggingOperation,
} from './objects/object-tagging.ts'
import { postObjectOperation } from './objects/post-object.ts'
import { putObjectOperation } from './objects/put-object.ts'
import { restoreObjectOperation } from './objects/restore-object.ts'
import { updateObjectEncryptionOperation } from './objects/update-object-encryption.ts'
import { refusedOperations } from './refused-operations.ts'
import { abortMultipartUploadOperation } from './uploads/abort-multipart-upload.ts'
import { completeMultipartUploadOperation } from './uploads/complete-multipart-upload.ts'
import { createMultipartUploadOperation } from './uploads/create-multipart-upload.ts'
import { listMultipartUploadsOperation } from './uploads/list-multipart-uploads.ts'
import { listPartsOperation } from './uploads/list-parts.ts'
import { uploadPartOperation } from './uploads/upload-part.ts'
import { uploadPartCopyOperation } from './uploads/upload-part-copy.ts'

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
  tagResourceOperation,
  listTagsForResourceOperation,
  untagResourceOperation,
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
  putBucketLifecycleOperation,
  getBucketLifecycleOperation,
  deleteBucketLifecycleOperation,
  putBucketLoggingOperation,
  getBucketLoggingOperation,
  putBucketNotificationOperation,
  getBucketNotificationOperation,
  putObjectLockConfigurationOperation,
  getObjectLockConfigurationOperation,
  putBucketOwnershipControlsOperation,
  getBucketOwnershipControlsOperation,
  deleteBucketOwnershipControlsOperation,
  putBucketAclOperation,
  getBucketAclOperation,
  ...fixedConfigurations,
  putBucketReplicationOperation,
  getBucketReplicationOperation,
  deleteBucketReplicationOperation,
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
  restoreObjectOperation,
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
