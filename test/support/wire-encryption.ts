/** Headers and keys of encryption at rest, as clients send them. By vendor name, without prefix. */
import { createHash } from 'node:crypto'
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
export const customerAnswer = (owner: string): VendorHeaders => ({
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
