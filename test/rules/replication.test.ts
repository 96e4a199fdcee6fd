/** Which rule copies a version where. */
import { describe, expect, it } from 'vitest'
import type { ReplicationFilter, ReplicationRule } from '../../src/records/replication.ts'
import type { ReplicationState } from '../../src/records/replication-state.ts'
import {
  type CopyOutcome,
  destinationOf,
  ownBucketFault,
  type Replicated,
  rulesFor,
  stateAfter,
} from '../../src/rules/replication.ts'

describe('an ARN', () => {
  it.each([
    ['arn:aws:s3:::photos', { bucket: 'photos' }],
    ['arn:aws-cn:s3:::photos', { bucket: 'photos' }],
    ['arn:aws:s3:::Paris/photos', { site: 'paris', bucket: 'photos' }],
    ['arn:minio:replication::PARIS:photos', { site: 'paris', bucket: 'photos' }],
    ['arn:minio:replication:eu-west-3:paris:photos', { site: 'paris', bucket: 'photos' }],
    ['arn:aws:s3:::', undefined],
    ['arn:aws:s3:::/photos', undefined],
    ['arn:aws:s3:::a/b/photos', undefined],
    ['arn:aws:s3:eu-west-3::photos', undefined],
    ['arn:aws:sqs:::photos', undefined],
    ['arn:minio:replication:::photos', undefined],
    ['photos', undefined],
  ])('%s names %o', (arn, named) => expect(destinationOf(arn)).toEqual(named))
})

const rule = (id: string, more: Partial<ReplicationRule> = {}, filter: Partial<ReplicationFilter> = {}) =>
  ({
    id,
    enabled: true,
    filter: { form: 'filter', tags: [], ...filter },
    priority: 1,
    destination: { bucketArn: 'there' },
    deleteMarkers: false,
    ...more,
  }) satisfies ReplicationRule
const elsewhere = { destination: { bucketArn: 'elsewhere' } }
const tag = { key: 'a', value: 'b' }

describe('a version', () => {
  it.each<[what: string, rules: ReplicationRule[], version: Partial<Replicated>, ids: string[]]>([
    ['is copied by a rule for all', [rule('all')], {}, ['all']],
    ['is not copied by a rule that is off', [rule('off', { enabled: false })], {}, []],
    [
      'is copied by its prefix',
      [rule('in', {}, { prefix: 'in/' }), rule('out', elsewhere, { prefix: 'out/' })],
      { key: 'in/a' },
      ['in'],
    ],
    [
      'is copied by its tags',
      [rule('tagged', {}, { tags: [tag] })],
      { tags: [tag, { key: 'c', value: 'd' }] },
      ['tagged'],
    ],
    [
      'is not copied by the value of another tag',
      [rule('tagged', {}, { tags: [tag] })],
      { tags: [{ key: 'a', value: 'c' }] },
      [],
    ],
    ['needs all tags', [rule('tagged', {}, { tags: [tag, { key: 'c', value: 'd' }] })], { tags: [tag] }, []],
    [
      'goes to each destination once, by the greatest priority',
      [rule('low'), rule('high', { priority: 2 }), rule('other', elsewhere)],
      {},
      ['high', 'other'],
    ],
    [
      'is left out where the rule with the greatest priority leaves it out',
      [rule('low', { kmsEncrypted: true }), rule('high', { priority: 2 })],
      { encryptedBy: 'kms' },
      [],
    ],
    [
      'of SSE-KMS is copied where the rule says so',
      [rule('kms', { kmsEncrypted: true })],
      { encryptedBy: 'kms' },
      ['kms'],
    ],
    ['of SSE-S3 is copied', [rule('all')], { encryptedBy: 'store' }, ['all']],
    [
      'that is a delete marker is copied where the rule says so',
      [rule('no'), rule('yes', { ...elsewhere, deleteMarkers: true })],
      { isMarker: true },
      ['yes'],
    ],
    [
      'that is a delete marker is copied by a rule of the first schema',
      [rule('old', { deleteMarkers: undefined }, { form: 'prefix', prefix: '' })],
      { isMarker: true },
      ['old'],
    ],
  ])('%s', (_, rules, version, ids) => {
    expect(rulesFor(rules, { key: 'a', tags: [], ...version }).map(({ id }) => id)).toEqual(ids)
  })
})

it('a bucket takes copies of its own account if it has versions', () => {
  const faultOf = (owner: string, versioning: 'enabled' | 'suspended') => ownBucketFault({ owner, versioning }, 'me')
  expect(faultOf('me', 'enabled')).toBeUndefined()
  expect(faultOf('me', 'suspended')).toMatch('versioning')
  expect(faultOf('you', 'enabled')).toBe(ownBucketFault(undefined, 'me'))
})

describe('the state of a version', () => {
  const waiting: ReplicationState = { status: 'PENDING' }
  const copied: CopyOutcome = { kind: 'copied', copy: 'v1' }
  const failed: CopyOutcome = { kind: 'failed', reason: '' }
  const withCopies = { other: 'v0' }
  it.each<
    [what: string, before: ReplicationState | undefined, outcome: CopyOutcome, isWaiting: boolean, after: unknown]
  >([
    ['is complete when all is copied', waiting, copied, false, { status: 'COMPLETED', copies: { there: 'v1' } }],
    ['is open while another destination waits', waiting, copied, true, { status: 'PENDING', copies: { there: 'v1' } }],
    [
      'keeps other copies',
      { status: 'PENDING', copies: withCopies },
      copied,
      false,
      { status: 'COMPLETED', copies: { ...withCopies, there: 'v1' } },
    ],
    [
      'is failed as soon as one copy is',
      { status: 'PENDING', copies: withCopies },
      failed,
      true,
      { status: 'FAILED', copies: withCopies },
    ],
    [
      'stays failed when other copies succeed',
      { status: 'FAILED' },
      copied,
      false,
      { status: 'FAILED', copies: { there: 'v1' } },
    ],
    ['is none when no rule copies it any more', waiting, { kind: 'dropped' }, false, undefined],
    [
      'is complete with the copies that it has',
      { status: 'PENDING', copies: withCopies },
      { kind: 'dropped' },
      false,
      { status: 'COMPLETED', copies: withCopies },
    ],
    ['of a copy stays', { status: 'REPLICA', of: 'v' }, copied, false, { status: 'REPLICA', of: 'v' }],
  ])('%s', (_, before, outcome, isWaiting, after) => {
    expect(stateAfter(before, { arn: 'there', outcome, isWaiting })).toEqual(after)
  })
})
