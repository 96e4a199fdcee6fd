/** PutPublicAccessBlock, GetPublicAccessBlock, DeletePublicAccessBlock. */
import { checksumsIn, ownership, requiredDocument } from '../../contract/groups.ts'
import { boolean, type Infer, optional, struct } from '../../contract/shapes.ts'
import { S3Error } from '../../errors.ts'
import { changeBucket, findBucket } from '../../objects/buckets.ts'
import type { PublicAccessBlock } from '../../records/bucket-record.ts'
import { defineOperation } from '../context.ts'

const root = 'PublicAccessBlockConfiguration'
export const blockShape = struct({
  BlockPublicAcls: optional(boolean),
  IgnorePublicAcls: optional(boolean),
  BlockPublicPolicy: optional(boolean),
  RestrictPublicBuckets: optional(boolean),
})

/** Throws InvalidRequest for a document that sets nothing, not even to `false`. */
export function readBlock(element: Infer<typeof blockShape>): PublicAccessBlock {
  if (Object.values(element).every((value) => value === undefined)) {
    throw new S3Error('InvalidRequest', { message: 'Must specify at least one configuration.' })
  }
  return {
    blockPublicAcls: element.BlockPublicAcls ?? false,
    ignorePublicAcls: element.IgnorePublicAcls ?? false,
    blockPublicPolicy: element.BlockPublicPolicy ?? false,
    restrictPublicBuckets: element.RestrictPublicBuckets ?? false,
  }
}

export const elementsOfBlock = (block: PublicAccessBlock): Infer<typeof blockShape> => ({
  BlockPublicAcls: block.blockPublicAcls,
  IgnorePublicAcls: block.ignorePublicAcls,
  BlockPublicPolicy: block.blockPublicPolicy,
  RestrictPublicBuckets: block.restrictPublicBuckets,
})

export const putPublicAccessBlockOperation = defineOperation({
  name: 'PutPublicAccessBlock',
  method: 'PUT',
  target: 'bucket',
  query: ['publicAccessBlock'],
  permission: 's3:PutBucketPublicAccessBlock',
  summary: 'Sets which public access to a bucket is blocked. What the document leaves out is not blocked.',
  input: { ...checksumsIn, ...ownership },
  inputBody: requiredDocument(root, blockShape),
  output: {},
  errors: ['NoSuchBucket', 'InvalidRequest', 'MalformedXML', 'BadDigest', 'InvalidDigest'],

  async handle({ backend, scope }, { body }) {
    const publicAccessBlock = readBlock(body)
    await changeBucket(backend, scope, (bucket) => ({ ...bucket, publicAccessBlock }))
    return {}
  },
})

export const getPublicAccessBlockOperation = defineOperation({
  name: 'GetPublicAccessBlock',
  method: 'GET',
  target: 'bucket',
  query: ['publicAccessBlock'],
  permission: 's3:GetBucketPublicAccessBlock',
  summary: 'Returns which public access to a bucket is blocked.',
  input: ownership,
  output: {},
  outputBody: { kind: 'xml', root, shape: blockShape },
  errors: ['NoSuchBucket', 'NoSuchPublicAccessBlockConfiguration'],

  async handle({ backend, scope, bucket: name }) {
    const { publicAccessBlock: block } = await findBucket(backend, scope)
    if (block === undefined) {
      throw new S3Error('NoSuchPublicAccessBlockConfiguration', { details: { BucketName: name } })
    }
    return { body: elementsOfBlock(block) }
  },
})

export const deletePublicAccessBlockOperation = defineOperation({
  name: 'DeletePublicAccessBlock',
  method: 'DELETE',
  target: 'bucket',
  query: ['publicAccessBlock'],
  // S3 documents that the permission to set a block is also the permission to remove it.
  permission: 's3:PutBucketPublicAccessBlock',
  summary: "Removes a bucket's public access block.",
  status: 204,
  input: ownership,
  output: {},
  errors: ['NoSuchBucket'],

  async handle({ backend, scope }) {
    await changeBucket(backend, scope, (bucket) => ({ ...bucket, publicAccessBlock: undefined }))
    return {}
  },
})
