/** PutBucketLifecycleConfiguration, GetBucketLifecycleConfiguration, DeleteBucketLifecycle. */
import { type Clock, randomId } from '../../clock.ts'
import type { Backend } from '../../commits/backend.ts'
import { outVendor, vendor } from '../../contract/fields.ts'
import { checksumsIn, ownership, requiredDocument } from '../../contract/groups.ts'
import {
  boolean,
  type Infer,
  integer,
  list,
  oneOf,
  optional,
  string,
  struct,
  timestamp,
} from '../../contract/shapes.ts'
import { oneOf as oneOfTexts } from '../../contract/values.ts'
import { invalidArgument, S3Error } from '../../errors.ts'
import { changeBucket, findBucket } from '../../objects/buckets.ts'
import {
  type LifecycleExpiration,
  type LifecycleFilter,
  type LifecycleRule,
  type NoncurrentTransition,
  type Transition,
  transitionMinimums,
} from '../../records/lifecycle.ts'
import { checkLifecycle } from '../../rules/lifecycle-configuration.ts'
import { unkeptClass } from '../../rules/transition-rules.ts'
import { transitionClasses } from '../../storage-class.ts'
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
const storageClass = oneOf(...transitionClasses)
const transitionShape = struct({
  Date: optional(timestamp),
  Days: optional(integer),
  StorageClass: storageClass,
})
const noncurrentTransitionShape = struct({
  NoncurrentDays: integer,
  NewerNoncurrentVersions: optional(integer),
  StorageClass: storageClass,
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
  Transition: list(transitionShape),
  NoncurrentVersionTransition: list(noncurrentTransitionShape),
})

const transitionMinimumName = 'transition-default-minimum-object-size'
const [usualTransitionMinimum] = transitionMinimums

const root = 'LifecycleConfiguration'
const shape = struct({ Rule: list(ruleShape) })

export const putBucketLifecycleOperation = defineOperation({
  name: 'PutBucketLifecycleConfiguration',
  method: 'PUT',
  target: 'bucket',
  query: ['lifecycle'],
  permission: 's3:PutLifecycleConfiguration',
  summary:
    'Sets which objects, versions and uploads of the bucket expire or get another storage class, and when. A location must keep the class.',
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
      const lifecycle = checkLifecycle(rules)
      requireKept(lifecycle, backend)
      return { ...bucket, lifecycle, transitionMinimum }
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
    transitions: element.Transition.map(toTransition),
    noncurrentTransitions: element.NoncurrentVersionTransition.map(toNoncurrentTransition),
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

function toTransition({ Date: dateMs, Days: days, StorageClass }: Infer<typeof transitionShape>): Transition {
  if (days !== undefined && dateMs !== undefined) throw new S3Error('MalformedXML')
  if (days !== undefined) return { days, storageClass: StorageClass }
  if (dateMs !== undefined) return { dateMs, storageClass: StorageClass }
  throw invalidArgument('Transition', '', "'Transition' action must specify either 'Days' or 'Date'")
}

const toNoncurrentTransition = (element: Infer<typeof noncurrentTransitionShape>): NoncurrentTransition => ({
  storageClass: element.StorageClass,
  days: element.NoncurrentDays,
  keeps: element.NewerNoncurrentVersions,
})

/** Throws NotImplemented: without a location that keeps the class, a move to it would be a change of name only. */
function requireKept(rules: readonly LifecycleRule[], { blobs }: Backend): void {
  const unkept = unkeptClass(rules, blobs.keptClasses)
  if (unkept === undefined) return
  throw new S3Error('NotImplemented', {
    message: `No location of this server keeps the storage class ${unkept}, so lifecycle rules can't move objects to it.`,
  })
}

const given = (element: object): unknown[] => Object.values(element).filter((value) => value !== undefined)

function requireSome(element: object): void {
  if (given(element).length === 0) throw new S3Error('MalformedXML')
}

function fromRule(rule: LifecycleRule): RuleElement {
  const { id, enabled, filter, expiration, noncurrent, abortUploadsDays } = rule
  const { transitions = [], noncurrentTransitions = [] } = rule
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
    Transition: transitions.map((one) => ({
      Date: 'dateMs' in one ? one.dateMs : undefined,
      Days: 'days' in one ? one.days : undefined,
      StorageClass: one.storageClass,
    })),
    NoncurrentVersionTransition: noncurrentTransitions.map((one) => ({
      NoncurrentDays: one.days,
      NewerNoncurrentVersions: one.keeps,
      StorageClass: one.storageClass,
    })),
    AbortIncompleteMultipartUpload:
      abortUploadsDays === undefined ? undefined : { DaysAfterInitiation: abortUploadsDays },
  }
}

function fromFilter({ form, prefix, tags, sizeGreaterThan, sizeLessThan }: LifecycleFilter): FilterElement {
  const conditions = { Prefix: prefix, ObjectSizeGreaterThan: sizeGreaterThan, ObjectSizeLessThan: sizeLessThan }
  const elements = tags.map(fromTag)
  return form === 'and' ? { And: { ...conditions, Tag: elements } } : { ...conditions, Tag: elements[0] }
}
