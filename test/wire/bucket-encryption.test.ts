/** A bucket's default encryption: set, shown, removed, and applied to what says nothing of its own. */
import {
  DeleteBucketEncryptionCommand,
  GetBucketEncryptionCommand,
  PutBucketEncryptionCommand,
} from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import { md5Hex } from '../support/wire-checksums.ts'
import type { Wire } from '../support/wire-client.ts'
import { customerHeaders, kmsHeaders, storeHeaders, type VendorHeaders } from '../support/wire-encryption.ts'
import { kmsKeyHeader, type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import { otherKey } from '../support/wire-server.ts'
import { beginUpload, completeDocument, putPart } from '../support/wire-uploads.ts'

const query = { encryption: '' }
const Bucket = 'wire'

const rule = (algorithm: string, key = '', bucketKey = ''): string =>
  `<Rule><ApplyServerSideEncryptionByDefault><SSEAlgorithm>${algorithm}</SSEAlgorithm>${key}</ApplyServerSideEncryptionByDefault>${bucketKey}</Rule>`
const document = (...rules: string[]): string =>
  `<ServerSideEncryptionConfiguration>${rules.join('')}</ServerSideEncryptionConfiguration>`
const named = (key: string): string => `<KMSMasterKeyID>${key}</KMSMasterKeyID>`
const blocking = (type: string): string =>
  `<BlockedEncryptionTypes><EncryptionType>${type}</EncryptionType></BlockedEncryptionTypes>`
const bucketKey = '<BucketKeyEnabled>true</BucketKeyEnabled>'

const put = (body: string) => ({ method: 'PUT' as const, query, body })
const byDefault = (body: string) => async (wire: Wire) => {
  await wire.must(put(body))
}
const isUnset = async (wire: Wire): Promise<void> => {
  expect((await wire.ask({ method: 'GET', query })).status).toBe(404)
}

const invoices = document(rule('aws:kms', named('alias/invoices'), bucketKey))
const invoicesAnswer = {
  ...kmsHeaders(),
  '{{kmsKeyId}}': 'invoices',
  'server-side-encryption-bucket-key-enabled': 'true',
}

wireTests('PutBucketEncryption', [
  {
    it: 'sets SSE-S3',
    status: 200,
    ask: put(document(rule('AES256'))),
    sdk: sdk(PutBucketEncryptionCommand, {
      Bucket,
      ServerSideEncryptionConfiguration: {
        Rules: [{ ApplyServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } }],
      },
    }),
  },
  { it: 'sets SSE-KMS', status: 200, ask: put(document(rule('aws:kms'))) },
  {
    it: 'takes NONE for the types that are blocked',
    proves: [
      'element:ServerSideEncryptionConfiguration/Rule/BlockedEncryptionTypes',
      'element:ServerSideEncryptionConfiguration/Rule/BlockedEncryptionTypes/EncryptionType',
    ],
    status: 200,
    ask: put(document(rule('AES256', '', blocking('NONE')))),
  },
  {
    it: 'sets SSE-KMS with a key, under which objects are from then on',
    proves: [
      'ApplyServerSideEncryptionByDefault/SSEAlgorithm',
      'ApplyServerSideEncryptionByDefault/KMSMasterKeyID',
      'BucketKeyEnabled',
    ].map((name) => `element:ServerSideEncryptionConfiguration/Rule/${name}`),
    status: 200,
    ask: put(invoices),
    afterwards: async (wire) => {
      const { headers } = await wire.must({ method: 'PUT', key: 'k', body: 'x' })
      const names = [
        'server-side-encryption',
        kmsKeyHeader(wire.style.prefix),
        'server-side-encryption-bucket-key-enabled',
      ]
      expect(names.map((name) => headers.get(wire.style.prefix + name))).toEqual(['aws:kms', 'invoices', 'true'])
      expect(headers.get('etag')).not.toBe(`"${md5Hex('x')}"`)
    },
  },
  ...(
    [
      ['no rule', 'MalformedXML', document()],
      ['two rules', 'MalformedXML', document(rule('AES256'), rule('AES256'))],
      ['a rule that says nothing', 'MalformedXML', document('<Rule></Rule>')],
      ['a rule about a bucket key alone', 'MalformedXML', document(`<Rule>${bucketKey}</Rule>`)],
      ['an algorithm that nobody knows', 'MalformedXML', document(rule('AES128'))],
      ['to block SSE-C', 'NotImplemented', document(rule('AES256', '', blocking('SSE-C')))],
      ['two layers', 'NotImplemented', document(rule('aws:kms:dsse'))],
      ['a key of SSE-S3', 'InvalidArgument', document(rule('AES256', named('invoices')))],
      ['a key that is not there', 'KMS.NotFoundException', document(rule('aws:kms', named('nobody')))],
      ['the key of SSE-S3 for SSE-KMS', 'KMS.NotFoundException', document(rule('aws:kms', named('sse-s3')))],
      ['no document', 'MissingRequestBodyError', ''],
    ] as const
  ).map(
    ([what, code, body]): Row => ({ it: `refuses ${what}`, ...refusal(code), ask: put(body), afterwards: isUnset }),
  ),
  { it: 'is for the owner only', ...refusal('AccessDenied', {}), ask: { ...put(invoices), signedBy: otherKey } },
  { it: 'needs a bucket', withoutBucket: true, ...refusal('NoSuchBucket'), ask: put(invoices) },
])

