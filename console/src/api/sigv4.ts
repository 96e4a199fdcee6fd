/** Signs requests to the S3 port with Signature Version 4, in headers and in the query. Pure: keys and time come in. */
import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'

/** Web Crypto exists only on pages that came over TLS or from this machine. A console may come another way. */
const digest = (data: Uint8Array): string => bytesToHex(sha256(data))

/** In the form of `x-amz-checksum-sha256`. */
export const checksumOf = (data: Uint8Array): string => btoa(String.fromCharCode(...sha256(data)))

export interface Credentials {
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string
}

export interface Scope {
  credentials: Credentials
  region: string
  now: Date
}

export interface SignableRequest {
  method: string
  url: URL
  headers: Readonly<Record<string, string>>
  /** Absent: the body is not part of the signature. */
  body?: Uint8Array
}

const unsigned = 'UNSIGNED-PAYLOAD'
const algorithm = 'AWS4-HMAC-SHA256'

/** The headers to send: those given, and those that sign them. */
export function signHeaders(request: SignableRequest, scope: Scope): Record<string, string> {
  const { credentials, now } = scope
  const time = stamp(now)
  const payload = request.body === undefined ? unsigned : digest(request.body)
  const sent: Record<string, string> = { ...request.headers, 'x-amz-content-sha256': payload, 'x-amz-date': time }
  if (credentials.sessionToken !== undefined) sent['x-amz-security-token'] = credentials.sessionToken
  const signed = { ...sent, host: request.url.host }
  const signature = sign({ ...request, headers: signed }, scope, payload)
  const names = signedNames(signed).join(';')
  return {
    ...sent,
    authorization: `${algorithm} Credential=${credentials.accessKeyId}/${scopeOf(scope)}, SignedHeaders=${names}, Signature=${signature}`,
  }
}

/** A URL that anybody can use until it expires. */
export function presign(method: string, url: URL, scope: Scope, expiresSeconds: number): URL {
  const { credentials, now } = scope
  const result = new URL(url)
  const query: [string, string | undefined][] = [
    ['X-Amz-Algorithm', algorithm],
    ['X-Amz-Credential', `${credentials.accessKeyId}/${scopeOf(scope)}`],
    ['X-Amz-Date', stamp(now)],
    ['X-Amz-Expires', String(expiresSeconds)],
    ['X-Amz-SignedHeaders', 'host'],
    ['X-Amz-Security-Token', credentials.sessionToken],
  ]
  const added = query.flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${percentEncode(value)}`]))
  result.search = [...rawQuery(url), ...added].join('&')
  const signature = sign({ method, url: result, headers: { host: url.host } }, scope, unsigned)
  result.search += `&X-Amz-Signature=${signature}`
  return result
}

function sign({ method, url, headers }: SignableRequest, scope: Scope, payload: string): string {
  const names = signedNames(headers)
  const canonical = [
    method,
    url.pathname,
    rawQuery(url).map(withEquals).sort().join('&'),
    ...names.map((name) => `${name}:${headers[name]?.trim().replace(/\s+/g, ' ') ?? ''}`),
    '',
    names.join(';'),
    payload,
  ].join('\n')
  const text = [algorithm, stamp(scope.now), scopeOf(scope), digest(utf8ToBytes(canonical))].join('\n')
  const { secretAccessKey } = scope.credentials
  const parts = [stamp(scope.now).slice(0, 8), scope.region, 's3', 'aws4_request']
  const key = parts.reduce(
    (secret, part) => hmac(sha256, secret, utf8ToBytes(part)),
    utf8ToBytes(`AWS4${secretAccessKey}`),
  )
  return bytesToHex(hmac(sha256, key, utf8ToBytes(text)))
}

const signedNames = (headers: Readonly<Record<string, string>>): string[] => Object.keys(headers).sort()

const rawQuery = (url: URL): string[] =>
  url.search
    .slice(1)
    .split('&')
    .filter((part) => part !== '')

const withEquals = (part: string): string => (part.includes('=') ? part : `${part}=`)

const scopeOf = ({ now, region }: Scope): string => `${stamp(now).slice(0, 8)}/${region}/s3/aws4_request`

const stamp = (now: Date): string => `${now.toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`

/** As signatures require: everything but letters, digits and `-._~` becomes `%XX`. */
export const percentEncode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
