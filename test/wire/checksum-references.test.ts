/** Holds the checksums that the tests compute themselves to published ones. */
import { describe, expect, it } from 'vitest'
import { type Algorithm, referenceChecksum, referenceDigest } from '../support/wire-checksums.ts'

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
