/** Policies of form posts by rows: what is no policy, what a policy refuses, and what it lets through. */
import { describe, expect, it } from 'vitest'
import { checkFormPolicy, type FormPolicy, parseFormPolicy } from '../../src/auth/form-policy.ts'
import { refusal } from './refusal.ts'

const now = Date.parse('2026-01-01T00:00:00Z')
const expiration = '2026-01-01T00:05:00.000Z'

const encoded = (json: string): string => Buffer.from(json).toString('base64')
const documentOf = (conditions: unknown, more: object = {}): string =>
  encoded(JSON.stringify({ expiration, conditions, ...more }))
const policyOf = (...conditions: unknown[]): FormPolicy => parseFormPolicy(documentOf(conditions))

describe('a document that is no policy', () => {
  it.each([
    ['of another alphabet', '*', 'Invalid Base64 Encoding.'],
    ['of no JSON', encoded('{'), 'Invalid JSON.'],
    ['of nothing', '', 'Invalid JSON.'],
    ['of a list', encoded('[]'), 'Invalid JSON.'],
    ['without expiration', encoded('{"conditions": []}'), 'Policy is missing expiration.'],
    [
      'with the expiration in other letters',
      encoded('{"EXPIRATION": "x", "conditions": []}'),
      "Unexpected: 'EXPIRATION'.",
    ],
    ['that expires at a number', documentOf([], { expiration: 5 }), "Invalid 'expiration' value: '5'"],
    [
      'that expires in another zone',
      documentOf([], { expiration: '2026-01-01T00:00:00' }),
      /Invalid 'expiration' value/,
    ],
    ['that expires on no day', documentOf([], { expiration: '2026-13-01T00:00:00Z' }), /Invalid 'expiration' value/],
    ['without conditions', encoded(JSON.stringify({ expiration })), 'Policy is missing conditions.'],
    ['whose conditions are no list', documentOf({}), "Invalid 'conditions' value: must be a List."],
    ['with something else', documentOf([], { version: 1 }), "Unexpected: 'version'."],
    ['with an empty condition', documentOf([{}]), /must have exactly one property/],
    ['with two in one condition', documentOf([{ a: '1', b: '2' }]), /must have exactly one property/],
    ['with a number for a value', documentOf([{ success_action_status: 201 }]), /value must be a string/],
    ['with an empty list of conditions', documentOf([]), 'Policy is missing conditions.'],
    ['with a text for a condition', documentOf(['key']), 'Invalid condition test: must be a List or Object.'],
    ['with null for a condition', documentOf([null]), 'Invalid condition test: must be a List or Object.'],
    [
      'with an operator that nobody knows',
      documentOf([['ends-with', '$key', 'a']]),
      "Invalid Condition: unknown operation 'ends-with'.",
    ],
    ['with no text for an operator', documentOf([[1, '$key', 'a']]), "Invalid Condition: unknown operation '1'."],
    ['with a field that has no dollar sign', documentOf([['eq', 'key', 'a']]), 'Invalid condition: ["eq", "key", "a"]'],
    ['with a field that has no name', documentOf([['eq', '$', 'a']]), /Invalid condition/],
    ['with too few items', documentOf([['eq', '$key']]), 'Invalid Eq: wrong number of arguments.'],
    [
      'with too many items',
      documentOf([['starts-with', '$key', 'a', 'b']]),
      'Invalid starts-with: wrong number of arguments.',
    ],
    [
      'with half a range',
      documentOf([['content-length-range', 0]]),
      'Invalid content-length-range: wrong number of arguments.',
    ],
    [
      'with more than a range',
      documentOf([['content-length-range', 0, 1, 2]]),
      'Invalid content-length-range: wrong number of arguments.',
    ],
    ['with a range below nothing', documentOf([['content-length-range', -1, 0]]), /Invalid content-length-range/],
    ['with a range of no bytes', documentOf([['content-length-range', 2, 1]]), /Invalid content-length-range/],
    ['with a range of pieces of bytes', documentOf([['content-length-range', 0.5, 1]]), /Invalid content-length-range/],
  ])('%s', (_, policy, message) => {
    const { code, message: said } = refusal(() => parseFormPolicy(policy))
    expect(code).toBe('InvalidPolicyDocument')
    expect(said).toMatch(message instanceof RegExp ? message : `Invalid Policy: ${message}`)
  })
})

type Fields = readonly (readonly [name: string, value: string])[]

const check = (policy: FormPolicy, fields: Fields, nowMs = now): void =>
  checkFormPolicy(policy, new Map(fields), 'photos', nowMs)

const bucket = { bucket: 'photos' }
const anyKey = ['starts-with', '$key', '']

