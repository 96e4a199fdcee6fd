import { query } from '../../contract/fields.ts'
import { list, optional, string, struct, timestamp } from '../../contract/shapes.ts'
import { bucketsOfPage, text, unlessEmpty } from '../../contract/values.ts'
import { limits } from '../../limits.ts'
import { listBuckets } from '../../objects/buckets.ts'
import { arnOfBucket } from '../bucket-name.ts'
import { defineOperation } from '../context.ts'
import { pageToken, readPageToken } from '../listings/page-token.ts'
import { regionOf } from './location-constraint.ts'

export const listBucketsOperation = defineOperation({
  name: 'ListBuckets',
  method: 'GET',
  target: 'service',
  permission: 's3:ListAllMyBuckets',
  summary: "Lists the sender's buckets in order of name.",
  input: {
    continuationToken: query('continuation-token', unlessEmpty(text)),
    maxBuckets: query('max-buckets', unlessEmpty(bucketsOfPage(limits.listBucketsMax))),
    prefix: query('prefix', text),
    bucketRegion: query('bucket-region', text),
  },
  output: {},
  outputBody: {
    kind: 'xml',
    root: 'ListAllMyBucketsResult',
    shape: struct({
      Owner: struct({ ID: string, DisplayName: string }),
      Buckets: struct({
        Bucket: list(
          struct({
            Name: string,
            CreationDate: timestamp,
            BucketRegion: optional(string),
            BucketArn: string,
          }),
        ),
      }),
      Prefix: optional(string),
      ContinuationToken: optional(string),
    }),
  },
  errors: ['InvalidArgument'],

  async handle({ backend, principal, region }, input) {
    const start = input.continuationToken === undefined ? undefined : readPageToken(input.continuationToken)
    const page = await listBuckets(backend, {
      owner: principal.accountId,
      prefix: input.prefix ?? '',
      afterName: start !== undefined && 'afterKey' in start ? start.afterKey : undefined,
      max: input.maxBuckets ?? limits.listBucketsMax,
    })
    const asked = input.bucketRegion?.toLowerCase()
    const shown = page.buckets.filter(
      ({ locationConstraint }) => asked === undefined || regionOf(locationConstraint, region).toLowerCase() === asked,
    )
    return {
      body: {
        Owner: { ID: principal.accountId, DisplayName: principal.displayName },
        Buckets: {
          Bucket: shown.map((bucket) => ({
            Name: bucket.name,
            CreationDate: bucket.createdMs,
            BucketRegion: regionOf(bucket.locationConstraint, region),
            BucketArn: arnOfBucket(bucket.name),
          })),
        },
        Prefix: input.prefix,
        ContinuationToken: page.next === undefined ? undefined : pageToken({ afterKey: page.next }),
      },
    }
  },
})
