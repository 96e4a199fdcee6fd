/** Whose bucket an operation may reach, and names that no bucket can have. */
import { describe, expect, it } from 'vitest'
import type { Operation } from '../../src/contract/operation.ts'
import { createBucketOperation } from '../../src/operations/buckets/create-bucket.ts'
import { headBucketOperation } from '../../src/operations/buckets/head-bucket.ts'
import { listBucketsOperation } from '../../src/operations/buckets/list-buckets.ts'
import type { OperationContext } from '../../src/operations/context.ts'
import { copyObjectOperation } from '../../src/operations/objects/copy-object.ts'
import { run } from '../../src/operations/run.ts'
import { makeBucket, outcome, put, storeWithBucket, type TestStore } from '../objects/fixture.ts'
import { owner, request } from './fixture.ts'

const long = 'b'.repeat(3000)

const runOn = (
  made: TestStore,
  operation: Operation<OperationContext>,
  over: Parameters<typeof request>[1] = {},
  input: Record<string, unknown> = {},
) => outcome(run(operation, request(made, over), { metadata: {}, ...input }))

describe('an operation', () => {
  it('reaches the buckets of its own account only', async () => {
    const made = await storeWithBucket()
    const stranger = { ...owner, accountId: 'other' }
    expect(await runOn(made, headBucketOperation)).toBe('ok')
    expect(await runOn(made, headBucketOperation, { principal: stranger })).toBe('AccessDenied')
    expect(await runOn(made, headBucketOperation, { expectedBucketOwner: 'other' })).toBe('AccessDenied')
    expect(await runOn(made, headBucketOperation, { expectedBucketOwner: 'main' })).toBe('ok')
  })

  it('copies from buckets of its own account only', async () => {
    const made = await storeWithBucket()
    await makeBucket(made, 'theirs', 'other')
    await put(made, 'key')
    const copy = (copySource: string, input = {}) =>
      runOn(made, copyObjectOperation, { key: 'copy' }, { copySource, ...input })
    expect(await copy('bucket/key')).toBe('ok')
    expect(await copy('theirs/key')).toBe('AccessDenied')
    expect(await copy('bucket/key', { sourceExpectedBucketOwner: 'other' })).toBe('AccessDenied')
    expect(await copy('bucket/none')).toBe('NoSuchKey')
    expect(await copy('none/key')).toBe('NoSuchBucket')
  })

  it('that is not of this server is refused by name', async () => {
    const made = await storeWithBucket()
    expect(await runOn(made, { ...headBucketOperation, implemented: false })).toBe('NotImplemented')
  })

  it('on a name longer than any bucket can have is refused, wherever the name stands', async () => {
    const made = await storeWithBucket()
    await put(made, 'key')
    expect(await runOn(made, headBucketOperation, { bucket: long })).toBe('NoSuchBucket')
    expect(await runOn(made, createBucketOperation, { bucket: long })).toBe('InvalidBucketName')
    expect(await runOn(made, copyObjectOperation, { key: 'copy' }, { copySource: `${long}/key` })).toBe('NoSuchBucket')
    expect(await runOn(made, listBucketsOperation, { bucket: '' }, { prefix: long })).toBe('ok')
  })
})