describe('a form that its policy allows', () => {
  it.each<[what: string, conditions: unknown[], fields: Fields]>([
    ['that is the same', [bucket, { key: 'a' }], [['key', 'a']]],
    [
      'that is the same by eq',
      [
        ['eq', '$bucket', 'photos'],
        ['eq', '$key', 'a'],
      ],
      [['key', 'a']],
    ],
    ['that starts so', [bucket, ['starts-with', '$key', 'user/']], [['key', 'user/a']]],
    ['that starts with anything', [bucket, anyKey], [['key', 'a']]],
    ['in whatever letters', [{ bUcKeT: 'photos' }, ['StArTs-WiTh', '$KeY', 'a']], [['key', 'a']]],
    [
      'with types that all start so',
      [bucket, anyKey, ['starts-with', '$Content-Type', 'image/']],
      [
        ['key', 'a'],
        ['content-type', 'image/jpeg, image/png'],
      ],
    ],
    [
      'with an empty value',
      [bucket, anyKey, { acl: '' }],
      [
        ['key', 'a'],
        ['acl', ''],
      ],
    ],
    ['under conditions that all hold', [bucket, anyKey, ['starts-with', '$key', 'a'], { key: 'ab' }], [['key', 'ab']]],
    [
      'with what needs no condition',
      [bucket, anyKey],
      [
        ['key', 'a'],
        ['policy', 'x'],
        ['signature', 'x'],
        ['awsaccesskeyid', 'x'],
        ['x-amz-signature', 'x'],
        ['x-store-signature', 'x'],
        ['file', 'x'],
        ['x-ignore-me', 'x'],
      ],
    ],
  ])('%s', (_, conditions, fields) => {
    expect(() => check(policyOf(...conditions), fields)).not.toThrow()
  })

  it('up to the moment at which the policy expires', () => {
    expect(() => check(policyOf(bucket, anyKey), [['key', 'a']], Date.parse(expiration))).not.toThrow()
  })

  it('with escapes that S3 documents and JSON does not know', () => {
    const json = `{"expiration": "${expiration}", "conditions": [{"bucket": "photos"}, {"key": "a\\$b\\vc\\\\$\\u0041"}]}`
    expect(() => check(parseFormPolicy(encoded(json)), [['key', 'a$b\vc\\$A']])).not.toThrow()
  })

  it('in base64 of several lines', () => {
    const wrapped = documentOf([bucket, anyKey]).replace(/(.{20})/g, '$1\r\n')
    expect(() => check(parseFormPolicy(wrapped), [['key', 'a']])).not.toThrow()
  })
})

describe('a form that its policy refuses', () => {
  const failed = (condition: string): string => `Policy Condition failed: ${condition}`
  it.each<[what: string, conditions: unknown[], fields: Fields, message: string]>([
    ['for another bucket', [{ bucket: 'other' }, anyKey], [['key', 'a']], failed('["eq", "$bucket", "other"]')],
    ['for another key', [bucket, { key: 'b' }], [['key', 'a']], failed('["eq", "$key", "b"]')],
    ['for a key that starts so', [bucket, { key: 'a' }], [['key', 'ab']], failed('["eq", "$key", "a"]')],
    [
      'for a key in other letters',
      [bucket, ['starts-with', '$key', 'A']],
      [['key', 'a']],
      failed('["starts-with", "$key", "A"]'),
    ],
    [
      'for a type among several',
      [bucket, anyKey, ['starts-with', '$Content-Type', 'image/']],
      [
        ['key', 'a'],
        ['content-type', 'image/a,text/b'],
      ],
      failed('["starts-with", "$Content-Type", "image/"]'),
    ],
    [
      'for a list that is no list of types',
      [bucket, ['eq', '$key', 'a']],
      [['key', 'a,a']],
      failed('["eq", "$key", "a"]'),
    ],
    [
      'for a field that is not there',
      [bucket, anyKey, ['starts-with', '$acl', '']],
      [['key', 'a']],
      failed('["starts-with", "$acl", ""]'),
    ],
    [
      'for a field that the policy does not know',
      [bucket, anyKey],
      [
        ['key', 'a'],
        ['acl', 'private'],
        ['x-amz-meta-b', 'c'],
      ],
      'Extra input fields: acl, x-amz-meta-b',
    ],
    ['for the bucket that the policy does not name', [anyKey], [['key', 'a']], 'Extra input fields: bucket'],
    ['for the key that the policy does not name', [bucket], [['key', 'a']], 'Extra input fields: key'],
    [
      'for a token that the policy does not name',
      [bucket, anyKey],
      [
        ['key', 'a'],
        ['x-amz-security-token', 'c'],
      ],
      'Extra input fields: x-amz-security-token',
    ],
    [
      'for the signing date that the policy does not name',
      [bucket, anyKey],
      [
        ['key', 'a'],
        ['x-amz-date', 'c'],
      ],
      'Extra input fields: x-amz-date',
    ],
  ])('%s', (_, conditions, fields, message) => {
    const refused = refusal(() => check(policyOf(...conditions), fields))
    expect([refused.code, refused.message]).toEqual(['AccessDenied', `Invalid according to Policy: ${message}`])
  })

  it('for the bucket that is addressed, whatever the form says', () => {
    expect(
      refusal(() =>
        check(policyOf({ bucket: 'other' }, anyKey), [
          ['key', 'a'],
          ['bucket', 'other'],
        ]),
      ).code,
    ).toBe('AccessDenied')
  })

  it('for another key of SSE-C, without telling the one that is in the policy', () => {
    const name = 'x-amz-server-side-encryption-customer-key'
    const policy = policyOf(bucket, anyKey, { [name]: 'secret' })
    const { message } = refusal(() =>
      check(policy, [
        ['key', 'a'],
        [name, 'other'],
      ]),
    )
    expect(message).toBe(`Invalid according to Policy: Policy Condition failed: ["eq", "$${name}", ""]`)
  })

  it('after it has expired', () => {
    const { message } = refusal(() => check(policyOf(bucket, anyKey), [['key', 'a']], Date.parse(expiration) + 1))
    expect(message).toBe('Invalid according to Policy: Policy expired.')
  })
})

it('bounds the file by all of its ranges, in numbers or text', () => {
  const { fileBytesMin, fileBytesMax } = policyOf(['content-length-range', 1, 50], ['Content-Length-Range', '2', '100'])
  expect([fileBytesMin, fileBytesMax]).toEqual([2, 50])
  expect(policyOf(bucket)).toMatchObject({ fileBytesMin: 0, fileBytesMax: Number.POSITIVE_INFINITY })
})
