/** Accounts become credentials; contradictions among them stop the start. */
import { describe, expect, it } from 'vitest'
import { openCredentials } from '../../src/auth/credentials.ts'
import { signature } from '../../src/auth/sigv4.ts'
import { limits } from '../../src/limits.ts'

const key = (accessKeyId: string, secretAccessKey = 'secret') => ({ accessKeyId, secretAccessKey })
const scopeOf = (accessKeyId: string, region = 'us-east-1') => ({
  accessKeyId,
  date: '20130524',
  region,
  service: 's3' as const,
  text: `20130524/${region}/s3/aws4_request`,
  credential: `${accessKeyId}/20130524/${region}/s3/aws4_request`,
})

describe('openCredentials', () => {
  it('finds each key of each account', () => {
    const credentials = openCredentials([
      { id: 'a', name: 'Alice', keys: [key('A1'), key('A2', 'other')] },
      { id: 'b', name: 'Bob', keys: [key('B1')] },
    ])
    const principal = { accountId: 'a', displayName: 'Alice', accessKeyId: 'A2' }
    expect(credentials.secretOf('A2')).toEqual({ principal, secretAccessKey: 'other' })
    expect(credentials.secretOf('B1').principal?.accountId).toBe('b')
    for (const unknown of ['C1', 'constructor']) {
      const { principal, secretAccessKey } = credentials.secretOf(unknown)
      expect([principal, credentials.isSecret(secretAccessKey)]).toEqual([undefined, false])
      expect(secretAccessKey).toMatch(/^[0-9a-f]{64}$/)
    }
    expect(credentials.isSecret('other')).toBe(true)
  })

  it.each([
    [
      'one key in two accounts',
      [
        { id: 'a', name: 'A', keys: [key('K')] },
        { id: 'b', name: 'B', keys: [key('K')] },
      ],
      /K is given twice/,
    ],
    ['one key twice', [{ id: 'a', name: 'A', keys: [key('K'), key('K', 'other')] }], /K is given twice/],
    [
      'one account twice',
      [
        { id: 'a', name: 'A', keys: [] },
        { id: 'a', name: 'B', keys: [] },
      ],
      /account a is given twice/,
    ],
    ['an account without id', [{ id: '', name: 'A', keys: [] }], /no id/],
    ['an empty access key', [{ id: 'a', name: 'A', keys: [key('')] }], /empty access key or secret/],
    ['an empty secret', [{ id: 'a', name: 'A', keys: [key('K', '')] }], /empty access key or secret/],
  ])('refuses %s', (_, accounts, message) => {
    expect(() => openCredentials(accounts)).toThrow(message)
  })

  it('does not put a secret into an error', () => {
    const accounts = [{ id: 'a', name: 'A', keys: [key('K', 'canary'), key('K', 'canary')] }]
    expect(() => openCredentials(accounts)).toThrow(/^((?!canary).)+$/s)
  })
})

describe('other accounts', () => {
  it('have secrets, too, and those before have none any more', () => {
    const credentials = openCredentials([{ id: 'a', name: 'A', keys: [key('K', 'old')] }])
    credentials.replace([{ id: 'a', name: 'A', keys: [key('K', 'new')] }])
    expect(['old', 'new'].map((text) => credentials.isSecret(text))).toEqual([false, true])
  })
})

describe('signing keys', () => {
  const credentials = openCredentials([{ id: 'a', name: 'A', keys: [key('K'), key('L', 'other')] }])
  const signed = (accessKeyId: string, region?: string) =>
    signature(credentials.signer(scopeOf(accessKeyId, region)).key, 'text')

  it('differ by secret and by scope, and are derived once', () => {
    expect(new Set([signed('K'), signed('L'), signed('K', 'eu-west-1'), signed('nobody')]).size).toBe(4)
    expect(credentials.signer(scopeOf('K'))).toBe(credentials.signer(scopeOf('K')))
  })

  it('belong to nobody for an unknown access key, and cannot be derived from an empty secret', () => {
    expect(credentials.signer(scopeOf('nobody')).principal).toBeUndefined()
    const another = openCredentials([])
    expect(signature(another.signer(scopeOf('nobody')).key, 'text')).not.toBe(signed('nobody'))
  })

  it('are kept for a bounded number of scopes', () => {
    const first = credentials.signer(scopeOf('K', 'first'))
    for (let i = 0; i < limits.signingKeysMax; i++) credentials.signer(scopeOf('K', `r${i}`))
    const again = credentials.signer(scopeOf('K', 'first'))
    expect(again).not.toBe(first)
    expect(signature(again.key, 'text')).toBe(signature(first.key, 'text'))
  })
})
