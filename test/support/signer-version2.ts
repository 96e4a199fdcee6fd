/** A signer of AWS Signature Version 2 for tests, written from AWS's documents and apart from src/auth: in a URL, as boto3 and aws-cli 1 do it, or in a header. */
import { createHmac } from 'node:crypto'
import { encode, type HeaderPair, type RequestToSign, type SignedRequest, type SigningKey } from './signer.ts'

export interface Version2Options {
  key: SigningKey
  /** For virtual-host style: the bucket, which Host names and the path does not. */
  hostBucket?: string
}

/** What botocore signs, and minio-go. */
const interesting = new Set(
  `accelerate acl analytics cors delete encryption inventory legal-hold lifecycle location logging metrics notification object-lock
  partNumber policy replication requestPayment response-cache-control response-content-disposition response-content-encoding
  response-content-language response-content-type response-expires restore retention select select-type tagging torrent uploadId uploads
  versionId versioning versions website`.split(/\s+/),
)

/** The text that a client signs. */
function textOfVersion2(
  { method, path, query = [], headers = [] }: RequestToSign,
  date: string,
  hostBucket: string | undefined,
): string {
  const plain = (name: string): string => headers.find(([other]) => other.toLowerCase() === name)?.[1] ?? ''
  const vendor = new Map<string, string[]>()
  for (const [name, value] of [...headers, ...query]) {
    const lower = name.toLowerCase()
    if (lower.startsWith('x-amz-')) vendor.set(lower, [...(vendor.get(lower) ?? []), value])
  }
  const vendorLines = [...vendor]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, all]) => `${name}:${all.join(',')}\n`)
  const signed = query.filter(([name]) => interesting.has(name)).sort(([a], [b]) => (a < b ? -1 : 1))
  const resource = signed.map(([name, value]) => (value === '' ? name : `${name}=${value}`)).join('&')
  const whole = `${hostBucket === undefined ? '' : `/${hostBucket}`}${path}${resource === '' ? '' : `?${resource}`}`
  return [method, plain('content-md5'), plain('content-type'), date, vendorLines.join('') + whole].join('\n')
}

const signatureOf = ({ secretAccessKey }: SigningKey, text: string): string =>
  createHmac('sha1', secretAccessKey).update(text).digest('base64')

const lengthOf = (body: Buffer | string | undefined): HeaderPair[] =>
  body === undefined ? [] : [['Content-Length', String(Buffer.byteLength(body))]]

/** `expires`: seconds since the epoch, or what a test puts in their place. */
export function presignVersion2(
  request: RequestToSign,
  { key, hostBucket, expires }: Version2Options & { expires: number | string },
): SignedRequest {
  const { method, host, path, query = [], headers = [], body } = request
  const signature = signatureOf(key, textOfVersion2(request, String(expires), hostBucket))
  const all: HeaderPair[] = [
    ...query,
    ['AWSAccessKeyId', key.accessKeyId],
    ['Signature', signature],
    ['Expires', String(expires)],
  ]
  const encoded = all.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&')
  return {
    method,
    target: `${path}?${encoded}`,
    headers: [['Host', host], ...headers, ...lengthOf(body)],
    body: Buffer.from(body ?? ''),
  }
}

export function signVersion2(
  request: RequestToSign,
  {
    key,
    hostBucket,
    nowMs,
    dateHeader = 'Date',
  }: Version2Options & { nowMs: number; dateHeader?: 'Date' | 'x-amz-date' },
): SignedRequest {
  const { method, host, path, query = [], headers = [], body } = request
  const date = new Date(nowMs).toUTCString()
  const dated: HeaderPair[] = [...headers, [dateHeader, date]]
  const text = textOfVersion2({ ...request, headers: dated }, dateHeader === 'Date' ? date : '', hostBucket)
  const encoded = query.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&')
  const authorization: HeaderPair = ['Authorization', `AWS ${key.accessKeyId}:${signatureOf(key, text)}`]
  return {
    method,
    target: encoded === '' ? path : `${path}?${encoded}`,
    headers: [['Host', host], ...dated, authorization, ...lengthOf(body)],
    body: Buffer.from(body ?? ''),
  }
}
