/** PutBucketCors, GetBucketCors, DeleteBucketCors. */
import { checksumsIn, ownership, requiredDocument } from '../../contract/groups.ts'
import { type Infer, integer, list, optional, string, struct } from '../../contract/shapes.ts'
import { S3Error } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { changeBucket, findBucket } from '../../objects/buckets.ts'
import type { CorsRule } from '../../records/bucket-record.ts'
import { checkCorsRules } from '../../rules/cors.ts'
import { defineOperation } from '../context.ts'

const ruleShape = struct({
  ID: optional(string),
  AllowedOrigin: list(string),
  AllowedMethod: list(string),
  AllowedHeader: list(string),
  ExposeHeader: list(string),
  MaxAgeSeconds: optional(integer),
})
const configurationShape = struct({ CORSRule: list(ruleShape) })

export const putBucketCorsOperation = defineOperation({
  name: 'PutBucketCors',
  method: 'PUT',
  target: 'bucket',
  query: ['cors'],
  permission: 's3:PutBucketCORS',
  summary: "Sets which other origins' pages a browser lets read the bucket's answers.",
  input: { ...checksumsIn, ...ownership },
  inputBody: {
    ...requiredDocument('CORSConfiguration', configurationShape, true),
    bytesMax: limits.corsDocumentBytesMax,
  },
  output: {},
  errors: ['NoSuchBucket', 'MalformedXML', 'InvalidRequest', 'BadDigest', 'InvalidDigest'],

  async handle({ backend, scope }, { body }) {
    await changeBucket(backend, scope, (bucket) => ({ ...bucket, cors: checkCorsRules(body.CORSRule.map(toRule)) }))
    return {}
  },
})

export const getBucketCorsOperation = defineOperation({
  name: 'GetBucketCors',
  method: 'GET',
  target: 'bucket',
  query: ['cors'],
  permission: 's3:GetBucketCORS',
  summary: "Returns a bucket's CORS rules, as they were set.",
  input: ownership,
  output: {},
  outputBody: { kind: 'xml', root: 'CORSConfiguration', shape: configurationShape },
  errors: ['NoSuchBucket', 'NoSuchCORSConfiguration'],

  async handle({ backend, scope, bucket: name }) {
    const { cors } = await findBucket(backend, scope)
    if (cors === undefined) throw new S3Error('NoSuchCORSConfiguration', { details: { BucketName: name } })
    return { body: { CORSRule: cors.map(fromRule) } }
  },
})

export const deleteBucketCorsOperation = defineOperation({
  name: 'DeleteBucketCors',
  method: 'DELETE',
  target: 'bucket',
  query: ['cors'],
  permission: 's3:PutBucketCORS',
  summary: "Removes a bucket's CORS rules.",
  status: 204,
  input: ownership,
  output: {},
  errors: ['NoSuchBucket'],

  async handle({ backend, scope }) {
    await changeBucket(backend, scope, (bucket) => ({ ...bucket, cors: undefined }))
    return {}
  },
})

type RuleElement = Infer<typeof ruleShape>

/** An empty ID counts as absent. */
function toRule(element: RuleElement): CorsRule {
  return {
    id: element.ID || undefined,
    allowedOrigins: element.AllowedOrigin,
    allowedMethods: element.AllowedMethod,
    allowedHeaders: element.AllowedHeader,
    exposeHeaders: element.ExposeHeader,
    maxAgeSeconds: element.MaxAgeSeconds,
  }
}

function fromRule(rule: CorsRule): RuleElement {
  return {
    ID: rule.id,
    AllowedOrigin: [...rule.allowedOrigins],
    AllowedMethod: [...rule.allowedMethods],
    AllowedHeader: [...rule.allowedHeaders],
    ExposeHeader: [...rule.exposeHeaders],
    MaxAgeSeconds: rule.maxAgeSeconds,
  }
}
