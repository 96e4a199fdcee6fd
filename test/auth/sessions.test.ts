/** Sessions in use: opened once, remembered within bounds, and ended with what they hang on. */
import { describe, expect, it } from 'vitest'
import { openCredentials } from '../../src/auth/credentials.ts'
import { noIdentities } from '../../src/auth/known-identities.ts'
import { type Session, sealSession, type TokenKeys } from '../../src/auth/session-token.ts'
import { type KnownIssuer, openSessions, type Sessions } from '../../src/auth/sessions.ts'
import { systemClock } from '../../src/clock.ts'
import { limits } from '../../src/limits.ts'

const key = { id: '0123456789abcdef', secret: Buffer.alloc(32, 1) }
const issuers: readonly KnownIssuer[] = [{ name: 'oidc', issuer: 'https://id.example.com', account: 'main' }]
const credentials = openCredentials([{ id: 'main', name: 'Main', keys: [] }])
credentials.learn({
  ...noIdentities,
  enabledAccounts: new Set(['main']),
  policy: (accountId, name) => (accountId === 'main' && name === 'known' ? '{}' : undefined),
})

function webSession(more: Partial<Session> = {}): Session {
  return {
    accessKeyId: 'ASIAWEB',
    secretAccessKey: 'secret',
    accountId: 'main',
    holder: {
      kind: 'web-identity',
      provider: 'oidc',
      issuer: 'https://id.example.com',
      subject: 'ann',
      policies: ['known', 'gone'],
    },
    kind: 'web-identity',
    issuedMs: 0,
    expiresMs: 1000,
    ...more,
  }
}

const tokenOf = (session: Session): string =>
  sealSession(session, { newest: () => key, find: () => key }, (bytes) => systemClock.random(bytes))

function counting(trusted = issuers): { sessions: Sessions; opened: () => number } {
  let opened = 0
  const keys: TokenKeys = {
    newest: () => key,
    find: () => {
      opened++
      return key
    },
  }
  return { sessions: openSessions({ keys, credentials, issuers: trusted }), opened: () => opened }
}

const principalFor = (session: Session, trusted = issuers) =>
  counting(trusted).sessions.open(tokenOf(session), session.accessKeyId).secret().principal

describe('a web identity', () => {
  it('is a user apart from those of the account, with the policies that there are', () => {
    expect(principalFor(webSession())).toMatchObject({
      accountId: 'main',
      displayName: 'Main',
      accessKeyId: 'ASIAWEB',
      user: { name: 'oidc/ann', id: 'oidc:https://id.example.com#ann' },
      policies: [{ name: 'known', document: '{}' }],
      session: { kind: 'web-identity', issuedMs: 0, expiresMs: 1000 },
    })
  })

  it.each<[what: string, trusted: readonly KnownIssuer[], session: Partial<Session>]>([
    ['has no issuer any more', [], {}],
    ['has another issuer of that name', [{ name: 'oidc', issuer: 'https://other.example.com', account: 'main' }], {}],
    ['has an issuer of another name', [{ name: 'ci', issuer: 'https://id.example.com', account: 'main' }], {}],
    ['would be of another account', [{ name: 'oidc', issuer: 'https://id.example.com', account: 'other' }], {}],
    [
      'is of an account that there is not',
      [{ name: 'oidc', issuer: 'https://id.example.com', account: 'x' }],
      { accountId: 'x' },
    ],
  ])('ends when it %s', (_, trusted, session) => {
    expect(principalFor(webSession(session), trusted)).toBeUndefined()
  })
})

describe('remembered sessions', () => {
  it('are opened once, and are the same principal as long as nothing changes', () => {
    const { sessions, opened } = counting()
    const token = tokenOf(webSession())
    const [first, second] = [1, 2].map(() => sessions.open(token, 'ASIAWEB').secret().principal)
    expect([opened(), first === second]).toEqual([1, true])
  })

  it('are bounded, and those in use stay', () => {
    const { sessions, opened } = counting()
    const [used, unused] = [tokenOf(webSession()), tokenOf(webSession())]
    for (const token of [used, unused]) sessions.open(token, 'ASIAWEB')
    for (let i = 1; i < limits.sessionsRemembered; i++) {
      sessions.open(tokenOf(webSession()), 'ASIAWEB')
      sessions.open(used, 'ASIAWEB')
    }
    const before = opened()
    sessions.open(used, 'ASIAWEB')
    expect(opened()).toBe(before)
    sessions.open(unused, 'ASIAWEB')
    expect(opened()).toBe(before + 1)
  })
})