wireTests('GetBucketEncryption', [
  {
    it: 'says that there is none',
    ...refusal('ServerSideEncryptionConfigurationNotFoundError', { BucketName: 'wire' }),
    ask: { method: 'GET', query },
    sdk: sdk(GetBucketEncryptionCommand, { Bucket }),
  },
  {
    it: 'shows what was set',
    status: 200,
    given: byDefault(invoices),
    ask: { method: 'GET', query },
    xml: {
      ServerSideEncryptionConfiguration: {
        Rule: {
          ApplyServerSideEncryptionByDefault: { SSEAlgorithm: 'aws:kms', KMSMasterKeyID: 'alias/invoices' },
          BucketKeyEnabled: 'true',
        },
      },
    },
    sdk: sdk(
      GetBucketEncryptionCommand,
      { Bucket },
      {
        ServerSideEncryptionConfiguration: {
          Rules: [
            {
              ApplyServerSideEncryptionByDefault: { SSEAlgorithm: 'aws:kms', KMSMasterKeyID: 'alias/invoices' },
              BucketKeyEnabled: true,
            },
          ],
        },
      },
    ),
  },
])

wireTests('DeleteBucketEncryption', [
  {
    it: 'removes it: what is encrypted stays so and is read, what comes is not',
    status: 204,
    given: async (wire) => {
      await byDefault(invoices)(wire)
      await wire.must({ method: 'PUT', key: 'before', body: 'x' })
    },
    ask: { method: 'DELETE', query },
    afterwards: async (wire) => {
      const { prefix } = wire.style
      const before = await wire.must({ method: 'GET', key: 'before' })
      expect([before.body.toString(), before.headers.get(`${prefix}server-side-encryption`)]).toEqual(['x', 'aws:kms'])
      const after = await wire.must({ method: 'PUT', key: 'after', body: 'x' })
      expect(after.headers.get(`${prefix}server-side-encryption`)).toBeUndefined()
      await isUnset(wire)
    },
    sdk: sdk(DeleteBucketEncryptionCommand, { Bucket }),
  },
  { it: 'removes none where there is none', status: 204, ask: { method: 'DELETE', query } },
])

/** [what the request says, the bucket's default, what is answered] */
const applied: readonly [says: VendorHeaders, standing: string, answered: VendorHeaders][] = [
  [{}, document(rule('AES256')), storeHeaders],
  [{}, document(rule('aws:kms')), { ...kmsHeaders(), '{{kmsKeyId}}': 'aws/s3' }],
  [{}, invoices, invoicesAnswer],
  [storeHeaders, invoices, storeHeaders],
  [kmsHeaders(), document(rule('AES256')), { ...kmsHeaders(), '{{kmsKeyId}}': 'aws/s3' }],
  [
    kmsHeaders(),
    invoices,
    { ...kmsHeaders(), '{{kmsKeyId}}': 'aws/s3', 'server-side-encryption-bucket-key-enabled': 'true' },
  ],
  [
    { ...kmsHeaders('invoices'), 'server-side-encryption-bucket-key-enabled': 'false' },
    invoices,
    { ...kmsHeaders(), '{{kmsKeyId}}': 'invoices' },
  ],
]

wireTests(
  'PutObject',
  applied.map(([says, standing, answered]) => ({
    it: `that says ${JSON.stringify(says)} where ${standing} stands`,
    status: 200,
    given: byDefault(standing),
    ask: { method: 'PUT', key: 'k', body: 'x', vendor: says },
    vendor: answered,
    afterwards: async (wire) => {
      expect((await wire.must({ method: 'GET', key: 'k' })).body.toString()).toBe('x')
    },
  })),
)

const prefixed = (wire: Wire, name: string): string => `${wire.style.prefix}${name}`

wireTests('HeadObject', [
  {
    it: 'says what the default made of an object, a copy and an upload',
    status: 200,
    given: async (wire) => {
      await wire.must({ method: 'PUT', key: 'plain', body: 'x' })
      await byDefault(document(rule('AES256')))(wire)
      await wire.must({ method: 'PUT', key: 'copy', vendor: { 'copy-source': '/wire/plain' } })
      const uploadId = await beginUpload(wire)
      const etag = await putPart(wire, uploadId, 1, 'x')
      await wire.must({ method: 'POST', key: 'big', query: { uploadId }, body: completeDocument([[1, etag]]) })
      await wire.must({ method: 'PUT', key: 'customer', body: 'x', vendor: customerHeaders('owner') })
    },
    ask: { method: 'HEAD', key: 'copy' },
    vendor: storeHeaders,
    afterwards: async (wire) => {
      const told = async (key: string, vendor = {}): Promise<string | undefined> =>
        (await wire.must({ method: 'HEAD', key, vendor })).headers.get(prefixed(wire, 'server-side-encryption'))
      expect(await told('big')).toBe('AES256')
      expect(await told('plain')).toBeUndefined()
      expect(await told('customer', customerHeaders('owner'))).toBeUndefined()
    },
  },
])
