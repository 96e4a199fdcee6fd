/** Bucket names by rows, as AWS S3 documents them. */
import { describe, expect, it } from 'vitest'
import { checkBucketName } from '../../src/operations/bucket-name.ts'
import { outcomeOf } from '../objects/fixture.ts'

describe('a bucket name', () => {
  it.each([
    'abc',
    '123',
    'a-b',
    'a.b',
    'a--b',
    'a.-b',
    'my.bucket.name',
    'b'.repeat(63),
    '1.2.3',
    '1.2.3.4.5',
    '1.2.3.x',
    'sthree',
    'xn-abc',
    'a-s3aliases',
    'mrap',
  ])('%s is one', (name) => {
    expect(outcomeOf(() => checkBucketName(name))).toBe('ok')
  })

  it.each([
    '',
    'a',
    'ab',
    'b'.repeat(64),
    'b'.repeat(5000),
    'Abc',
    'aBc',
    '-abc',
    'abc-',
    '.abc',
    'abc.',
    'a..b',
    'a_b',
    'a b',
    'a/b',
    'a\0b',
    'abc\n',
    'äbc',
    '192.168.5.4',
    '999.999.999.999',
    'xn--abc',
    'sthree-abc',
    'sthree-configurator',
    'amzn-s3-demo-bucket',
    'abc-s3alias',
    'abc--ol-s3',
    'abc.mrap',
    'abc--x-s3',
    'abc--table-s3',
  ])('%j is none', (name) => {
    expect(outcomeOf(() => checkBucketName(name))).toBe('InvalidBucketName')
  })
})
