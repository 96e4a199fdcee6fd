/** Who may do what. */
import { describe, expect, it } from 'vitest'
import { permits } from '../../src/auth/permissions.ts'
import { refusal } from './refusal.ts'

const alice = { accountId: 'alice', displayName: 'Alice', accessKeyId: 'A' }

describe('permits', () => {
  it.each([
    ['an operation on no bucket', undefined, undefined],
    ['its own bucket', { owner: 'alice' }, undefined],
    ['its own bucket, said to be its own', { owner: 'alice' }, 'alice'],
  ])('lets an account use %s', (_, resource, expectedOwner) => {
    expect(() => permits(alice, 's3:GetObject', resource, expectedOwner)).not.toThrow()
  })

  it.each([
    ['the bucket of another', { owner: 'bob' }, undefined],
    ['the bucket of another, said to be theirs', { owner: 'bob' }, 'bob'],
    ['its own bucket, said to be another’s', { owner: 'alice' }, 'bob'],
    ['its own bucket, said to be nobody’s', { owner: 'alice' }, ''],
    ['a bucket whose owner differs in case', { owner: 'Alice' }, undefined],
  ])('keeps an account from %s', (_, resource, expectedOwner) => {
    const error = refusal(() => permits(alice, 's3:GetObject', resource, expectedOwner))
    expect([error.code, error.status]).toEqual(['AccessDenied', 403])
  })
})
