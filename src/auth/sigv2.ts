/**
 * AWS Signature Version 2: what it signs of a request, and the signature of that. Pure; decides nothing about access. Strings hold one byte a character.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/RESTAuthentication.html
 */
import { createHmac, timingSafeEqual } from 'node:crypto'

/** Parameters that clients of Version 2 sign: everything that any of AWS's SDKs, minio-go, s3cmd or Hadoop puts into the resource that it signs. */
const signedParameters: ReadonlySet<string> = new Set([
  'accelerate',
  'acl',
  'analytics',
  'cors',
  'defaultObjectAcl',
  'delete',
  'encryption',
  'inventory',
  'legal-hold',
  'lifecycle',
  'location',
  'logging',
  'metrics',
  'notification',
  'object-lock',
  'partNumber',
  'policy',
  'replication',
  'requestPayment',
  'response-cache-control',
  'response-content-disposition',
  'response-content-encoding',
  'response-content-language',
  'response-content-type',
  'response-expires',
  'restore',
  'retention',
  'select',
  'select-type',
  'storageClass',
  'tagging',
  'torrent',
  'uploadId',
  'uploads',
  'versionId',
  'versioning',
  'versions',
  'website',
])

export const isSignedParameter = (name: string): boolean => signedParameters.has(name)

export interface PartsOfVersion2 {
  method: string
  contentMd5: string
  contentType: string
  /** For a URL, when it expires; for a header, when it was made; empty when a vendor header says that. */
  date: string
  /** By lower-case name: headers that start with `x-amz-`, and parameters that stand for such headers. */
  vendor: ReadonlyMap<string, string>
  /** Empty when the path names the bucket. */
  hostBucket: string
  rawPath: string
  /** Decoded. */
  parameters: readonly (readonly [name: string, value: string])[]
}

/** The texts that clients sign for such a request: one, or several where clients differ. None when requests with different meanings would have the same text. */
export function stringsToSignOfVersion2(parts: PartsOfVersion2): string[] {
  const { method, contentMd5, contentType, date, vendor } = parts
  const subResources = canonicalParameters(parts.parameters)
  if (subResources === undefined) return []
  const headers = [...vendor].sort(byName).map(([name, value]) => `${name}:${value}\n`)
  const start = `${method}\n${contentMd5}\n${contentType}\n${date}\n${headers.join('')}`
  return resourcePaths(parts).map((path) => start + path + subResources)
}

function resourcePaths({ hostBucket, rawPath }: PartsOfVersion2): string[] {
  // If the bucket's name had a slash, its end could not be told from the start of the key.
  if (hostBucket !== '') return hostBucket.includes('/') ? [] : [`/${hostBucket}${rawPath}`]
  // botocore signs a slash after the bucket that it does not send.
  const isBucketAlone = rawPath.length > 1 && !rawPath.includes('/', 1)
  return isBucketAlone ? [rawPath, `${rawPath}/`] : [rawPath]
}

/**
 * Values are signed unencoded, so `?response-content-type=a%26acl` and `?response-content-type=a&acl` give the same text. The first spelling is refused,
 * so that no text means two things.
 */
function canonicalParameters(parameters: PartsOfVersion2['parameters']): string | undefined {
  const signed = parameters.filter(([name]) => isSignedParameter(name)).sort(byName)
  if (signed.length === 0) return ''
  for (const [, value] of signed)
    for (const piece of value.split('&').slice(1)) if (isSignedParameter(piece.split('=')[0] ?? '')) return undefined
  return `?${signed.map(([name, value]) => (value === '' ? name : `${name}=${value}`)).join('&')}`
}

const byName = ([a]: readonly [string, string], [b]: readonly [string, string]): number => (a < b ? -1 : a > b ? 1 : 0)

/** In base64. */
export function signatureOfVersion2(secretAccessKey: string, text: string): string {
  return createHmac('sha1', secretAccessKey).update(text, 'latin1').digest('base64')
}

/** Takes the same time wherever two signatures of one length differ. */
export function sameSignatureOfVersion2(expected: string, claimed: string): boolean {
  const [expectedBytes, claimedBytes] = [Buffer.from(expected, 'latin1'), Buffer.from(claimed, 'latin1')]
  return expectedBytes.length === claimedBytes.length && timingSafeEqual(expectedBytes, claimedBytes)
}
