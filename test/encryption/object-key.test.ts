/** Wrapped keys open for what they were wrapped for, and for nothing else. */
import { describe, expect, it } from 'vitest'
import { blobKey, hiddenEtag, unwrapObjectKey, wrapObjectKey } from '../../src/encryption/object-key.ts'
import { patternBytes } from '../support/seeded.ts'

const objectKey = patternBytes(1, 32)
const wrapping = patternBytes(2, 32)
const nonce = patternBytes(3, 12)
const binding = '["bucket","key",["version",1],null]'
const wrapped = wrapObjectKey(objectKey, wrapping, binding, nonce)

const withByte = (at: number): string => {
  const bytes = Buffer.from(wrapped, 'base64')
  bytes[at] = (bytes[at] ?? 0) ^ 1
  return bytes.toString('base64')
}

describe('a wrapped key', () => {
  it('opens, and shows neither itself nor what wraps it', () => {
    expect(unwrapObjectKey(wrapped, wrapping, binding)).toEqual(objectKey)
    const bytes = Buffer.from(wrapped, 'base64')
    expect([bytes.includes(objectKey.subarray(0, 8)), bytes.includes(wrapping.subarray(0, 8))]).toEqual([false, false])
  })

  it.each<[what: string, wrapped: string, wrapping: Buffer, binding: string]>([
    ['another key', wrapped, patternBytes(4, 32), binding],
    ['another binding', wrapped, wrapping, '["bucket","key",["version",2],null]'],
    ['no binding', wrapped, wrapping, ''],
    ['its nonce altered', withByte(0), wrapping, binding],
    ['itself altered', withByte(12), wrapping, binding],
    ['its tag altered', withByte(59), wrapping, binding],
    ['a byte missing', Buffer.from(wrapped, 'base64').subarray(0, -1).toString('base64'), wrapping, binding],
    ['a byte more', Buffer.concat([Buffer.from(wrapped, 'base64'), nonce]).toString('base64'), wrapping, binding],
    ['nothing', '', wrapping, binding],
    ['what is no base64', '***', wrapping, binding],
  ])('does not open with %s', (_what, text, key, bound) => {
    expect(unwrapObjectKey(text, key, bound)).toBeUndefined()
  })
})

describe('what is derived from a key', () => {
  it('differs by blob and by key', () => {
    const keys = [blobKey(objectKey, 'object'), blobKey(objectKey, 'part 1 a'), blobKey(objectKey, 'part 1 b')]
    keys.push(blobKey(wrapping, 'object'), objectKey)
    expect(new Set(keys.map((key) => key.toString('hex'))).size).toBe(keys.length)
    expect(keys.map((key) => key.length)).toEqual([32, 32, 32, 32, 32])
  })

  it('is an entity tag that is not the MD5, the same for the same bytes of the same object', () => {
    const md5 = '0123456789abcdef0123456789abcdef'
    expect(hiddenEtag(objectKey, md5)).toMatch(/^[0-9a-f]{32}$/)
    expect(hiddenEtag(objectKey, md5)).not.toBe(md5)
    expect(hiddenEtag(objectKey, md5)).toBe(hiddenEtag(objectKey, md5))
    expect(hiddenEtag(wrapping, md5)).not.toBe(hiddenEtag(objectKey, md5))
  })
})
