/** Page tokens carry any place, and nothing but a token is taken for one. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pageToken, readPageToken } from '../../../src/operations/listings/page-token.ts'
import { outcomeOf } from '../../objects/fixture.ts'

describe('a page token', () => {
  it('leads to the place it was made for, in characters that need no encoding in a URL', () => {
    const text = fc.string({ unit: 'binary' })
    const place = fc.oneof(fc.record({ afterKey: text }), fc.record({ afterGroup: text }))
    fc.assert(
      fc.property(place, (next) => {
        const token = pageToken(next)
        expect(readPageToken(token)).toEqual(next)
        expect(token).toMatch(/^[\w-]+$/)
      }),
    )
  })

  it.each([
    { afterKey: '' },
    { afterGroup: '' },
    { afterKey: '\ufeffk' },
    { afterKey: '\ufffd' },
    { afterGroup: 'a/' },
  ])('leads to %j', (next) => {
    expect(readPageToken(pageToken(next))).toEqual(next)
  })

  it.each([
    ['nothing', ''],
    ['text', 'some key'],
    ['a key', 'a/b'],
    ['another kind', Buffer.from('xkey').toString('base64url')],
    ['base64 with padding', Buffer.from('kab').toString('base64url').padEnd(8, '=')],
    ['the other base64', Buffer.from('k\u00ff\u00fe').toString('base64').replace('-', '+')],
    ['bytes that are not UTF-8', Buffer.from([0x6b, 0xff]).toString('base64url')],
    ['a token with something behind', `${pageToken({ afterKey: 'ab' })}!`],
    ['a token with a space', ` ${pageToken({ afterKey: 'ab' })}`],
    ['bits that no byte has', 'a3='],
    ['a single character', 'k'],
    ['text beyond ASCII', 'ключ'],
    ['very long text', 'x'.repeat(10_001)],
  ])('is not %s', (_what, token) => {
    expect(outcomeOf(() => readPageToken(token))).toBe('InvalidArgument')
  })

  it('is the only spelling of its place', () => {
    fc.assert(
      fc.property(fc.string(), (token) => {
        if (outcomeOf(() => readPageToken(token)) === 'ok') expect(pageToken(readPageToken(token))).toBe(token)
      }),
    )
  })
})
