/** PutBucketLifecycleConfiguration, GetBucketLifecycleConfiguration, DeleteBucketLifecycle. */
import { type Clock, randomId } from '../../clock.ts'
import { outVendor, vendor } from '../../contract/fields.ts'
import { checksumsIn, ownership, requiredDocument } from '../../contract/groups.ts'
import {
  boolean,
  type Infer,
  integer,
  list,
  oneOf,
  optional,
  refusedElement,
  string,
  struct,
  timestamp,
} from '../../contract/shapes.ts'
import { oneOf as oneOfTexts } from '../../contract/values.ts'
import { S3Error } from '../../errors.ts'
import { changeBucket, findBucket } from '../../objects/buckets.ts'
import type { LifecycleExpiration, LifecycleFilter, LifecycleRule } from '../../records/lifecycle.ts'
import { checkLifecycle } from '../../rules/lifecycle-configuration.ts'
import { defineOperation } from '../context.ts'
import { fromTag, tagShape, toTag } from '../objects/tagging-document.ts'

const sizes = { ObjectSizeGreaterThan: optional(integer), ObjectSizeLessThan: optional(integer) }
const andShape = struct({ Prefix: optional(string), Tag: list(tagShape), ...sizes })
const filterShape = struct({
  Prefix: optional(string),
  Tag: optional(tagShape),
  ...sizes,
  And: optional(andShape),
})
const expirationShape = struct({
  Date: optional(timestamp),
  Days: optional(integer),
  ExpiredObjectDeleteMarker: optional(boolean),
})
const ruleShape = struct({
  ID: optional(string),
  Prefix: optional(string),
  Filter: optional(filterShape),
  Status: oneOf('Enabled', 'Disabled'),
  Expiration: optional(expirationShape),
  NoncurrentVersionExpiration: optional(
    struct({ NoncurrentDays: optional(integer), NewerNoncurrentVersions: optional(integer) }),
  ),
  AbortIncompleteMultipartUpload: optional(struct({ DaysAfterInitiation: integer })),
  // There is no other storage class to which an object could be moved.
  Transition: refusedElement,
  NoncurrentVersionTransition: refusedElement,
})

/** From which size on S3 moves objects to other storage classes. Nothing moves here, but clients compare what they get with what they said. */
const transitionMinimumName = 'transition-default-minimum-object-size'
const usualTransitionMinimum = 'all_storage_classes_128K'
const transitionMinimums = [usualTransitionMinimum, 'varies_by_storage_class'] as const

const root = 'LifecycleConfiguration'
const shape = struct({ Rule: list(ruleShape) })

export const putBucketLifecycleOperation = defineOperation({
  name: 'PutBucketLifecycleConfiguration',
  method: 'PUT',
  target: 'bucket',
  query: ['lifecycle'],
  permission: 's3:PutLifecycleConfiguration',
  summary: 'Sets which objects, versions and uploads of the bucket expire, and when.',
  input: {
    transitionMinimum: vendor(transitionMinimumName, oneOfTexts(...transitionMinimums)),
    ...checksumsIn,
    ...ownership,
  },
  inputBody: requiredDocument(root, shape, true),
  output: { transitionMinimum: outVendor(transitionMinimumName) },
  errors: [
    'NoSuchBucket',
    'MalformedXML',
    'InvalidArgument',
    'InvalidRequest',
    'NotImplemented',
    'BadDigest',
    'InvalidDigest',
  ],

  async handle({ backend, scope }, { transitionMinimum, body }) {
    await changeBucket(backend, scope, (bucket) => {
      const rules = body.Rule.map((element) => toRule(element, backend.clock))
      return { ...bucket, lifecycle: checkLifecycle(rules), transitionMinimum }
    })
    return { transitionMinimum }
  },
})

export const getBucketLifecycleOperation = defineOperation({
  name: 'GetBucketLifecycleConfiguration',
  method: 'GET',
  target: 'bucket',
  query: ['lifecycle'],
  permission: 's3:GetLifecycleConfiguration',
  summary: "Returns a bucket's lifecycle rules, as they were set.",
  input: ownership,
  output: { transitionMinimum: outVendor(transitionMinimumName) },
  outputBody: { kind: 'xml', root, shape },
  errors: ['NoSuchBucket', 'NoSuchLifecycleConfiguration'],

  async handle({ backend, scope, bucket: name }) {
    const { lifecycle, transitionMinimum = usualTransitionMinimum } = await findBucket(backend, scope)
    if (lifecycle === undefined) throw new S3Error('NoSuchLifecycleConfiguration', { details: { BucketName: name } })
    return { transitionMinimum, body: { Rule: lifecycle.map(fromRule) } }
  },
})

