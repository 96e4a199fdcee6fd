/** Who signed a form: AWS's published example, both versions, and everything that is no signature. */
import { describe, expect, it } from 'vitest'
import { openCredentials } from '../../src/auth/credentials.ts'
import { nobody } from '../../src/auth/principal.ts'
import { noSessions } from '../../src/auth/sessions.ts'
import { verifyForm } from '../../src/auth/verify-form.ts'
import { signForm } from '../support/forms.ts'
import { refusal } from './refusal.ts'
import { exampleAccounts } from './signer.ts'

const credentials = openCredentials(exampleAccounts)
const key = exampleAccounts[0]?.keys[0] ?? { accessKeyId: '', secretAccessKey: '' }
const rules = { credentials, sessions: noSessions, nowMs: 0, version2: { taken: 'all' } } as const

type Changes = Record<string, string | undefined>

function formOf(prefix: 'x-amz-' | 'x-store-', version: 2 | 4, changes: Changes = {}): Map<string, string> {
  const signed = signForm({ bucket: 'photos', fields: [['key', 'a']] }, { key, prefix, version })
  const fields = new Map(signed.map(([name, value]) => [name.toLowerCase(), value]))
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) fields.delete(name)
    else fields.set(name, value)
  }
  return fields
}

// https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-post-example.html
it('takes the signature that AWS publishes', () => {
  const policy = [
    'eyAiZXhwaXJhdGlvbiI6ICIyMDE1LTEyLTMwVDEyOjAwOjAwLjAwMFoiLA0KICAiY29uZGl0aW9ucyI6IFsNCiAgICB7ImJ1Y2tldCI6ICJzaWd2NGV4YW1wbGVidWNr',
    'ZXQifSwNCiAgICBbInN0YXJ0cy13aXRoIiwgIiRrZXkiLCAidXNlci91c2VyMS8iXSwNCiAgICB7ImFjbCI6ICJwdWJsaWMtcmVhZCJ9LA0KICAgIHsic3VjY2Vzc19h',
    'Y3Rpb25fcmVkaXJlY3QiOiAiaHR0cDovL3NpZ3Y0ZXhhbXBsZWJ1Y2tldC5zMy5hbWF6b25hd3MuY29tL3N1Y2Nlc3NmdWxfdXBsb2FkLmh0bWwifSwNCiAgICBbInN0',
    'YXJ0cy13aXRoIiwgIiRDb250ZW50LVR5cGUiLCAiaW1hZ2UvIl0sDQogICAgeyJ4LWFtei1tZXRhLXV1aWQiOiAiMTQzNjUxMjM2NTEyNzQifSwNCiAgICB7IngtYW16',
    'LXNlcnZlci1zaWRlLWVuY3J5cHRpb24iOiAiQUVTMjU2In0sDQogICAgWyJzdGFydHMtd2l0aCIsICIkeC1hbXotbWV0YS10YWciLCAiIl0sDQoNCiAgICB7IngtYW16',
    'LWNyZWRlbnRpYWwiOiAiQUtJQUlPU0ZPRE5ON0VYQU1QTEUvMjAxNTEyMjkvdXMtZWFzdC0xL3MzL2F3czRfcmVxdWVzdCJ9LA0KICAgIHsieC1hbXotYWxnb3JpdGht',
    'IjogIkFXUzQtSE1BQy1TSEEyNTYifSwNCiAgICB7IngtYW16LWRhdGUiOiAiMjAxNTEyMjlUMDAwMDAwWiIgfQ0KICBdDQp9',
  ].join('')
  const fields = new Map([
    ['policy', policy],
    ['x-amz-algorithm', 'AWS4-HMAC-SHA256'],
    ['x-amz-credential', 'AKIAIOSFODNN7EXAMPLE/20151229/us-east-1/s3/aws4_request'],
    ['x-amz-date', '20151229T000000Z'],
    ['x-amz-signature', '8afdbf4008c03f22c2cd3cdb72e4afbb1f6a588f3255ac628749a66d7f09699e'],
  ])
  expect(verifyForm(fields, rules).accessKeyId).toBe('AKIAIOSFODNN7EXAMPLE')
  fields.set('policy', policy.replace('e', 'f'))
  expect(refusal(() => verifyForm(fields, rules)).code).toBe('SignatureDoesNotMatch')
})

it('knows a form that nobody signed by that it claims nothing', () => {
  expect(verifyForm(new Map([['key', 'a']]), rules)).toBe(nobody)
})

it.each(['policy', 'x-amz-security-token', 'x-store-security-token'])('takes no form for that which has %s', (name) => {
  const fields = new Map([
    ['key', 'a'],
    [name, 'e30='],
  ] as const)
  expect(refusal(() => verifyForm(fields, rules)).code).toBe('AccessDenied')
})

