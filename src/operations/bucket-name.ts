/** Rules of bucket names, as AWS S3 documents them for general purpose buckets. Pure. */
import { S3Error } from '../errors.ts'
import { limits } from '../limits.ts'

const shape = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/
const ipv4 = /^\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}$/
const reservedPrefixes = ['xn--', 'sthree-', 'amzn-s3-demo-']
const reservedSuffixes = ['-s3alias', '--ol-s3', '.mrap', '--x-s3', '--table-s3']

/** For names that are only looked up. No bucket has a longer one, and the metadata takes keys up to a length only. */
export function checkBucketNameLength(name: string, code: 'NoSuchBucket' | 'InvalidBucketName' = 'NoSuchBucket'): void {
  if (name.length > limits.bucketNameCharsMax) throw new S3Error(code, { details: { BucketName: name } })
}

/** Throws InvalidBucketName. */
export function checkBucketName(name: string): void {
  const valid =
    shape.test(name) &&
    !name.includes('..') &&
    !ipv4.test(name) &&
    !reservedPrefixes.some((prefix) => name.startsWith(prefix)) &&
    !reservedSuffixes.some((suffix) => name.endsWith(suffix))
  if (!valid) throw invalidBucketName(name)
}

function invalidBucketName(name: string): S3Error {
  return new S3Error('InvalidBucketName', { details: { BucketName: name } })
}

export const arnOfBucket = (bucket: string): string => `arn:aws:s3:::${bucket}`
