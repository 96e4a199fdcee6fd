/** The policy that the flags of `holdfast keys add` stand for, as the decision understands it. */
import { describe, expect, it } from 'vitest'
import { compilePolicy } from '../../src/access/compile-policy.ts'
import { decide } from '../../src/access/decide.ts'
import { parsePolicy } from '../../src/access/parsing/parse-policy.ts'
import { type KeyScope, scopedPolicy } from '../../src/access/scoped-policy.ts'

function allows(scope: KeyScope, action: string, path: string, prefix?: string): boolean {
  const policy = compilePolicy(parsePolicy(scopedPolicy(scope), { kind: 'identity' }))
  const { allowed } = decide({
    identityPolicies: [{ name: 'scope', policy }],
    request: {
      principal: { kind: 'account', accountId: 'main' },
      action,
      resource: `arn:aws:s3:::${path}`,
      value: (key) => (key === 's3:prefix' ? prefix : undefined),
    },
  })
  return allowed
}

const accesses = ['read-only', 'write-only', 'read-write'] as const

describe('a key of one bucket', () => {
  it.each([
    ['s3:GetObject', 'photos/a', [true, false, true]],
    ['s3:GetObjectVersion', 'photos/a', [true, false, true]],
    ['s3:PutObject', 'photos/a', [false, true, true]],
    ['s3:AbortMultipartUpload', 'photos/a', [false, true, true]],
    ['s3:DeleteObject', 'photos/a', [false, false, true]],
    ['s3:DeleteObjectVersion', 'photos/a', [false, false, false]],
    ['s3:PutObjectRetention', 'photos/a', [false, false, false]],
    ['s3:ListBucket', 'photos', [true, false, true]],
    ['s3:ListBucketMultipartUploads', 'photos', [false, true, true]],
    ['s3:GetBucketLocation', 'photos', [true, true, true]],
    ['s3:PutBucketPolicy', 'photos', [false, false, false]],
    ['s3:GetObject', 'other/a', [false, false, false]],
    ['s3:ListBucket', 'photos2', [false, false, false]],
    ['admin:CreateUser', '*', [false, false, false]],
  ])('%s of %s', (action, path, expected) => {
    const said = accesses.map((access) => allows({ bucket: 'photos', prefix: '', access }, action, path))
    expect(said).toEqual(expected)
  })
})

describe('a key of one prefix', () => {
  it.each([
    ['2026/', '2026/a', true],
    ['2026/', '2027/a', false],
    ['2026/', '2026', false],
    ['a*b/', 'a*b/x', true],
    ['a*b/', 'axb/x', false],
    ['a?b/', 'axb/x', false],
    [`\${aws:username}/`, `\${aws:username}/x`, true],
    ['$/', '$/x', true],
  ])('%s reaches %s: %s', (prefix, key, expected) => {
    const scope: KeyScope = { bucket: 'photos', prefix, access: 'read-only' }
    expect(allows(scope, 's3:GetObject', `photos/${key}`)).toBe(expected)
    expect(allows(scope, 's3:ListBucket', 'photos', key)).toBe(expected)
    expect(allows(scope, 's3:ListBucket', 'photos')).toBe(false)
  })

  it('of a bucket with a star reaches no other', () => {
    const scope: KeyScope = { bucket: 'photo*', prefix: '', access: 'read-only' }
    expect(allows(scope, 's3:GetObject', 'photos/x')).toBe(false)
  })
})
