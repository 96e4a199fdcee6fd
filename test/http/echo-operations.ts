/** Operations for tests of the http layer: each answers with what it was given. */
import { bytesSource } from '../../src/byte-source.ts'
import {
  header,
  outHeader,
  outVendor,
  outVendorPrefix,
  query,
  vendor,
  vendorPrefix,
} from '../../src/contract/fields.ts'
import { list, optional, string, struct } from '../../src/contract/shapes.ts'
import { integer, text } from '../../src/contract/values.ts'
import { defineOperation } from '../../src/operations/context.ts'

const named = struct({ Bucket: optional(string), Key: optional(string), Say: optional(string) })
const errors = [] as const

export const putObject = defineOperation({
  name: 'PutObject',
  method: 'PUT',
  target: 'object',
  permission: 's3:PutObject',
  summary: '',
  input: { contentType: header('Content-Type', text), metadata: vendorPrefix('meta-') },
  inputBody: { kind: 'stream' },
  output: {
    type: outHeader('Echo-Type'),
    size: outHeader('Echo-Size'),
    metadata: outVendorPrefix('meta-'),
    trailer: outVendor('checksum-crc32'),
  },
  outputBody: { kind: 'stream' },
  errors,
  async handle(_context, { body, contentType, metadata }) {
    const chunks: Buffer[] = []
    await body.drain((chunk) => {
      chunks.push(Buffer.from(chunk))
    })
    return {
      type: contentType,
      size: String(body.size),
      metadata,
      trailer: body.trailer('checksum-crc32'),
      body: bytesSource(Buffer.concat(chunks)),
    }
  },
})

const copyObject = defineOperation({
  name: 'CopyObject',
  method: 'PUT',
  target: 'object',
  vendorHeaders: ['copy-source'],
  permission: 's3:PutObject',
  summary: '',
  input: { source: vendor('copy-source', text) },
  output: {},
  outputBody: { kind: 'xml', root: 'CopyObjectResult', shape: named },
  errors,
  handle: async (_context, { source }) => ({ body: { Say: source } }),
})

export const getObject = defineOperation({
  name: 'GetObject',
  method: 'GET',
  target: 'object',
  permission: 's3:GetObject',
  summary: '',
  input: {
    partNumber: query('partNumber', integer({ min: 1, max: 10_000 })),
    responseContentType: query('response-content-type', text),
    checksumMode: vendor('checksum-mode', text),
    ifMatch: header('If-Match', text),
    range: header('Range', text),
  },
  output: {
    contentType: outHeader('Content-Type'),
    mode: outVendor('mode'),
    ifMatch: outHeader('Echo-If-Match'),
  },
  outputBody: { kind: 'stream' },
  errors,
  handle: async ({ bucket, key }, input) => ({
    contentType: input.responseContentType ?? 'binary/octet-stream',
    mode: input.checksumMode,
    ifMatch: input.ifMatch,
    body: bytesSource(Buffer.from(JSON.stringify({ bucket, key }))),
  }),
})

const headObject = defineOperation({
  name: 'HeadObject',
  method: 'HEAD',
  target: 'object',
  permission: 's3:GetObject',
  summary: '',
  input: {},
  output: { contentLength: outHeader('Content-Length') },
  errors,
  handle: async () => ({ contentLength: '1234' }),
})

const listBuckets = defineOperation({
  name: 'ListBuckets',
  method: 'GET',
  target: 'service',
  permission: 's3:ListAllMyBuckets',
  summary: '',
  input: {},
  output: {},
  outputBody: { kind: 'xml', root: 'ListAllMyBucketsResult', shape: named },
  errors,
  handle: async () => ({ body: { Say: 'buckets' } }),
})

function listing(name: string, route: readonly string[]) {
  return defineOperation({
    name,
    method: 'GET',
    target: 'bucket',
    query: route,
    permission: 's3:ListBucket',
    summary: '',
    input: { prefix: query('prefix', text) },
    output: { operation: outHeader('Operation') },
    outputBody: { kind: 'xml', root: 'ListBucketResult', shape: named },
    errors,
    handle: async ({ bucket }, { prefix }) => ({ operation: name, body: { Bucket: bucket, Say: prefix } }),
  })
}

export const listObjects = listing('ListObjects', [])
const listObjectsV2 = listing('ListObjectsV2', ['list-type=2'])
const getBucketLocation = listing('GetBucketLocation', ['location'])
const getBucketAcl = listing('GetBucketAcl', ['acl'])
const listConfigurations = listing('ListBucketMetricsConfigurations', ['metrics'])
const getConfiguration = listing('GetBucketMetricsConfiguration', ['metrics', 'id'])

const createBucket = defineOperation({
  name: 'CreateBucket',
  method: 'PUT',
  target: 'bucket',
  permission: 's3:CreateBucket',
  summary: '',
  input: {},
  inputBody: {
    kind: 'xml',
    root: 'CreateBucketConfiguration',
    shape: struct({ LocationConstraint: optional(string) }),
    required: false,
    digestRequired: false,
    bytesMax: 1024,
  },
  output: { location: outHeader('Location'), said: outHeader('Said') },
  errors,
  handle: async ({ bucket }, { body }) => ({ location: `/${bucket}`, said: body?.LocationConstraint }),
})

const deleteObjects = defineOperation({
  name: 'DeleteObjects',
  method: 'POST',
  target: 'bucket',
  query: ['delete'],
  permission: 's3:DeleteObject',
  summary: '',
  input: {},
  inputBody: {
    kind: 'xml',
    root: 'Delete',
    shape: struct({ Object: list(struct({ Key: string })), Quiet: optional(string) }),
    required: true,
    digestRequired: true,
    bytesMax: 64 * 1024,
  },
  output: {},
  outputBody: { kind: 'xml', root: 'DeleteResult', shape: struct({ Deleted: list(struct({ Key: string })) }) },
  errors,
  handle: async (_context, { body }) => ({ body: { Deleted: body.Object } }),
})

const deleteObject = defineOperation({
  name: 'DeleteObject',
  method: 'DELETE',
  target: 'object',
  permission: 's3:DeleteObject',
  summary: '',
  status: 204,
  input: {},
  output: {},
  errors,
  handle: async () => ({}),
})

const uploadPart = defineOperation({
  name: 'UploadPart',
  method: 'PUT',
  target: 'object',
  query: ['partNumber', 'uploadId'],
  permission: 's3:PutObject',
  summary: '',
  input: { partNumber: query('partNumber', integer({ min: 1, max: 10_000 })) },
  output: { operation: outHeader('Operation') },
  errors,
  handle: async () => ({ operation: 'UploadPart' }),
})

/** Known and refused by name. */
const putObjectAcl = {
  ...defineOperation({
    name: 'PutObjectAcl',
    method: 'PUT',
    target: 'object',
    query: ['acl'],
    permission: 's3:PutObjectAcl',
    summary: '',
    input: {},
    output: {},
    errors,
    handle: async () => ({}),
  }),
  implemented: false,
}

export const echoOperations = [
  putObject,
  copyObject,
  getObject,
  headObject,
  listBuckets,
  listObjects,
  listObjectsV2,
  getBucketLocation,
  getBucketAcl,
  listConfigurations,
  getConfiguration,
  createBucket,
  deleteObjects,
  deleteObject,
  uploadPart,
  putObjectAcl,
]
