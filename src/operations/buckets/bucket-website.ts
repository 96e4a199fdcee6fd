/** PutBucketWebsite, GetBucketWebsite, DeleteBucketWebsite. */
import { checksumsIn, ownership, requiredDocument } from '../../contract/groups.ts'
import { type Infer, list, optional, string, struct, type TextShape } from '../../contract/shapes.ts'
import { S3Error } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { changeBucket, findBucket } from '../../objects/buckets.ts'
import type { RoutingRule, WebProtocol, WebsiteConfiguration } from '../../records/website.ts'
import { checkWebsite } from '../../rules/website.ts'
import { defineOperation } from '../context.ts'

const protocol: TextShape<WebProtocol> = {
  kind: 'text',
  parse: (raw) => {
    if (raw === 'http' || raw === 'https') return raw
    throw new S3Error('InvalidRequest', {
      message:
        'Invalid protocol, protocol can be http or https. If not defined the protocol will be selected automatically.',
    })
  },
  print: String,
}

/** Three digits. The rules check which codes are valid. */
const statusCode: TextShape<number> = {
  kind: 'text',
  parse: (raw, name) => {
    if (!/^\d{1,9}$/.test(raw.trim())) throw new S3Error('MalformedXML', { details: { Element: name } })
    return Number(raw.trim())
  },
  print: String,
}

const ruleShape = struct({
  Condition: optional(struct({ HttpErrorCodeReturnedEquals: optional(statusCode), KeyPrefixEquals: optional(string) })),
  Redirect: struct({
    HostName: optional(string),
    HttpRedirectCode: optional(statusCode),
    Protocol: optional(protocol),
    ReplaceKeyPrefixWith: optional(string),
    ReplaceKeyWith: optional(string),
  }),
})
const root = 'WebsiteConfiguration'
const shape = struct({
  RedirectAllRequestsTo: optional(struct({ HostName: string, Protocol: optional(protocol) })),
  IndexDocument: optional(struct({ Suffix: string })),
  ErrorDocument: optional(struct({ Key: string })),
  RoutingRules: optional(struct({ RoutingRule: list(ruleShape) })),
})

export const putBucketWebsiteOperation = defineOperation({
  name: 'PutBucketWebsite',
  method: 'PUT',
  target: 'bucket',
  query: ['website'],
  permission: 's3:PutBucketWebsite',
  summary: 'Serves the bucket as a website: sets its index and error documents, and its redirects.',
  input: { ...checksumsIn, ...ownership },
  inputBody: { ...requiredDocument(root, shape), bytesMax: limits.websiteDocumentBytesMax },
  output: {},
  errors: ['NoSuchBucket', 'MalformedXML', 'InvalidArgument', 'InvalidRequest', 'BadDigest', 'InvalidDigest'],

  async handle({ backend, scope }, { body }) {
    await changeBucket(backend, scope, (bucket) => ({ ...bucket, website: checkWebsite(toWebsite(body)) }))
    return {}
  },
})

export const getBucketWebsiteOperation = defineOperation({
  name: 'GetBucketWebsite',
  method: 'GET',
  target: 'bucket',
  query: ['website'],
  permission: 's3:GetBucketWebsite',
  summary: "Returns a bucket's website configuration, as it was set.",
  input: ownership,
  output: {},
  outputBody: { kind: 'xml', root, shape },
  errors: ['NoSuchBucket', 'NoSuchWebsiteConfiguration'],

  async handle({ backend, scope, bucket: name }) {
    const { website } = await findBucket(backend, scope)
    if (website === undefined) throw new S3Error('NoSuchWebsiteConfiguration', { details: { BucketName: name } })
    return { body: fromWebsite(website) }
  },
})

export const deleteBucketWebsiteOperation = defineOperation({
  name: 'DeleteBucketWebsite',
  method: 'DELETE',
  target: 'bucket',
  query: ['website'],
  permission: 's3:DeleteBucketWebsite',
  summary: "Removes a bucket's website configuration.",
  status: 204,
  input: ownership,
  output: {},
  errors: ['NoSuchBucket'],

  async handle({ backend, scope }) {
    await changeBucket(backend, scope, (bucket) => ({ ...bucket, website: undefined }))
    return {}
  },
})

type WebsiteElement = Infer<typeof shape>
type RuleElement = Infer<typeof ruleShape>

function toWebsite(element: WebsiteElement): WebsiteConfiguration {
  const { RedirectAllRequestsTo: all, RoutingRules } = element
  return {
    indexSuffix: element.IndexDocument?.Suffix,
    errorKey: element.ErrorDocument?.Key,
    routingRules: RoutingRules?.RoutingRule.map(toRule),
    redirectAllRequestsTo: all && { hostName: all.HostName, protocol: all.Protocol },
  }
}

/** Throws InvalidRequest for an empty condition. */
function toRule({ Condition, Redirect }: RuleElement): RoutingRule {
  const { HttpErrorCodeReturnedEquals, KeyPrefixEquals } = Condition ?? {}
  if (Condition !== undefined && HttpErrorCodeReturnedEquals === undefined && KeyPrefixEquals === undefined) {
    throw new S3Error('InvalidRequest', {
      message:
        "Condition cannot be empty. To redirect all requests without a condition, the condition element shouldn't be present.",
    })
  }
  return {
    keyPrefixEquals: KeyPrefixEquals,
    httpErrorCodeReturnedEquals: HttpErrorCodeReturnedEquals,
    redirect: {
      hostName: Redirect.HostName,
      protocol: Redirect.Protocol,
      httpRedirectCode: Redirect.HttpRedirectCode,
      replaceKeyWith: Redirect.ReplaceKeyWith,
      replaceKeyPrefixWith: Redirect.ReplaceKeyPrefixWith,
    },
  }
}

function fromWebsite({ indexSuffix, errorKey, routingRules, redirectAllRequestsTo: all }: WebsiteConfiguration) {
  return {
    RedirectAllRequestsTo: all && { HostName: all.hostName, Protocol: all.protocol },
    IndexDocument: indexSuffix === undefined ? undefined : { Suffix: indexSuffix },
    ErrorDocument: errorKey === undefined ? undefined : { Key: errorKey },
    RoutingRules: routingRules && { RoutingRule: routingRules.map(fromRule) },
  } satisfies WebsiteElement
}

function fromRule({ keyPrefixEquals, httpErrorCodeReturnedEquals, redirect }: RoutingRule): RuleElement {
  const isConditional = keyPrefixEquals !== undefined || httpErrorCodeReturnedEquals !== undefined
  return {
    Condition: isConditional
      ? { HttpErrorCodeReturnedEquals: httpErrorCodeReturnedEquals, KeyPrefixEquals: keyPrefixEquals }
      : undefined,
    Redirect: {
      HostName: redirect.hostName,
      HttpRedirectCode: redirect.httpRedirectCode,
      Protocol: redirect.protocol,
      ReplaceKeyPrefixWith: redirect.replaceKeyPrefixWith,
      ReplaceKeyWith: redirect.replaceKeyWith,
    },
  }
}
