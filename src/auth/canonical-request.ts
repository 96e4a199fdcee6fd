/**
 * The canonical form of a request, which client and server hash, as AWS Signature Version 4 defines it for S3. Pure; decides nothing about access.
 * Strings hold one byte a character (Latin-1), as Node gives request lines and headers.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
 */
import { S3Error } from '../errors.ts'
import { isCopyHeader } from '../replica-header.ts'

/** The canonical form of each byte. */
function encodings(plain: string): readonly string[] {
  return Array.from({ length: 256 }, (_, byte) => {
    const char = String.fromCharCode(byte)
    return plain.includes(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  })
}

const unreserved = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~'
const inPath = encodings(`${unreserved}/`)
const inQuery = encodings(unreserved)

const percent = 0x25
const plus = 0x2b
const space = 0x20

/** Value of a hexadecimal digit, by character code; -1 for any other character. */
const hexDigits = Int8Array.from({ length: 256 }, (_, code) =>
  '0123456789abcdef'.indexOf(String.fromCharCode(code).toLowerCase()),
)

/** Decodes once, then encodes each byte, so that all spellings of the same bytes become one. Throws InvalidURI. */
function reencode(raw: string, encoding: readonly string[], plusIsSpace: boolean): string {
  let at = 0
  while (at < raw.length && encoding[raw.charCodeAt(at)]?.length === 1) at++
  if (at === raw.length) return raw
  let canonical = raw.slice(0, at)
  while (at < raw.length) {
    let byte = raw.charCodeAt(at++)
    if (byte === percent) {
      byte = (hexDigit(raw, at) << 4) | hexDigit(raw, at + 1)
      at += 2
    } else if (byte === plus && plusIsSpace) byte = space
    canonical += encoding[byte] ?? unparsable()
  }
  return canonical
}

function hexDigit(raw: string, at: number): number {
  const digit = hexDigits[raw.charCodeAt(at)] ?? -1
  return digit < 0 ? unparsable() : digit
}

function unparsable(): never {
  throw new S3Error('InvalidURI', { message: "Couldn't parse the specified URI." })
}

/** Drops and merges no segments, because `//`, `.` and `..` are parts of keys. */
export function canonicalPath(rawPath: string): string {
  return rawPath === '' ? '/' : reencode(rawPath, inPath, false)
}

/** Name and value are in canonical encoding, which leaves letters, digits and `-._~` as they are. */
export interface QueryParameter {
  name: string
  /** The name in lower case, because clients differ in how they capitalise the parameters of a signature. */
  lowerName: string
  value: string
}

export function parseQuery(rawQuery: string): QueryParameter[] {
  if (rawQuery === '') return []
  const parameters: QueryParameter[] = []
  for (const part of rawQuery.split('&')) {
    if (part === '') continue
    const equals = part.indexOf('=')
    const name = reencode(equals < 0 ? part : part.slice(0, equals), inQuery, true)
    const value = equals < 0 ? '' : reencode(part.slice(equals + 1), inQuery, true)
    parameters.push({ name, lowerName: name.toLowerCase(), value })
  }
  return parameters
}

/** The plain text of a canonical name or value. */
export function decoded(canonical: string): string {
  return canonical.includes('%') ? Buffer.from(decodedBytes(canonical), 'latin1').toString() : canonical
}

/** The decoded bytes of a canonical name or value, one character each. */
export const decodedBytes = (canonical: string): string => canonical.replace(/%../g, decodedByte)

const decodedByte = (triplet: string): string => String.fromCharCode(Number.parseInt(triplet.slice(1), 16))

/** Orders parameters by name, then by value. */
export function canonicalQuery(parameters: readonly QueryParameter[]): string {
  if (parameters.length === 0) return ''
  const ordered = parameters.length === 1 ? parameters : [...parameters].sort(byNameThenValue)
  let query = ''
  for (const { name, value } of ordered) query += query === '' ? `${name}=${value}` : `&${name}=${value}`
  return query
}

function byNameThenValue(a: QueryParameter, b: QueryParameter): number {
  if (a.name !== b.name) return a.name < b.name ? -1 : 1
  if (a.value === b.value) return 0
  return a.value < b.value ? -1 : 1
}

/** Trims white space, and replaces each run of it by one space. */
export function canonicalHeaderValue(value: string): string {
  if (!value.includes(' ') && !value.includes('\t')) return value
  return value.replace(/[ \t]+/g, ' ').replace(/^ | $/g, '')
}

/** Headers by lower-case name. The values of a repeated header are joined by commas, as they are signed. */
export interface HeaderIndex {
  values: ReadonlyMap<string, string>
  /** Names of either dialect's headers. */
  vendorNames: readonly string[]
  /** Names of headers that were sent more than once. */
  repeated: readonly string[]
}

/** `rawHeaders`: names and values in turn. `names`: the same names in lower case. */
export function indexHeaders(rawHeaders: readonly string[], names: readonly string[]): HeaderIndex {
  const values = new Map<string, string>()
  const vendorNames: string[] = []
  const repeated: string[] = []
  for (let i = 0; i < names.length; i++) {
    const name = names[i] ?? ''
    const value = rawHeaders[2 * i + 1] ?? ''
    const before = values.get(name)
    if (before !== undefined) repeated.push(name)
    else if (isVendorName(name)) vendorNames.push(name)
    values.set(name, before === undefined ? value : `${before},${value}`)
  }
  return { values, vendorNames, repeated }
}

const isVendorName = (name: string): boolean =>
  name.startsWith('x-amz-') || name.startsWith('x-store-') || isCopyHeader(name)

export interface CanonicalParts {
  method: string
  rawPath: string
  /** The path as its signer wrote it, where the question is whether that is why a signature does not match. */
  writtenPath?: string
  /** Without the signature itself. */
  query: readonly QueryParameter[]
  headers: HeaderIndex
  /** Names in the client's order. */
  signedHeaders: readonly string[]
  /** The text that stands for the body: its hash, or the name of a way to send it. */
  payloadHash: string
}

/** `undefined` when a header listed as signed is missing: no signature can match then. */
export function canonicalRequest(parts: CanonicalParts): string | undefined {
  let headers = ''
  for (const name of parts.signedHeaders) {
    const value = parts.headers.values.get(name)
    if (value === undefined) return undefined
    headers += `${name}:${canonicalHeaderValue(value)}\n`
  }
  const path = parts.writtenPath ?? canonicalPath(parts.rawPath)
  return `${parts.method}\n${path}\n${canonicalQuery(parts.query)}\n${headers}\n${parts.signedHeaders.join(';')}\n${parts.payloadHash}`
}
