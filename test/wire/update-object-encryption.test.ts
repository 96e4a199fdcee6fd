/** UpdateObjectEncryption over the wire: the key of an object comes under another key of the ring, and nothing else of it changes. */
import { UpdateObjectEncryptionCommand } from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import { referenceChecksum } from '../support/wire-checksums.ts'
import type { Wire } from '../support/wire-client.ts'
import { customerHeaders, kmsHeaders, storeHeaders, type VendorHeaders } from '../support/wire-encryption.ts'
import { type Facts, kmsKeyHeader, type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import { multipartObject, partOf } from '../support/wire-uploads.ts'
import { compliant, enabled, governed, putVersion, vault } from '../support/wire-versions.ts'

const sse = 'server-side-encryption'
const text = 'to be kept under another key'
const arnOf = (name: string): string => `arn:aws:kms:us-east-1:123456789012:key/${name}`
const invoices = arnOf('invoices')

const elements = (keyArn: string, bucketKey?: string): string =>
  `<SSE-KMS><KMSKeyArn>${keyArn}</KMSKeyArn>${bucketKey === undefined ? '' : `<BucketKeyEnabled>${bucketKey}</BucketKeyEnabled>`}</SSE-KMS>`

const ask = (inner: string, query: Record<string, string> = {}) =>
  ({
    method: 'PUT',
    key: 'a',
    query: { encryption: '', ...query },
    body: `<ObjectEncryption>${inner}</ObjectEncryption>`,
  }) as const

const stored =
  (vendor: VendorHeaders) =>
  async (wire: Wire): Promise<Facts> => {
    const sum = { 'checksum-sha256': referenceChecksum('SHA256', text) }
    await wire.must({ method: 'PUT', key: 'a', body: text, vendor: { ...vendor, ...sum, 'meta-colour': 'red' } })
    const { headers } = await wire.must({ method: 'HEAD', key: 'a' })
    return { etag: headers.get('etag') ?? '', lastModified: headers.get('last-modified') ?? '' }
  }

/** How the object is encrypted: method, key, bucket key. */
async function told(wire: Wire, key = 'a', versionId?: string): Promise<(string | undefined)[]> {
  const query: Record<string, string> = versionId === undefined ? {} : { versionId }
  const { headers } = await wire.must({ method: 'HEAD', key, query })
  const { prefix } = wire.style
  return [sse, kmsKeyHeader(prefix), `${sse}-bucket-key-enabled`].map((name) => headers.get(prefix + name))
}

const isUnder =
  (key: string, bucketKey?: string): Row['afterwards'] =>
  async (wire, _, { etag, lastModified }) => {
    expect(await told(wire)).toEqual(['aws:kms', key, bucketKey])
    const reply = await wire.must({ method: 'GET', key: 'a', vendor: { 'checksum-mode': 'ENABLED' } })
    const { prefix } = wire.style
    expect(reply.body.toString()).toBe(text)
    expect([reply.headers.get('etag'), reply.headers.get('last-modified')]).toEqual([etag, lastModified])
    expect(reply.headers.get(`${prefix}meta-colour`)).toBe('red')
    expect(reply.headers.get(`${prefix}checksum-sha256`)).toBe(referenceChecksum('SHA256', text))
  }

/** The object is as it was, and the error says why. */
const isAsItWas =
  (method: string | undefined, why = /./): Row['afterwards'] =>
  async (wire, { body }) => {
    expect((await told(wire))[0]).toBe(method)
    expect(body.toString()).toMatch(why)
  }

const input = (KMSKeyArn: string, BucketKeyEnabled?: boolean) => ({
  Bucket: 'wire',
  Key: 'a',
  ObjectEncryption: { SSEKMS: { KMSKeyArn, ...(BucketKeyEnabled === undefined ? {} : { BucketKeyEnabled }) } },
})

const changes: Row[] = [
  {
    it: 'puts an object of SSE-S3 under a key of SSE-KMS',
    proves: [
      'element:ObjectEncryption',
      'element:ObjectEncryption/SSE-KMS',
      'element:ObjectEncryption/SSE-KMS/KMSKeyArn',
    ],
    status: 200,
    given: stored(storeHeaders),
    ask: ask(elements(invoices)),
    vendor: {},
    afterwards: isUnder('invoices'),
    sdk: sdk(UpdateObjectEncryptionCommand, input(invoices)),
  },
  {
    it: 'changes the key of SSE-KMS, and turns its bucket key on',
    proves: ['element:ObjectEncryption/SSE-KMS/BucketKeyEnabled'],
    status: 200,
    given: stored(kmsHeaders()),
    ask: ask(elements(invoices, 'true')),
    afterwards: isUnder('invoices', 'true'),
    sdk: sdk(UpdateObjectEncryptionCommand, input(invoices, true)),
  },
  {
    it: 'turns the bucket key off',
    proves: ['element:ObjectEncryption/SSE-KMS/BucketKeyEnabled'],
    status: 200,
    given: stored({ ...kmsHeaders('invoices'), [`${sse}-bucket-key-enabled`]: 'true' }),
    ask: ask(elements(invoices, 'false')),
    afterwards: isUnder('invoices'),
  },
  {
    it: 'changes an object of parts',
    status: 200,
    given: (wire) => multipartObject(wire, [partOf(1), 'end'], storeHeaders),
    ask: { ...ask(elements(invoices)), key: 'big' },
    afterwards: async (wire) => {
      expect(await told(wire, 'big')).toEqual(['aws:kms', 'invoices', undefined])
      const { body } = await wire.must({ method: 'GET', key: 'big' })
      expect(body.equals(Buffer.concat([partOf(1), Buffer.from('end')]))).toBe(true)
    },
  },
  {
    it: 'changes the version named, and no other',
    proves: ['query:versionId'],
    status: 200,
    given: async (wire) => {
      await enabled(wire)
      const first = await putVersion(wire, 'a', 'one', storeHeaders)
      return { first, second: await putVersion(wire, 'a', 'two', storeHeaders) }
    },
    ask: ask(elements(invoices), { versionId: '{{first}}' }),
    afterwards: async (wire, _, { first, second }) => {
      expect((await told(wire, 'a', first))[1]).toBe('invoices')
      expect((await told(wire, 'a', second))[0]).toBe('AES256')
      const { body } = await wire.must({ method: 'GET', key: 'a', query: { versionId: first ?? '' } })
      expect(body.toString()).toBe('one')
    },
  },
]

const refusals: Row[] = [
  {
    it: 'refuses an object that is not encrypted',
    ...refusal('InvalidRequest', {}),
    given: stored({}),
    ask: ask(elements(invoices)),
    afterwards: isAsItWas(undefined, /unencrypted source objects/),
    sdk: sdk(UpdateObjectEncryptionCommand, input(invoices)),
  },
  {
    it: 'refuses an object whose key the client holds',
    ...refusal('InvalidRequest', {}),
    given: async (wire) => {
      await wire.must({ method: 'PUT', key: 'a', body: text, vendor: customerHeaders('main') })
    },
    ask: ask(elements(invoices)),
    afterwards: async (wire, { body }) => {
      expect(body.toString()).toContain('DSSE-KMS or SSE-C')
      const reply = await wire.must({ method: 'GET', key: 'a', vendor: customerHeaders('main') })
      expect(reply.body.toString()).toBe(text)
    },
  },
  ...(
    [
      ['a key that is not there', 'KMS.NotFoundException', elements(arnOf('none')), { KeyId: 'none' }, /./],
      ['the key of SSE-S3', 'KMS.NotFoundException', elements(arnOf('sse-s3')), { KeyId: expect.any(String) }, /./],
      ['the name of a key', 'InvalidRequest', elements('invoices'), {}, /valid .* \(ARN\)/],
      ['an alias', 'InvalidRequest', elements('arn:aws:kms:us-east-1:123456789012:alias/invoices'), {}, /ARN/],
      ['no key', 'InvalidRequest', '<SSE-KMS/>', {}, /require an .* \(ARN\)/],
      ['a bucket key that is neither on nor off', 'InvalidRequest', elements(invoices, 'TRUE?'), {}, /true or false/],
      ['nothing', 'InvalidRequest', '', {}, /SSEKMS/],
      ['SSE-S3', 'MalformedXML', '<SSE-S3/>', { Element: 'SSE-S3' }, /./],
    ] as const
  ).map(
    ([what, code, inner, details, why]): Row => ({
      it: `refuses ${what}`,
      ...refusal(code, details),
      given: stored(storeHeaders),
      ask: ask(inner),
      afterwards: isAsItWas('AES256', why),
    }),
  ),
  ...(
    [
      ['a legal hold', { 'object-lock-legal-hold': 'ON' }],
      ['GOVERNANCE', governed],
      ['COMPLIANCE', compliant],
    ] as const
  ).map(
    ([what, lock]): Row => ({
      it: `refuses a version under ${what}`,
      ...refusal('AccessDenied', {}),
      given: async (wire) => {
        await vault(wire)
        await putVersion(wire, 'a', text, { ...storeHeaders, ...lock })
      },
      ask: ask(elements(invoices)),
      afterwards: isAsItWas('AES256'),
    }),
  ),
  ...[
    ['server-side-encryption', 'aws:kms'],
    ['server-side-encryption-aws-kms-key-id', invoices],
  ].map(
    ([key, value]): Row => ({
      it: `is denied by a policy under s3:x-amz-${key}`,
      ...refusal('AccessDenied', {}),
      given: async (wire) => {
        const Condition = { StringEquals: { [`s3:x-amz-${key}`]: value } }
        const denied = { Effect: 'Deny', Action: 's3:UpdateObjectEncryption', Condition }
        const Statement = [{ ...denied, Principal: '*', Resource: 'arn:aws:s3:::wire/*' }]
        const body = JSON.stringify({ Version: '2012-10-17', Statement })
        const facts = await stored(storeHeaders)(wire)
        await wire.must({ method: 'PUT', query: { policy: '' }, body })
        return facts
      },
      ask: ask(elements(invoices)),
      afterwards: isAsItWas('AES256'),
    }),
  ),
  {
    it: 'answers NoSuchKey where there is nothing',
    ...refusal('NoSuchKey', { Key: 'a' }),
    ask: ask(elements(invoices)),
    sdk: sdk(UpdateObjectEncryptionCommand, input(invoices)),
  },
]

wireTests('UpdateObjectEncryption', [...changes, ...refusals])
