/** Which headers an import copies from the read of an object to the write of its copy. Pure. */
import type { IncomingHttpHeaders } from 'node:http'
import { childText, elementsNamed, type XmlElement } from '../endpoint/xml.ts'
import { percentEncode } from '../percent-encode.ts'
import { originalTimeHeader } from '../replica-header.ts'
import type { ListedVersion } from './listing.ts'

const copiedAsTheyAre: ReadonlySet<string> = new Set([
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-type',
  'expires',
  'x-amz-storage-class',
  'x-amz-website-redirect-location',
])

/** The headers that describe an object in reads and in writes. Locks that have expired at `nowMs` are left out, because no write may ask for them. */
export function copiedHeaders(headers: IncomingHttpHeaders, nowMs: number): Record<string, string> {
  const found: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string' && (copiedAsTheyAre.has(name) || name.startsWith('x-amz-meta-'))) found[name] = value
  }
  return { ...found, ...copiedLocks(headers, nowMs) }
}

function copiedLocks(headers: IncomingHttpHeaders, nowMs: number): Record<string, string> {
  const hold = headers['x-amz-object-lock-legal-hold']
  const mode = headers['x-amz-object-lock-mode']
  const until = headers['x-amz-object-lock-retain-until-date']
  const isHeld = hold === 'ON'
  const isRetained = typeof mode === 'string' && typeof until === 'string' && Date.parse(until) > nowMs
  return {
    ...(isHeld ? { 'x-amz-object-lock-legal-hold': 'ON' } : {}),
    ...(isRetained ? { 'x-amz-object-lock-mode': mode, 'x-amz-object-lock-retain-until-date': until } : {}),
  }
}

const checksumHeader = /^x-amz-checksum-(?!type$|algorithm$|mode$)[a-z0-9]+$/

/** The checksum of the bytes that were read, which the written ones must match. Empty where it is composite: a digest of the parts' digests. */
export function copiedChecksum(headers: IncomingHttpHeaders): Record<string, string> {
  for (const [name, value] of Object.entries(headers)) {
    if (checksumHeader.test(name) && typeof value === 'string' && !value.includes('-')) return { [name]: value }
  }
  return {}
}

/**
 * The headers that ask an upload for the same kind of checksum. With a composite one, each part needs its own, which not every source gives. `whole` and `first` are
 * the headers of the object and of its first part.
 */
export function copiedChecksumKind(whole: IncomingHttpHeaders, first: IncomingHttpHeaders): Record<string, string> {
  const name = Object.keys(whole).find((header) => checksumHeader.test(header))
  const type = whole['x-amz-checksum-type']
  if (name === undefined || typeof type !== 'string') return {}
  if (type === 'COMPOSITE' && copiedChecksum(first)[name] === undefined) return {}
  return { 'x-amz-checksum-algorithm': name.slice('x-amz-checksum-'.length).toUpperCase(), 'x-amz-checksum-type': type }
}

/** The MD5 in base64, where the ETag is one. */
export function md5Of(etag: string, headers: IncomingHttpHeaders): string | undefined {
  const isDigest = /^[0-9a-f]{32}$/.test(etag) && !hasOpaqueEtag(headers)
  return isDigest ? Buffer.from(etag, 'hex').toString('base64') : undefined
}

/** Whether the object is encrypted so that its ETag is not a digest of its bytes. */
export function hasOpaqueEtag(headers: IncomingHttpHeaders): boolean {
  const encryption = headers['x-amz-server-side-encryption']
  return (
    (typeof encryption === 'string' && encryption.startsWith('aws:kms')) ||
    headers['x-amz-server-side-encryption-customer-algorithm'] !== undefined
  )
}

/** The tags of a Tagging document, as a header. */
export function taggingHeader(document: XmlElement): string {
  return elementsNamed(document, 'Tag')
    .map((tag) => `${percentEncode(childText(tag, 'Key') ?? '')}=${percentEncode(childText(tag, 'Value') ?? '')}`)
    .join('&')
}

/** Lets the copy have the time of its original. None where the source tells no time. */
export const originalTime = ({ modifiedMs }: Pick<ListedVersion, 'modifiedMs'>): Record<string, string> =>
  modifiedMs > 0 ? { [originalTimeHeader]: new Date(modifiedMs).toISOString() } : {}

export const etagOf = (headers: IncomingHttpHeaders): string => (headers.etag ?? '').replaceAll('"', '')
