/**
 * Makes presigned URLs of objects, for links that the server hands out in the name of a key. Pure.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html
 */
import { known } from '../known.ts'
import { percentEncode } from '../percent-encode.ts'
import { canonicalRequest, indexHeaders, parseQuery } from './canonical-request.ts'
import {
  algorithm,
  deriveSigningKey,
  formatTimestamp,
  type Scope,
  scopeTerminator,
  signature,
  stringToSign,
} from './sigv4.ts'

export interface PresignedObject {
  /** The URL of the S3 port. */
  endpoint: string
  bucket: string
  key: string
  versionId?: string | undefined
  expiresSeconds: number
}

export interface PresigningKey {
  accessKeyId: string
  secretAccessKey: string
  /** Present for temporary keys. */
  sessionToken?: string | undefined
}

/** Returns a URL in path style, by which anybody can GET the object. `nowMs`: milliseconds since the epoch. */
export function presignObject(object: PresignedObject, key: PresigningKey, region: string, nowMs: number): string {
  const timestamp = formatTimestamp(nowMs)
  const scope = scopeOf(key.accessKeyId, timestamp.slice(0, 8), region)
  const { origin, host } = new URL(object.endpoint)
  const path = `/${object.bucket}/${object.key.split('/').map(percentEncode).join('/')}`
  const named: readonly (readonly [string, string | undefined])[] = [
    ['versionId', object.versionId],
    ['X-Amz-Algorithm', algorithm],
    ['X-Amz-Credential', scope.credential],
    ['X-Amz-Date', timestamp],
    ['X-Amz-Expires', String(object.expiresSeconds)],
    ['X-Amz-Security-Token', key.sessionToken],
    ['X-Amz-SignedHeaders', 'host'],
  ]
  const query = named.flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${percentEncode(value)}`]))
  const canonical = canonicalRequest({
    method: 'GET',
    rawPath: path,
    query: parseQuery(query.join('&')),
    headers: indexHeaders(['host', host], ['host']),
    signedHeaders: ['host'],
    payloadHash: 'UNSIGNED-PAYLOAD',
  })
  const text = stringToSign(timestamp, scope, known(canonical))
  const signed = signature(deriveSigningKey(key.secretAccessKey, scope), text)
  return `${origin}${path}?${query.join('&')}&X-Amz-Signature=${signed}`
}

function scopeOf(accessKeyId: string, date: string, region: string): Scope {
  const text = `${date}/${region}/s3/${scopeTerminator}`
  return { accessKeyId, date, region, service: 's3', text, credential: `${accessKeyId}/${text}` }
}
