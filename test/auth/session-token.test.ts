/** Session tokens: what is sealed opens with the ring that sealed it, or a newer one, and nothing else does. */
import { describe, expect, it } from 'vitest'
import { openSession, type Session, sealSession, type TokenKeys } from '../../src/auth/session-token.ts'
import { systemClock } from '../../src/clock.ts'
import { keyRing, ringKey, storeKeyName, withNewKey } from '../../src/encryption/key-ring.ts'
import { known } from '../../src/known.ts'
import { limits } from '../../src/limits.ts'
import { refusal } from './refusal.ts'

const random = (bytes: number): Buffer => systemClock.random(bytes)
const ring = keyRing([ringKey(storeKeyName, Buffer.alloc(32, 1))])
const keysOf = (from: typeof ring): TokenKeys => ({
  newest: () => known(from.newest(storeKeyName)),
  find: (id) => from.find(storeKeyName, id),
})
const session: Session = {
  accessKeyId: 'ASIAEXAMPLE',
  secretAccessKey: 'secret-canary',
  accountId: 'main',
  holder: { kind: 'key', accessKeyId: 'AKMAIN', secretTag: 'tag' },
  kind: 'assumed-role',
  policy: '{"Version":"2012-10-17"}',
  issuedMs: 1,
  expiresMs: 2,
}
const sealed = sealSession(session, keysOf(ring), random)
const code = (token: string, from = ring): string => refusal(() => openSession(token, keysOf(from))).code

describe('a session token', () => {
  it('gives back what was sealed, and shows nothing of it', () => {
    expect(openSession(sealed, keysOf(ring))).toEqual(session)
    expect(openSession(`${sealed}=`, keysOf(ring))).toEqual(session)
    expect(sealed).toMatch(/^[\w-]+$/)
    expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toMatch(/canary|AKMAIN|2012/)
    expect(sealSession(session, keysOf(ring), random)).not.toBe(sealed)
  })

  it('opens when the ring has a newer key, and no longer when its own has gone', () => {
    const newer = withNewKey(ring, storeKeyName, random)
    expect(openSession(sealed, keysOf(newer))).toEqual(session)
    const bySuccessor = sealSession(session, keysOf(newer), random)
    expect(openSession(bySuccessor, keysOf(newer))).toEqual(session)
    expect(code(bySuccessor)).toBe('InvalidToken')
  })

  it('is not opened by a key with another secret, even of the same id', () => {
    const forged = keyRing([
      { name: storeKeyName, id: known(ring.newest(storeKeyName)).id, secret: Buffer.alloc(32, 2) },
    ])
    expect(code(sealed, forged)).toBe('InvalidToken')
  })

  it('is refused when any of its bits is another', () => {
    const bytes = Buffer.from(sealed, 'base64url')
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes)
      changed[at] = known(changed[at]) ^ (1 << (at % 8))
      expect([at, code(changed.toString('base64url'))]).toEqual([at, 'InvalidToken'])
    }
  })

  it.each([
    '',
    '=',
    'AQ',
    'not base64!',
    sealed.slice(0, -1),
    sealed.slice(0, 40),
    `${sealed}A`,
    'A'.repeat(limits.sessionTokenCharsMax + 1),
  ])('is none in %j', (token) => {
    expect(code(token)).toBe('InvalidToken')
  })
})
