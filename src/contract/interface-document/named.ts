/** How the interface document's names are kept: by operation, message, flag and position. Contains no names itself. */

export type DocumentedFlag = 'supported' | 'partially-supported' | 'not-supported' | 'unflagged'

export type Message = 'request' | 'answer'

/**
 * Where the document has a name.
 * - address: in Host and path: `Bucket`, `Key`.
 * - header, vendor: plain headers, and those that carry the dialect's prefix (named without it).
 * - query: query parameters.
 * - element: by its path in an XML document, from the root: `Delete/Object/Key`.
 * - data: the bytes of an object or a part.
 */
export type DocumentedPlace = 'address' | 'header' | 'vendor' | 'query' | 'element' | 'data'

type Names = Partial<Record<DocumentedPlace, readonly string[]>>

/** What the document says of one operation. */
export type DocumentedOperation = Partial<Record<Message, Partial<Record<DocumentedFlag, Names>>>>

export type DocumentedOperations = Readonly<Record<string, DocumentedOperation>>

/** One operation's elements below one parent, as paths. */
export const within = (parent: string, ...names: readonly string[]): string[] =>
  names.map((name) => `${parent}/${name}`)

export const inBucket = { address: ['Bucket'] } as const
export const ofObject = { address: ['Bucket', 'Key'] } as const

export const checksumHeaders = ['checksum-crc32', 'checksum-crc32c', 'checksum-sha1', 'checksum-sha256'] as const
export const checksumElements = ['ChecksumCRC32', 'ChecksumCRC32C', 'ChecksumSHA1', 'ChecksumSHA256'] as const
export const customerKeyHeaders = [
  'server-side-encryption-customer-algorithm',
  'server-side-encryption-customer-key',
  'server-side-encryption-customer-key-MD5',
] as const
/** What answers say of a customer's key: everything but the key. */
export const customerKeyAnswers = [
  'server-side-encryption-customer-algorithm',
  'server-side-encryption-customer-key-MD5',
] as const
/** The document says `kms-key-id` where AWS says `aws-kms-key-id`. Declarations use AWS's name, and the `x-store-` dialect the document's. */
export const encryptionHeaders = [
  'server-side-encryption',
  'server-side-encryption-aws-kms-key-id',
  'server-side-encryption-bucket-key-enabled',
] as const
export const lockHeaders = ['object-lock-legal-hold', 'object-lock-mode', 'object-lock-retain-until-date'] as const
export const aclHeaders = ['acl', 'grant-full-control', 'grant-read', 'grant-read-acp', 'grant-write-acp'] as const
