/**
 * Every checksum, in every way that it may travel, right, wrong, malformed and together with another, on every operation that takes or makes one.
 * Values come from implementations of the tests' own, which the first tests here hold to published ones.
 */
import { describe, expect, it } from 'vitest'
import { completionRows } from '../support/wire-checksum-completions.ts'
import { copyObjectRows, uploadPartCopyRows } from '../support/wire-checksum-copies.ts'
import { putObjectRows, uploadPartRows } from '../support/wire-checksum-puts.ts'
import { type Algorithm, referenceChecksum, referenceDigest } from '../support/wire-checksums.ts'
import { wireTests } from '../support/wire-rows.ts'

const matrix = [putObjectRows, uploadPartRows, completionRows, copyObjectRows, uploadPartCopyRows]

describe('the references of the tests', () => {
  it.each<[Algorithm, string]>([
    ['CRC32', 'cbf43926'],
    ['CRC32C', 'e3069283'],
    ['CRC64NVME', 'ae8b14860a799888'],
  ])('give the published check value of %s', (algorithm, check) => {
    expect(referenceDigest(algorithm, Buffer.from('123456789')).toString('hex')).toBe(check)
  })

  it('give the published sums of nothing', () => {
    expect(referenceChecksum('SHA1', '')).toBe('2jmj7l5rSw0yVb/vlWAYkK/YBwk=')
    expect(referenceChecksum('SHA256', '')).toBe('47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=')
  })
})

describe(`the matrix of checksums, ${matrix.flat().length} rows, each in both dialects`, () => {
  wireTests('PutObject', putObjectRows, { hostings: ['path'] })
  wireTests('UploadPart', uploadPartRows, { hostings: ['path'] })
  wireTests('CompleteMultipartUpload', completionRows, { hostings: ['path'] })
  wireTests('CopyObject', copyObjectRows, { hostings: ['path'] })
  wireTests('UploadPartCopy', uploadPartCopyRows, { hostings: ['path'] })
})
