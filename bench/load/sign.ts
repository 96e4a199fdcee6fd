/** Makes signed request heads ahead of a run, by the server's own signature functions. Keeps no keys beyond a run. */
import { canonicalRequest, parseQuery } from '../../src/auth/canonical-request.ts'
import { algorithm, deriveSigningKey, formatTimestamp, signature, stringToSign } from '../../src/auth/sigv4.ts'
import type { Endpoint } from './order.ts'

export interface Unsigned {
  method: string
  /** Has only characters that need no escape. */
  path: string
  /** Without the question mark, escaped. */
  query?: string
  /** Sent unsigned, as signatures of S3 allow. */
  headers?: string
  /** The body's SHA-256 in hex, or `UNSIGNED-PAYLOAD`. */
  payloadHash: string
  bodyBytes?: number
}

const signedHeaders = ['host', 'x-amz-content-sha256', 'x-amz-date']

/** Signs with the time of its making: what it signs is good for 15 minutes from then. */
export function createSigner(endpoint: Endpoint): (request: Unsigned) => Buffer {
  const host = `${endpoint.host}:${endpoint.port}`
  const timestamp = formatTimestamp(Date.now())
  const date = timestamp.slice(0, 8)
  const text = `${date}/${endpoint.region}/s3/aws4_request`
  const { accessKeyId, region } = endpoint
  const scope = { accessKeyId, date, region, service: 's3' as const, text, credential: `${accessKeyId}/${text}` }
  const key = deriveSigningKey(endpoint.secretAccessKey, scope)
  const claim = `${algorithm} Credential=${scope.credential}, SignedHeaders=${signedHeaders.join(';')}`
  return ({ method, path, query = '', headers = '', payloadHash, bodyBytes }) => {
    const values = new Map([
      ['host', host],
      ['x-amz-content-sha256', payloadHash],
      ['x-amz-date', timestamp],
    ])
    const canonical = canonicalRequest({
      method,
      rawPath: path,
      query: parseQuery(query),
      headers: { values, vendorNames: [], repeated: [] },
      signedHeaders,
      payloadHash,
    })
    const signed = signature(key, stringToSign(timestamp, scope, canonical ?? ''))
    const target = query === '' ? path : `${path}?${query}`
    const length = bodyBytes === undefined ? '' : `Content-Length: ${bodyBytes}\r\n`
    return Buffer.from(
      `${method} ${target} HTTP/1.1\r\nHost: ${host}\r\nx-amz-date: ${timestamp}\r\nx-amz-content-sha256: ${payloadHash}\r\n` +
        `Authorization: ${claim}, Signature=${signed}\r\n${length}${headers}\r\n`,
      'latin1',
    )
  }
}
