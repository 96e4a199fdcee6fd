/** PutObjectLockConfiguration, GetObjectLockConfiguration. */
import { refused } from '../../contract/fields.ts'
import { checksumsIn, ownership, requestCharged, requiredDocument } from '../../contract/groups.ts'
import { integer, oneOf, optional, refusedElement, struct } from '../../contract/shapes.ts'
import { S3Error } from '../../errors.ts'
import { changeBucket, findBucket } from '../../objects/buckets.ts'
import type { DefaultRetention, ObjectLock } from '../../records/bucket-record.ts'
import { checkPeriod } from '../../rules/retention.ts'
import { defineOperation } from '../context.ts'

const configurationShape = struct({
  ObjectLockEnabled: optional(oneOf('Enabled')),
  Rule: optional(
    struct({
      DefaultRetention: optional(
        struct({
          Mode: optional(oneOf('GOVERNANCE', 'COMPLIANCE')),
          Days: optional(integer),
          Years: optional(integer),
          DefaultEventHold: refusedElement,
        }),
      ),
    }),
  ),
})

interface RetentionElements {
  Mode?: DefaultRetention['mode'] | undefined
  Days?: number | undefined
  Years?: number | undefined
}

export const putObjectLockConfigurationOperation = defineOperation({
  name: 'PutObjectLockConfiguration',
  method: 'PUT',
  target: 'bucket',
  query: ['object-lock'],
  permission: 's3:PutBucketObjectLockConfiguration',
  summary: 'Enables Object Lock on a versioned bucket, and sets the retention that new versions get by default.',
  input: {
    objectLockToken: refused('vendor', 'bucket-object-lock-token'),
    ...checksumsIn,
    ...ownership,
  },
  inputBody: requiredDocument('ObjectLockConfiguration', configurationShape, 'by AWS'),
  output: requestCharged,
  errors: ['NoSuchBucket', 'InvalidBucketState', 'InvalidArgument', 'MalformedXML'],

  async handle({ backend, scope }, { body }) {
    if (body.ObjectLockEnabled === undefined) throw new S3Error('MalformedXML')
    const rule = body.Rule
    const objectLock: ObjectLock = { defaultRetention: rule && toDefaultRetention(rule.DefaultRetention) }
    await changeBucket(backend, scope, (bucket) => {
      if (bucket.versioning !== 'enabled') {
        throw new S3Error('InvalidBucketState', {
          message: "Versioning must be 'Enabled' on the bucket to apply a Object Lock configuration",
        })
      }
      return { ...bucket, objectLock }
    })
    return {}
  },
})

/** A default retention needs a mode, and either days or years. */
function toDefaultRetention(elements: RetentionElements | undefined): DefaultRetention {
  const { Mode: mode, Days: days, Years: years } = elements ?? {}
  if (mode === undefined || (days === undefined) === (years === undefined)) throw new S3Error('MalformedXML')
  const period = days !== undefined ? { days } : { years: years ?? 0 }
  checkPeriod(period)
  return { mode, period }
}

export const getObjectLockConfigurationOperation = defineOperation({
  name: 'GetObjectLockConfiguration',
  method: 'GET',
  target: 'bucket',
  query: ['object-lock'],
  permission: 's3:GetBucketObjectLockConfiguration',
  summary: "Returns a bucket's Object Lock configuration.",
  input: ownership,
  output: {},
  outputBody: { kind: 'xml', root: 'ObjectLockConfiguration', shape: configurationShape },
  errors: ['NoSuchBucket', 'ObjectLockConfigurationNotFoundError'],

  async handle({ backend, scope }) {
    const { name, objectLock } = await findBucket(backend, scope)
    if (objectLock === undefined) {
      throw new S3Error('ObjectLockConfigurationNotFoundError', { details: { BucketName: name } })
    }
    const rule = objectLock.defaultRetention
    return {
      body: { ObjectLockEnabled: 'Enabled' as const, Rule: rule && { DefaultRetention: toElements(rule) } },
    }
  },
})

function toElements({ mode, period }: DefaultRetention): RetentionElements {
  return 'days' in period ? { Mode: mode, Days: period.days } : { Mode: mode, Years: period.years }
}
