/** Writing what is to be encrypted: what is answered, what is verified, and what is refused. */
import { PutObjectCommand } from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import { md5Base64, md5Hex, referenceChecksum } from '../support/wire-checksums.ts'
import type { Wire } from '../support/wire-client.ts'
import {
  contextOf,
  customerHeaders,
  customerMode,
  encryptedModes,
  kmsHeaders,
  quiet,
  sealedBody,
  storeHeaders,
  thirdsOfCustomerKey,
  type VendorHeaders,
  type WireMode,
  withCustomer,
  wrongCustomerKeys,
} from '../support/wire-encryption.ts'
import { type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'

const key = 'sealed'
const put = (vendor: VendorHeaders, headers: Record<string, string> = {}) => ({
  ask: { method: 'PUT' as const, key, body: sealedBody, vendor, headers },
})
const isNotThere = async (wire: Wire): Promise<void> => {
  expect((await wire.ask({ method: 'HEAD', key })).status).toBe(404)
}

function rowsOf({ name, write, read, answer, answerOfWrite, md5Etag }: WireMode): Row[] {
  const isThere = async (wire: Wire): Promise<void> => {
    expect((await wire.must({ method: 'GET', key, vendor: read })).body.equals(sealedBody)).toBe(true)
  }
  const vendor = { ...answer, ...answerOfWrite }
  const sum = { 'checksum-crc32': referenceChecksum('CRC32', sealedBody) }
  return [
    {
      it: `answers how it is encrypted: ${name}`,
      status: 200,
      ...put(write),
      headers: { ETag: md5Etag ? `"${md5Hex(sealedBody)}"` : expect.stringMatching(/^"[0-9a-f]{32}"$/) },
      vendor,
      afterwards: async (wire, reply) => {
        if (!md5Etag) expect(reply.headers.get('etag')).not.toContain(md5Hex(sealedBody))
        await isThere(wire)
      },
    },
    {
      it: `verifies digests of the plaintext: ${name}`,
      status: 200,
      ...put({ ...write, ...sum }, { 'Content-MD5': md5Base64(sealedBody) }),
      vendor: { ...vendor, ...sum, 'checksum-type': 'FULL_OBJECT' },
      afterwards: isThere,
    },
    {
      it: `keeps nothing whose MD5 is wrong: ${name}`,
      ...refusal('BadDigest'),
      ...put(write, { 'Content-MD5': md5Base64('another') }),
      afterwards: isNotThere,
    },
    {
      it: `keeps nothing whose checksum is wrong: ${name}`,
      ...refusal('BadDigest'),
      ...put({ ...write, 'checksum-crc32': referenceChecksum('CRC32', 'another') }),
      afterwards: isNotThere,
    },
    {
      it: `takes a body in signed chunks: ${name}`,
      status: 200,
      ask: { method: 'PUT', key, vendor: write, payload: { mode: 'signed', chunks: [sealedBody] } },
      vendor,
      afterwards: isThere,
    },
  ]
}

const names: Row[] = [
  'invoices',
  'key/invoices',
  'alias/invoices',
  'arn:aws:kms:us-east-1:123456789012:key/invoices',
  'arn:aws:kms:us-east-1:123456789012:alias/invoices',
].map((name) => ({
  it: `knows a key as ${name}`,
  status: 200,
  ...put({ 'server-side-encryption': 'aws:kms', '{{kmsKeyId}}': name }),
  vendor: { ...kmsHeaders(), '{{kmsKeyId}}': 'invoices' },
  sdk: sdk(
    PutObjectCommand,
    { Bucket: 'wire', Key: key, Body: 'x', ServerSideEncryption: 'aws:kms', SSEKMSKeyId: name },
    { ServerSideEncryption: 'aws:kms', SSEKMSKeyId: 'invoices' },
  ),
}))

const kmsOnly = {
  'server-side-encryption-aws-kms-key-id': 'invoices',
  'server-side-encryption-context': contextOf({ a: 'b' }),
  'server-side-encryption-bucket-key-enabled': 'true',
}

const refused = (vendor: VendorHeaders) => ({ ...put(vendor), afterwards: isNotThere })

const contexts: readonly [what: string, value: string][] = [
  ['is no base64', '***'],
  ['is not JSON', Buffer.from('{').toString('base64')],
  ['is a list', Buffer.from('[]').toString('base64')],
  ['is null', Buffer.from('null').toString('base64')],
  ['holds a number', Buffer.from('{"a":1}').toString('base64')],
]

const refusals: Row[] = [
  ...['nobody', 'alias/nobody', 'arn:aws:kms:us-east-1:1:key/nobody', 'sse-s3', 'alias/sse-s3'].map((name) => ({
    it: `knows no key ${name}`,
    ...refusal('KMS.NotFoundException', { KeyId: name.replace(/^.*\//, '') }),
    message: `Invalid keyId '${name}'`,
    ...refused(kmsHeaders(name)),
  })),
  ...contexts.map(([what, value]) => ({
    it: `refuses a context that ${what}`,
    ...refusal('InvalidArgument', {
      ArgumentName: '{{prefix}}server-side-encryption-context',
      ArgumentValue: value,
    }),
    ...refused({ ...kmsHeaders(), 'server-side-encryption-context': value }),
  })),
  ...Object.entries(kmsOnly).flatMap(([name, value]) =>
    [{}, storeHeaders, customerHeaders('owner')].map((beside) => ({
      it: `refuses ${name} beside ${Object.keys(beside).join(', ') || 'nothing'}`,
      ...refusal('InvalidArgument', {}),
      ...refused({ ...beside, [name]: value }),
    })),
  ),
  ...[storeHeaders, kmsHeaders()].map((beside) => ({
    it: `refuses a customer's key beside ${JSON.stringify(beside)}`,
    ...refusal('InvalidArgument', {}),
    ...refused({ ...beside, ...customerHeaders('owner') }),
  })),
  ...wrongCustomerKeys.map(([what, code, change]) => ({
    it: `refuses ${what}`,
    ...refusal(code, {}),
    ...refused(withCustomer(change)),
    ...(code === 'InvalidEncryptionAlgorithmError'
      ? { message: 'The Encryption request you specified is not valid. Supported value: AES256.' }
      : {}),
  })),
  ...thirdsOfCustomerKey(refused),
  ...['aes256', 'AES-256', 'AWS:KMS', 'none', ''].map((method) => ({
    it: `refuses the method ${JSON.stringify(method)}`,
    ...refusal('InvalidArgument', {
      ArgumentName: '{{prefix}}server-side-encryption',
      ArgumentValue: method,
    }),
    ...refused({ 'server-side-encryption': method }),
  })),
  ...['aws:kms:dsse', 'aws:fsx'].map((method) => ({
    it: `refuses ${method} by name`,
    ...refusal('NotImplemented', { NotImplemented: `{{prefix}}server-side-encryption ${method}` }),
    ...refused({ 'server-side-encryption': method }),
  })),
]

const urls: Row[] = [
  {
    it: 'takes all of it from a URL',
    status: 200,
    ask: { method: 'PUT', key, presigned: true, body: sealedBody, vendor: customerMode.write },
    vendor: customerMode.answer,
    afterwards: async (wire) => {
      const url = { method: 'GET', key, presigned: true } as const
      expect((await wire.must({ ...url, vendor: customerMode.read })).body.equals(sealedBody)).toBe(true)
      expect((await wire.ask({ ...url, vendor: customerHeaders('other') })).status).toBe(403)
      expect((await wire.ask(url)).status).toBe(400)
    },
  },
]

wireTests('PutObject', quiet([...encryptedModes.flatMap(rowsOf), ...names, ...refusals, ...urls]))