describe.each([
  ['x-amz-', 4],
  ['x-store-', 4],
  ['x-amz-', 2],
] as const)('by names of %s, version %i', (prefix, version) => {
  it('knows the signer', () => {
    expect(verifyForm(formOf(prefix, version), rules)).toMatchObject({ accessKeyId: key.accessKeyId })
  })

  const signature = version === 2 ? 'signature' : `${prefix}signature`
  it.each<[what: string, changes: Changes, code: string]>([
    ['nothing that signs', { policy: undefined }, 'AccessDenied'],
    ['another policy', { policy: 'e30=' }, 'SignatureDoesNotMatch'],
    ['a policy with one bit more', { policy: 'ÿ' }, 'InvalidPolicyDocument'],
    ['an empty signature', { [signature]: '' }, 'SignatureDoesNotMatch'],
    ['another signature', { [signature]: '0'.repeat(version === 2 ? 28 : 64) }, 'SignatureDoesNotMatch'],
    ['no signature', { [signature]: undefined }, 'InvalidArgument'],
    ['a token', { 'x-amz-security-token': 'x' }, 'InvalidToken'],
    ['another mechanism beside it', { [version === 2 ? 'x-amz-signature' : 'awsaccesskeyid']: 'x' }, 'InvalidArgument'],
  ])('refuses %s', (_, changes, code) => {
    expect(refusal(() => verifyForm(formOf(prefix, version, changes), rules)).code).toBe(code)
  })
})

it('tells what was signed, unless that holds a key of SSE-C', () => {
  const told = (fields: [string, string][]): string | undefined => {
    const wrong = { ...key, secretAccessKey: 'wrong' }
    const form = new Map(signForm({ bucket: 'photos', fields }, { key: wrong, prefix: 'x-amz-' }))
    const { details } = refusal(() => verifyForm(form, rules))
    return details.StringToSign === form.get('policy') ? 'the policy' : details.StringToSign
  }
  expect(told([['key', 'a']])).toBe('the policy')
  expect(told([['x-amz-server-side-encryption-customer-key', 'secret']])).toBe('')
})

describe('of version 4', () => {
  it.each<[what: string, changes: Changes, code: string]>([
    [
      'an unknown key',
      { 'x-amz-credential': 'AKNOBODY/20151229/us-east-1/s3/aws4_request', 'x-amz-date': '20151229T000000Z' },
      'InvalidAccessKeyId',
    ],
    ['a key of another day', { 'x-amz-date': '20151229T000000Z' }, 'InvalidArgument'],
    ['a key of another service', { 'x-amz-credential': 'AK/20151229/us-east-1/sqs/aws4_request' }, 'InvalidArgument'],
    ['half a credential', { 'x-amz-credential': 'AK' }, 'InvalidArgument'],
    ['no credential', { 'x-amz-credential': undefined }, 'InvalidArgument'],
    ['no date', { 'x-amz-date': undefined }, 'InvalidArgument'],
    ['a date that is none', { 'x-amz-date': 'today' }, 'InvalidArgument'],
    ['no algorithm', { 'x-amz-algorithm': undefined }, 'InvalidArgument'],
    ['another algorithm', { 'x-amz-algorithm': 'AWS4-HMAC-SHA1' }, 'InvalidArgument'],
    ['an algorithm that is not implemented', { 'x-amz-algorithm': 'AWS4-ECDSA-P256-SHA256' }, 'NotImplemented'],
  ])('refuses %s', (_, changes, code) => {
    expect(refusal(() => verifyForm(formOf('x-amz-', 4, changes), rules)).code).toBe(code)
  })
})

describe('of version 2', () => {
  it.each<[what: string, changes: Changes, code: string]>([
    ['an unknown key', { awsaccesskeyid: 'AKNOBODY' }, 'InvalidAccessKeyId'],
    ['no key', { awsaccesskeyid: undefined }, 'InvalidArgument'],
    ['a key that is too long', { awsaccesskeyid: 'A'.repeat(300) }, 'AccessDenied'],
  ])('refuses %s', (_, changes, code) => {
    expect(refusal(() => verifyForm(formOf('x-amz-', 2, changes), rules)).code).toBe(code)
  })

  it('is taken where URLs are, as both are made for others', () => {
    const by = (taken: 'off' | 'presigned' | 'all') => () =>
      verifyForm(formOf('x-amz-', 2), { ...rules, version2: { taken } })
    expect(by('presigned')().accessKeyId).toBe(key.accessKeyId)
    expect(refusal(by('off'))).toMatchObject({ code: 'InvalidRequest', message: expect.stringContaining('sigv2') })
  })
})
