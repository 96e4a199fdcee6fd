/** What a key may do of what its account may: patterns of permissions, as AWS names them. */
import { describe, expect, it } from 'vitest'
import { permits } from '../../src/auth/permissions.ts'
import { outcomeOf } from '../objects/fixture.ts'

const own = { owner: 'main' }

const asked = (permissions: readonly string[] | undefined, permission: string, resource = own): string => {
  const principal = { accountId: 'main', displayName: 'Main', accessKeyId: 'key', permissions }
  const [bare, bound] = [undefined, resource].map((each) => outcomeOf(() => permits(principal, permission, each)))
  // Whether the key may at all is known before the bucket is.
  if (bare !== 'ok') expect(bound).toBe(bare)
  return bound ?? ''
}

describe('a key', () => {
  it.each<[string, readonly string[] | undefined, string, string]>([
    ['without patterns may do all', undefined, 's3:BypassGovernanceRetention', 'ok'],
    ['with an empty list may do nothing', [], 's3:GetObject', 'AccessDenied'],
    ['may do what is named', ['s3:GetObject'], 's3:GetObject', 'ok'],
    ['may do no more than is named', ['s3:GetObject'], 's3:GetObjectVersion', 'AccessDenied'],
    ['may do nothing by a name’s beginning', ['s3:GetObjectVersion'], 's3:GetObject', 'AccessDenied'],
    ['may do what any of its patterns names', ['s3:Get*', 's3:PutObject'], 's3:PutObject', 'ok'],
    ['may do all that a star stands for', ['s3:Get*'], 's3:GetObjectRetention', 'ok'],
    ['may do what a star stands for nothing in', ['s3:GetObject*'], 's3:GetObject', 'ok'],
    ['may not do what begins otherwise', ['s3:Get*'], 's3:PutObjectRetention', 'AccessDenied'],
    ['may not do what begins otherwise though it contains it', ['s3:Object*'], 's3:GetObject', 'AccessDenied'],
    ['with a star in the middle matches both ends', ['s3:*Tagging'], 's3:PutBucketTagging', 'ok'],
    ['with a star in the middle matches no other end', ['s3:*Tagging'], 's3:PutObject', 'AccessDenied'],
    ['with a star between matches both', ['s3:Put*Retention'], 's3:PutObjectRetention', 'ok'],
    ['with ends that would overlap does not match', ['s3:GetOb*bject'], 's3:GetObject', 'AccessDenied'],
    ['with a star for all may do all', ['s3:*'], 's3:BypassGovernanceRetention', 'ok'],
    ['may write it in any case, as in AWS’s policies', ['S3:getobject'], 's3:GetObject', 'ok'],
    [
      'with all Puts and Deletes lacks the bypass',
      ['s3:Put*', 's3:Delete*'],
      's3:BypassGovernanceRetention',
      'AccessDenied',
    ],
    ['may bypass when it is named', ['s3:BypassGovernanceRetention'], 's3:BypassGovernanceRetention', 'ok'],
    ['that may delete may not remove versions', ['s3:DeleteObject'], 's3:DeleteObjectVersion', 'AccessDenied'],
    ['takes a dot for a dot', ['s3:Get.bject'], 's3:GetObject', 'AccessDenied'],
  ])('%s', (_, permissions, permission, answer) => {
    expect(asked(permissions, permission)).toBe(answer)
  })

  it('gets nothing from its patterns that its account lacks', () => {
    expect(asked(['s3:*'], 's3:GetObject', { owner: 'other' })).toBe('AccessDenied')
    expect(asked(undefined, 's3:GetObject', { owner: 'other' })).toBe('AccessDenied')
  })

  it('is told which permission it lacks', () => {
    const principal = { accountId: 'main', displayName: 'Main', accessKeyId: 'key', permissions: ['s3:Get*'] }
    expect(() => permits(principal, 's3:PutObject', own)).toThrow('s3:PutObject')
  })
})
