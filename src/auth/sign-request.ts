/** Signs requests that this program makes, by Signature Version 4 in the Authorization header. Pure. */
import { isCopyHeader } from '../replica-header.ts'
import { canonicalRequest, parseQuery } from './canonical-request.ts'
import { algorithm, deriveSigningKey, formatTimestamp, scopeTerminator, signature, stringToSign } from './sigv4.ts'

export interface SigningKey {
  accessKeyId: string
  secretAccessKey: string
  /** Of temporary keys. */
  sessionToken?: string | undefined
}

export interface UnsignedRequest {
  method: string
  /** As they are sent. */
  rawPath: string
  rawQuery: string
  /** Of the address, with the port if it is not the usual one. */
  host: string
  /** With names in lower case. Those of vendors are signed; others, such as Content-Type, are not. */
  headers: Readonly<Record<string, string>>
  /** The SHA-256 of the body in hex, or `UNSIGNED-PAYLOAD`. */
  payloadHash: string
}

/** What is signed besides the request. */
interface Signing {
  region: string
  /** The sender's time. */
  nowMs: number
}

/** All headers of the request, with its signature. */
export function signRequest(request: UnsignedRequest, key: SigningKey, signing: Signing): Record<string, string> {
  return signedForm(request, key, signing).headers
}

/** The same, with the canonical request that was signed. */
export function signedForm(
  request: UnsignedRequest,
  { accessKeyId, secretAccessKey, sessionToken }: SigningKey,
  { region, nowMs }: Signing,
): { headers: Record<string, string>; canonical: string } {
  const { method, rawPath, rawQuery, host, payloadHash } = request
  const timestamp = formatTimestamp(nowMs)
  const date = timestamp.slice(0, 8)
  const text = `${date}/${region}/s3/${scopeTerminator}`
  const scope = { accessKeyId, date, region, service: 's3', text, credential: `${accessKeyId}/${text}` } as const
  const headers: Record<string, string> = {
    ...request.headers,
    host,
    'x-amz-content-sha256': payloadHash,
    'x-amz-date': timestamp,
    ...(sessionToken === undefined ? {} : { 'x-amz-security-token': sessionToken }),
  }
  const signedHeaders = Object.keys(headers)
    .filter((name) => name === 'host' || name.startsWith('x-amz-') || isCopyHeader(name))
    .sort()
  const canonical = canonicalRequest({
    method,
    rawPath,
    query: parseQuery(rawQuery),
    headers: { values: new Map(Object.entries(headers)), vendorNames: [], repeated: [] },
    signedHeaders,
    payloadHash,
  })
  if (canonical === undefined) throw new Error('a header that is signed is missing')
  const made = signature(deriveSigningKey(secretAccessKey, scope), stringToSign(timestamp, scope, canonical))
  const authorization = `${algorithm} Credential=${scope.credential}, SignedHeaders=${signedHeaders.join(';')}, Signature=${made}`
  return { headers: { ...headers, authorization }, canonical }
}
