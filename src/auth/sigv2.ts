/**
 * AWS Signature Version 2: the text that it signs, and its signature. Pure; decides nothing about access. Strings hold one byte a character.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/RESTAuthentication.html
 */
import { createHmac, timingSafeEqual } from 'node:crypto'

/** Parameters that clients of Version 2 sign: all that any AWS SDK, minio-go, s3cmd or Hadoop includes in the signed resource. */
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
  /** For a URL, when it expires. For a header, when it was signed; empty when a vendor header says that. */
  date: string
  /** Headers that start with `x-amz-`, and parameters that stand for such headers, by lower-case name. */
  vendor: ReadonlyMap<string, string>
  /** Empty when the path names the bucket. */
  hostBucket: string
  rawPath: string
  /** Decoded. */
  parameters: readonly (readonly [name: string, value: string])[]
}

/** The texts that clients may sign for a request: several where clients differ, none where requests with different meanings would share a text. */
export function stringsToSignOfVersion2(parts: PartsOfVersion2): string[] {
  const { method, contentMd5, contentType, date, vendor } = parts
  const subResources = canonicalParameters(parts.parameters)
  if (subResources === undefined) return []
  const headers = [...vendor].sort(byName).map(([name, value]) => `${name}:${value}\n`)
  const start = `${method}\n${contentMd5}\n${contentType}\n${date}\n${headers.join('')}`
  return resourcePaths(parts).map((path) => start + path + subResources)
}

function resourcePaths({ hostBucket, rawPath }: PartsOfVersion2): string[] {
  // If the bucket's name had a slash, nothing would tell where it ends and the key begins.
  if (hostBucket !== '') return hostBucket.includes('/') ? [] : [`/${hostBucket}${rawPath}`]
  // botocore signs a slash after the bucket, but does not send it.
  const isBucketAlone = rawPath.length > 1 && !rawPath.includes('/', 1)
  return isBucketAlone ? [rawPath, `${rawPath}/`] : [rawPath]
}

/**
 * Values are signed unencoded, so `?response-content-type=a%26acl` and `?response-content-type=a&acl` give the same text. The first spelling is refused
 * because no text may have two meanings.
 */
function canonicalParameters(parameters: PartsOfVersion2['parameters']): string | undefined {
  const signed = parameters.filter(([name]) => isSignedParameter(name)).sort(byName)
  if (signed.length === 0) return ''
  for (const [, value] of signed)
    for (const piece of value.split('&').slice(1)) if (isSignedParameter(piece.split('=')[0] ?? '')) return undefined
  return `?${signed.map(([name, value]) => (value === '' ? name : `${name}=${value}`)).join('&')}`
}

const byName = ([a]: readonly [string, string], [b]: readonly [string, string]): number => (a < b ? -1 : a > b ? 1 : 0)

/** Returns base64. */
export function signatureOfVersion2(secretAccessKey: string, text: string): string {
  return createHmac('sha1', secretAccessKey).update(text, 'latin1').digest('base64')
}

/** Compares in constant time for signatures of the same length. */
export function sameSignatureOfVersion2(expected: string, claimed: string): boolean {
  const [expectedBytes, claimedBytes] = [Buffer.from(expected, 'latin1'), Buffer.from(claimed, 'latin1')]
  return expectedBytes.length === claimedBytes.length && timingSafeEqual(expectedBytes, claimedBytes)
}
