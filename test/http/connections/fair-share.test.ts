import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { afterRefusal, mayTake, peerGroup } from '../../../src/http/connections/fair-share.ts'

describe('a share', () => {
  it.each([
    [{ own: 0, used: 0, limit: 1 }, true],
    [{ own: 0, used: 1, limit: 1 }, false],
    [{ own: 0, used: 9, limit: 10 }, true],
    [{ own: 0, used: 10, limit: 10 }, false],
    [{ own: 0, used: 12, limit: 10 }, false],
    [{ own: 4, used: 4, limit: 10 }, true],
    [{ own: 5, used: 5, limit: 10 }, false],
    [{ own: 3, used: 6, limit: 10 }, true],
    [{ own: 3, used: 7, limit: 10 }, false],
  ])('of %o may grow: %s', (taken, may) => {
    expect(mayTake(taken)).toBe(may)
  })

  it('leaves something to a newcomer, however greedy the others are', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 10_000 }), fc.integer({ min: 1, max: 20 }), (limit, clients) => {
        const own = Array<number>(clients).fill(0)
        let used = 0
        for (let isGrowing = true; isGrowing; ) {
          isGrowing = false
          for (let client = 0; client < clients; client++) {
            if (!mayTake({ own: own[client] ?? 0, used, limit })) continue
            own[client] = (own[client] ?? 0) + 1
            used++
            isGrowing = true
          }
        }
        if (limit > 2 * clients) expect(mayTake({ own: 0, used, limit })).toBe(true)
        // Together they use what one less greedy than they would leave.
        expect(used).toBeGreaterThanOrEqual(Math.floor((limit * clients) / (clients + 1)) - clients)
      }),
      { numRuns: 200 },
    )
  })
})

describe('a peer', () => {
  it.each([
    [undefined, ''],
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:DB8:1:2:ffff::1', '2001:db8:1:2'],
    ['2001:db8::1', '2001:db8:0:0'],
    ['::1', '0:0:0:0'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
  ])('at %s counts as %s', (address, group) => {
    expect(peerGroup(address)).toBe(group)
  })
})

describe('refusals', () => {
  const refusals = { costMs: 10, forgivenMs: 100, delayMsMax: 50 }

  it.each([
    ['the first costs nothing yet', 0, { untilMs: 1010, delayMs: 0 }],
    ['old ones are forgotten', 900, { untilMs: 1010, delayMs: 0 }],
    ['those just forgiven', 1090, { untilMs: 1100, delayMs: 0 }],
    ['one more', 1100, { untilMs: 1110, delayMs: 10 }],
    ['very many wait no longer than the longest delay', 5000, { untilMs: 1150, delayMs: 50 }],
  ])('%s', (_what, untilMs, after) => {
    expect(afterRefusal(untilMs, 1000, refusals)).toEqual(after)
  })
})