export const deleteBucketLifecycleOperation = defineOperation({
  name: 'DeleteBucketLifecycle',
  method: 'DELETE',
  target: 'bucket',
  query: ['lifecycle'],
  permission: 's3:PutLifecycleConfiguration',
  summary: "Removes a bucket's lifecycle rules.",
  status: 204,
  input: ownership,
  output: {},
  errors: ['NoSuchBucket'],

  async handle({ backend, scope }) {
    await changeBucket(backend, scope, (bucket) => ({ ...bucket, lifecycle: undefined, transitionMinimum: undefined }))
    return {}
  },
})

type RuleElement = Infer<typeof ruleShape>
type FilterElement = Infer<typeof filterShape>
type AndElement = Infer<typeof andShape>

function toRule(element: RuleElement, clock: Clock): LifecycleRule {
  const { Expiration, NoncurrentVersionExpiration: noncurrent, AbortIncompleteMultipartUpload: abort } = element
  if (noncurrent !== undefined) requireSome(noncurrent)
  return {
    id: element.ID || randomId(clock),
    enabled: element.Status === 'Enabled',
    filter: toFilter(element),
    expiration: Expiration && toExpiration(Expiration),
    noncurrent: noncurrent && { days: noncurrent.NoncurrentDays, keeps: noncurrent.NewerNoncurrentVersions },
    abortUploadsDays: abort?.DaysAfterInitiation,
  }
}

/** A rule has a Prefix or a Filter, and a Filter has at most one condition, which may be an And of several. */
function toFilter({ Prefix, Filter }: RuleElement): LifecycleFilter {
  if (Filter === undefined) {
    if (Prefix === undefined) throw new S3Error('MalformedXML')
    return { form: 'prefix', prefix: Prefix, tags: [] }
  }
  if (Prefix !== undefined || given(Filter).length > 1) throw new S3Error('MalformedXML')
  const { And, Tag } = Filter
  if (And === undefined) return { form: 'filter', ...conditionsOf(Filter), tags: (Tag ? [Tag] : []).map(toTag) }
  if (And.Tag.length === 0) requireSome({ ...And, Tag: undefined })
  return { form: 'and', ...conditionsOf(And), tags: And.Tag.map(toTag) }
}

const conditionsOf = (element: Omit<AndElement | FilterElement, 'Tag' | 'And'>) => ({
  prefix: element.Prefix,
  sizeGreaterThan: element.ObjectSizeGreaterThan,
  sizeLessThan: element.ObjectSizeLessThan,
})

function toExpiration(element: Infer<typeof expirationShape>): LifecycleExpiration {
  const { Date: dateMs, Days: days, ExpiredObjectDeleteMarker: expiredDeleteMarkers } = element
  if (given(element).length !== 1) throw new S3Error('MalformedXML')
  if (days !== undefined) return { days }
  return dateMs === undefined ? { expiredDeleteMarkers: expiredDeleteMarkers === true } : { dateMs }
}

const given = (element: object): unknown[] => Object.values(element).filter((value) => value !== undefined)

function requireSome(element: object): void {
  if (given(element).length === 0) throw new S3Error('MalformedXML')
}

function fromRule({ id, enabled, filter, expiration, noncurrent, abortUploadsDays }: LifecycleRule): RuleElement {
  return {
    ID: id,
    Prefix: filter.form === 'prefix' ? filter.prefix : undefined,
    Filter: filter.form === 'prefix' ? undefined : fromFilter(filter),
    Status: enabled ? 'Enabled' : 'Disabled',
    Expiration: expiration && {
      Date: 'dateMs' in expiration ? expiration.dateMs : undefined,
      Days: 'days' in expiration ? expiration.days : undefined,
      ExpiredObjectDeleteMarker: 'expiredDeleteMarkers' in expiration ? expiration.expiredDeleteMarkers : undefined,
    },
    NoncurrentVersionExpiration: noncurrent && {
      NoncurrentDays: noncurrent.days,
      NewerNoncurrentVersions: noncurrent.keeps,
    },
    AbortIncompleteMultipartUpload:
      abortUploadsDays === undefined ? undefined : { DaysAfterInitiation: abortUploadsDays },
  }
}

function fromFilter({ form, prefix, tags, sizeGreaterThan, sizeLessThan }: LifecycleFilter): FilterElement {
  const conditions = { Prefix: prefix, ObjectSizeGreaterThan: sizeGreaterThan, ObjectSizeLessThan: sizeLessThan }
  const elements = tags.map(fromTag)
  return form === 'and' ? { And: { ...conditions, Tag: elements } } : { ...conditions, Tag: elements[0] }
}
