import { absentUnless, needs, outHeader, vendor, worksOnly } from '../../contract/fields.ts'
import { bucketAcl } from '../../contract/groups.ts'
import { list, optional, refusedByHandler, string, struct } from '../../contract/shapes.ts'
import { boolean, oneOf, oneOfOr, type Parser } from '../../contract/values.ts'
import { notImplemented } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { createBucket } from '../../objects/buckets.ts'
import { checkTags } from '../../rules/tag-set.ts'
import { listOfNewBucket } from '../access-lists/access-list.ts'
import { checkBucketName } from '../bucket-name.ts'
import { defineOperation } from '../context.ts'
import { requestedBucketTags, tagShape, toTags } from '../objects/tagging-document.ts'
import { invalidLocation, resolveLocation } from './location-constraint.ts'

/** The one region where S3 answers 200 to an account that creates a bucket that it already owns. */
const repeatableIn = 'us-east-1'
/** This server has one namespace for all bucket names. */
const bucketNamespace: Parser<'global'> = (raw, name) => {
  if (oneOf('global', 'account-regional')(raw, name) === 'global') return 'global'
  throw notImplemented(name)
}

const ownership = oneOfOr(
  (name, raw) => `Invalid ${name} header: ${raw}`,
  'BucketOwnerEnforced',
  'BucketOwnerPreferred',
  'ObjectWriter',
)

export const createBucketOperation = defineOperation({
  name: 'CreateBucket',
  method: 'PUT',
  target: 'bucket',
  permission: 's3:CreateBucket',
  summary: 'Creates a bucket. Its location decides which stores keep its data.',
  input: {
    objectLockEnabled: needs(
      vendor('bucket-object-lock-enabled', boolean),
      's3:PutBucketObjectLockConfiguration',
      's3:PutBucketVersioning',
    ),
    objectOwnership: needs(vendor('object-ownership', ownership), 's3:PutBucketOwnershipControls'),
    namespace: worksOnly(vendor('bucket-namespace', bucketNamespace), 'global', 'NotImplemented'),
    ...bucketAcl,
  },
  inputBody: {
    kind: 'xml',
    root: 'CreateBucketConfiguration',
    shape: struct({
      LocationConstraint: optional(string),
      Location: refusedByHandler(struct({ Name: optional(string), Type: optional(string) })),
      Bucket: refusedByHandler(struct({ DataRedundancy: optional(string), Type: optional(string) })),
      Tags: optional(struct({ Tag: list(tagShape) })),
    }),
    required: false,
    digestRequired: false,
    bytesMax: limits.xmlBodyBytesMax,
  },
  output: { location: outHeader('Location'), bucketArn: absentUnless('bucket-arn', 'it is a directory bucket') },
  errors: [
    'BucketAlreadyExists',
    'BucketAlreadyOwnedByYou',
    'InvalidArgument',
    'InvalidBucketAclWithObjectOwnership',
    'InvalidBucketName',
    'InvalidLocationConstraint',
    'InvalidTag',
    'InvalidRequest',
    'NotImplemented',
  ],

  conditions: ({ body }) => ({
    's3:locationconstraint': body?.LocationConstraint,
    ...(body?.Tags === undefined ? {} : requestedBucketTags(toTags({ TagSet: body.Tags }))),
  }),

  async handle(context, input) {
    const { backend, scope, principal, bucket, region } = context
    checkBucketName(bucket)
    if (input.body?.Location !== undefined) throw notImplemented('CreateBucketConfiguration/Location')
    if (input.body?.Bucket !== undefined) throw notImplemented('CreateBucketConfiguration/Bucket')
    const locationConstraint = input.body?.LocationConstraint
    const location = await resolveLocation(locationConstraint, backend.blobs)
    if (location === undefined) {
      throw invalidLocation(
        locationConstraint ?? '',
        backend.blobs.locations.map(({ name }) => name),
      )
    }
    const tags = checkTags(input.body?.Tags === undefined ? [] : toTags({ TagSet: input.body.Tags }), 'bucket')
    if (tags.length > 0) scope.ask('s3:TagResource')
    const owner = principal.accountId
    const ownership = input.objectOwnership === 'BucketOwnerEnforced' ? undefined : input.objectOwnership
    const asked = {
      name: bucket,
      owner,
      ownership,
      grants: listOfNewBucket({ owner, ownership }, input, context),
      locationConstraint,
      location,
      tags,
      objectLock: input.objectLockEnabled === true ? { defaultRetention: undefined } : undefined,
    }
    await createBucket(backend, asked, { repeatable: region === repeatableIn })
    return { location: `/${bucket}` }
  },
})
