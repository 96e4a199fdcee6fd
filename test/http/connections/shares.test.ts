import { describe, expect, it } from 'vitest'
import { RequestShare } from '../../../src/http/connections/request-share.ts'
import { type Seat, Shares } from '../../../src/http/connections/shares.ts'

const limits = {
  connectionsMax: 6,
  requestsInFlightMax: 6,
  clientBytesMax: 600,
  refusals: { costMs: 1, forgivenMs: 10, delayMsMax: 10 },
}

let cuts: string[] = []
function sharesWith(changed: Partial<typeof limits> = {}): {
  shares: Shares
  sit(address: string, name?: string): Seat | undefined
} {
  cuts = []
  const shares = new Shares({ ...limits, ...changed })
  return { shares, sit: (address, name = address) => shares.takeSeat(address, () => cuts.push(name)) }
}

function must(seat: Seat | undefined): Seat {
  if (seat === undefined) throw new Error('there was no place')
  return seat
}

describe('places for connections', () => {
  it('of a peer at its share are those of its idle connections, oldest first; one in use since the last look is spared', () => {
    const { sit } = sharesWith()
    const [first, second] = ['first', 'second', 'third'].map((name) => must(sit('a', name)))
    must(first).used = true
    must(second).isBusy = () => true
    must(sit('a', 'fourth'))
    expect(cuts).toEqual(['third'])
    must(sit('a', 'fifth'))
    expect(cuts).toEqual(['third', 'first'])
    must(sit('b'))
    expect(cuts).toHaveLength(2)
  })

  it('are refused where every connection of the peer is busy, and another peer finds one', () => {
    const { sit } = sharesWith()
    for (let i = 0; i < 3; i++) must(sit('a')).isBusy = () => true
    expect(sit('a')).toBeUndefined()
    must(sit('b'))
    expect(cuts).toEqual([])
  })

  it('come from the largest holder where nothing is left', () => {
    const { shares, sit } = sharesWith({ connectionsMax: 4 })
    for (const name of ['a1', 'a2']) must(sit('a', name))
    must(sit('b'))
    must(sit('c'))
    must(sit('d'))
    expect(cuts).toEqual(['a1'])
    for (const address of ['e', 'f']) shares.leaveSeat(must(sit(address)))
  })

  it('that were left are free, however often it is said', () => {
    const { shares, sit } = sharesWith()
    for (let round = 0; round < 100; round++) {
      const seat = must(sit('a'))
      seat.isBusy = () => true
      shares.giveSeat(seat, round % 2 === 0 ? 'main' : 'other')
      shares.leaveSeat(seat)
      shares.leaveSeat(seat)
    }
    expect(cuts).toEqual([])
  })

  it('of an account come from wherever it connects, and are its share too', () => {
    const { shares, sit } = sharesWith()
    const seats = ['a', 'b', 'c', 'd'].map((address) => must(sit(address)))
    for (const seat of seats) seat.isBusy = () => true
    expect(seats.map((seat) => shares.giveSeat(seat, 'main'))).toEqual([true, true, false, false])
    expect(shares.giveSeat(must(seats[0]), 'main')).toBe(true)
  })
})

describe('requests', () => {
  const verified = (shares: Shares, seat: Seat, account: string): RequestShare => {
    const share = new RequestShare(shares, seat)
    share.claim(account)
    return share
  }
  const end = (share: RequestShare): void => {
    share.ended()
    share.ended()
  }

  it('of an account at its share are refused, those of another are not, and what ends is free again', () => {
    const { shares, sit } = sharesWith()
    const seat = must(sit('a'))
    const running = [1, 2, 3].map(() => verified(shares, seat, 'main'))
    expect(() => verified(shares, seat, 'main')).toThrow('reduce your request rate')
    for (const share of running.splice(0)) end(share)
    for (let round = 0; round < 100; round++) end(verified(shares, seat, round % 2 === 0 ? 'main' : 'other'))
  })

  it('take what they hold along when their account is known, and let go of it at their end, also of what is said late', () => {
    const { shares, sit } = sharesWith()
    const seat = must(sit('a'))
    for (let round = 0; round < 10; round++) {
      const account = round % 2 === 0 ? 'main' : 'other'
      const share = new RequestShare(shares, seat)
      share.require(400)
      // A peer holds as much as is left for others by now, and so does the account that it turns out to be.
      expect(() => share.claim(account)).toThrow('reduce your request rate')
      expect(() => share.require(1)).toThrow('reduce your request rate')
      end(share)
      share.hold(-400)
      share.hold(400)
      end(verified(shares, seat, account))
    }
  })
})
