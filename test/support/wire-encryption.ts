/** Headers and keys of encryption at rest, as clients send them. By vendor name, without prefix. */
import { createHash } from 'node:crypto'
import { expect } from 'vitest'
import type { ErrorCode } from '../../src/errors.ts'
import { md5Base64 } from './wire-checksums.ts'
import { type Row, refusal } from './wire-rows.ts'

/** A key that a client holds. The same in every run, so that tests can look for it where it must not be. */
export const secretOf = (owner: string): Buffer => createHash('sha256').update(`key of ${owner}`).digest()

export type VendorHeaders = Record<string, string>

export const customerHeaders = (owner: string, prefix = ''): VendorHeaders => ({
  [`${prefix}server-side-encryption-customer-algorithm`]: 'AES256',
  [`${prefix}server-side-encryption-customer-key`]: secretOf(owner).toString('base64'),
  [`${prefix}server-side-encryption-customer-key-MD5`]: md5Base64(secretOf(owner)),
})

/** The same, for the source of a copy. */
export const sourceHeaders = (owner: string): VendorHeaders => customerHeaders(owner, 'copy-source-')

/** What an answer says of an object that is under a customer's key. */
const customerAnswer = (owner: string): VendorHeaders => ({
  'server-side-encryption-customer-algorithm': 'AES256',
  'server-side-encryption-customer-key-md5': md5Base64(secretOf(owner)),
})

export const storeHeaders: VendorHeaders = { 'server-side-encryption': 'AES256' }

export const kmsHeaders = (key?: string): VendorHeaders => ({
  'server-side-encryption': 'aws:kms',
  ...(key === undefined ? {} : { 'server-side-encryption-aws-kms-key-id': key }),
})

export const contextOf = (context: Record<string, string>): string =>
  Buffer.from(JSON.stringify(context)).toString('base64')

/** Each third of a customer's key, without the others: what it was meant to open or close can't be known. */
export function thirdsOfCustomerKey(row: (vendor: VendorHeaders) => Omit<Row, 'it' | 'status'>, prefix = ''): Row[] {
  return Object.entries(customerHeaders('half', prefix)).map(([name, value]) => ({
    it: `refuses ${name} without the other two`,
    ...refusal('InvalidArgument', {}),
    ...row({ [name]: value }),
  }))
}

/** A way of being encrypted, as a client asks for it and as it is answered. */
export interface WireMode {
  name: string
  /** Headers of PutObject, CopyObject and CreateMultipartUpload. */
  write: VendorHeaders
  /** Headers of reads, and of an upload's parts. */
  read: VendorHeaders
  /** What is answered to both, with `{{kmsKeyId}}` in it. */
  answer: VendorHeaders
  /** What is answered to a write beside that. */
  answerOfWrite: VendorHeaders
  /** Whether the entity tag is the MD5 of the bytes. */
  md5Etag: boolean
}

const context = contextOf({ team: 'a' })

export const unencrypted: WireMode = {
  name: 'unencrypted',
  write: {},
  read: {},
  answer: {},
  answerOfWrite: {},
  md5Etag: true,
}

export const customerMode: WireMode = {
  name: 'SSE-C',
  write: customerHeaders('owner'),
  read: customerHeaders('owner'),
  answer: customerAnswer('owner'),
  answerOfWrite: {},
  md5Etag: false,
}

export const encryptedModes: readonly WireMode[] = [
  { ...unencrypted, name: 'SSE-S3', write: storeHeaders, answer: storeHeaders },
  {
    ...unencrypted,
    name: 'SSE-KMS',
    write: kmsHeaders(),
    answer: { ...kmsHeaders(), '{{kmsKeyId}}': 'aws/s3' },
    md5Etag: false,
  },
  {
    name: 'SSE-KMS with a key, a context and a bucket key',
    write: {
      ...kmsHeaders('invoices'),
      'server-side-encryption-context': context,
      'server-side-encryption-bucket-key-enabled': 'true',
    },
    read: {},
    answer: {
      ...kmsHeaders(),
      '{{kmsKeyId}}': 'invoices',
      'server-side-encryption-bucket-key-enabled': 'true',
    },
    answerOfWrite: { 'server-side-encryption-context': context },
    md5Etag: false,
  },
  customerMode,
]

export const wireModes: readonly WireMode[] = [unencrypted, ...encryptedModes]

/** More than one segment, and not a whole number of them. */
export const sealedBody = Buffer.alloc(200_000, createHash('sha512').update('body').digest().subarray(0, 61))

/** What a wrong key is answered with, wherever a customer's key comes. */
export const wrongCustomerKeys: readonly [what: string, code: ErrorCode, change: VendorHeaders][] = [
  ['an algorithm that nobody knows', 'InvalidEncryptionAlgorithmError', { algorithm: 'AES128' }],
  ['a key that is no base64', 'InvalidArgument', { key: '****' }],
  ['a key of 31 bytes', 'InvalidArgument', { key: Buffer.alloc(31, 1).toString('base64') }],
  ['a key of 33 bytes', 'InvalidArgument', { key: Buffer.alloc(33, 1).toString('base64') }],
  ["an MD5 that is another key's", 'InvalidArgument', { 'key-MD5': md5Base64(secretOf('somebody else')) }],
  ['an MD5 that is none', 'InvalidArgument', { 'key-MD5': 'x' }],
]

export const withCustomer = (change: VendorHeaders, prefix = ''): VendorHeaders => ({
  ...customerHeaders('owner', prefix),
  ...Object.fromEntries(
    Object.entries(change).map(([part, value]) => [`${prefix}server-side-encryption-customer-${part}`, value]),
  ),
})

/** No answer may hold a key. */
export const quiet = (rows: readonly Row[]): Row[] =>
  rows.map((row) => ({
    ...row,
    afterwards: async (wire, reply, facts) => {
      const told = `${reply.body.toString('latin1')}${[...reply.headers].join('\n')}`
      for (const owner of ['owner', 'other', 'half']) {
        const secret = secretOf(owner).toString('base64')
        for (const form of [secret, encodeURIComponent(secret)]) expect(told).not.toContain(form)
      }
      await row.afterwards?.(wire, reply, facts)
    },
  }))
