/** Counts what each client holds of the server: connections, requests under way, bytes in memory. `fair-share.ts` says how much it may hold. */
import { afterRefusal, mayTake, peerGroup, type Refusals } from './fair-share.ts'

export interface ShareLimits {
  connectionsMax: number
  requestsInFlightMax: number
  clientBytesMax: number
  refusals: Refusals
}

/** An account, or the peer address of a client that has not proven to be one. */
export class Holder {
  readonly name: string
  /** Absent: a peer. */
  readonly accountId: string | undefined
  /** In the order in which `idleSeat` examines them. */
  readonly seats = new Set<Seat>()
  requests = 0
  bytes = 0

  constructor(name: string, accountId: string | undefined) {
    this.name = name
    this.accountId = accountId
  }
}

/** The seat of one connection. It belongs to the peer address until a request on it is verified, then to that account. */
export class Seat {
  holder: Holder
  /** Whether a request came since the last look. */
  used = false
  /** Whether closing it would break off a request. */
  isBusy: () => boolean = () => false
  readonly cut: () => void

  constructor(holder: Holder, cut: () => void) {
    this.holder = holder
    this.cut = cut
  }
}

/** How many connections are examined to find one that can be closed. */
const looksMax = 64

export class Shares {
  readonly limits: ShareLimits
  readonly #holders = new Map<string, Holder>()
  /**
   * When the debt of each refused holder ends, the last refused last. A debt outlives its connection: a client that opens another one still has it.
   */
  readonly #debts = new Map<string, number>()
  #seats = 0
  #requests = 0
  #bytes = 0

  constructor(limits: ShareLimits) {
    this.limits = limits
  }

  /**
   * Takes a seat for a new connection. When its peer already has its share, closes an idle connection of that peer. `undefined`: there is no seat. The
   * caller returns the seat with `leaveSeat`.
   */
  takeSeat(remoteAddress: string | undefined, cut: () => void): Seat | undefined {
    const holder = this.#holder(`peer ${peerGroup(remoteAddress)}`, undefined)
    if (!this.#hasRoom(holder) && !this.#makeRoom(holder)) {
      this.#forgetIdle(holder)
      return undefined
    }
    const seat = new Seat(holder, cut)
    holder.seats.add(seat)
    this.#seats++
    return seat
  }

  /** Idempotent. */
  leaveSeat(seat: Seat): void {
    if (!seat.holder.seats.delete(seat)) return
    this.#seats--
    this.#forgetIdle(seat.holder)
  }

  /** Gives the connection to an account. False: the account has its share of connections. */
  giveSeat(seat: Seat, accountId: string): boolean {
    const account = this.#holder(`account ${accountId}`, accountId)
    const former = seat.holder
    if (account === former) return true
    if (!this.#hasRoom(account) && !this.#makeRoom(account)) {
      this.#forgetIdle(account)
      return false
    }
    if (former.seats.delete(seat)) account.seats.add(seat)
    seat.holder = account
    this.#forgetIdle(former)
    return true
  }

  /**
   * Whether a request that has begun may go on to be verified. The share of the connection's account is not checked yet, because another account may
   * have signed this request.
   */
  mayBegin(holder: Holder): boolean {
    return holder.accountId === undefined ? this.mayGoOn(holder) : this.#requests <= this.limits.requestsInFlightMax
  }

  begin(holder: Holder): void {
    holder.requests++
    this.#requests++
  }

  /** Moves a request under way, and the memory that it holds, to another holder. */
  move(from: Holder, to: Holder, bytes: number): void {
    from.requests--
    to.requests++
    from.bytes -= bytes
    to.bytes += bytes
    this.#forgetIdle(from)
  }

  end(holder: Holder): void {
    holder.requests--
    this.#requests--
    this.#forgetIdle(holder)
  }

  /** Whether the holder's requests under way are within its share. */
  mayGoOn({ requests, bytes }: Holder): boolean {
    const { requestsInFlightMax, clientBytesMax } = this.limits
    return (
      mayTake({ own: requests - 1, used: this.#requests - 1, limit: requestsInFlightMax }) &&
      mayTake({ own: bytes, used: this.#bytes, limit: clientBytesMax })
    )
  }

  mayHold({ bytes }: Holder): boolean {
    return mayTake({ own: bytes, used: this.#bytes, limit: this.limits.clientBytesMax })
  }

  /** Counts memory. Negative: releases it. */
  hold(holder: Holder, bytes: number): void {
    holder.bytes += bytes
    this.#bytes += bytes
  }

  /** Counts a request that is refused before its sender is known. Returns how long its answer must wait. */
  refused({ name }: Holder, nowMs: number): number {
    const { untilMs, delayMs } = afterRefusal(this.#debts.get(name) ?? 0, nowMs, this.limits.refusals)
    this.#debts.delete(name)
    this.#debts.set(name, untilMs)
    for (const [other, paidMs] of this.#debts) {
      if (paidMs > nowMs) break
      this.#debts.delete(other)
    }
    return delayMs
  }

  #holder(name: string, accountId: string | undefined): Holder {
    let holder = this.#holders.get(name)
    if (holder === undefined) {
      holder = new Holder(name, accountId)
      this.#holders.set(name, holder)
    }
    return holder
  }

  #hasRoom({ seats }: Holder): boolean {
    return mayTake({ own: seats.size, used: this.#seats, limit: this.limits.connectionsMax })
  }

  /** Closes an idle connection of the holder or, if it has none, of the holder with the most. */
  #makeRoom(holder: Holder): boolean {
    const from = holder.seats.size > 0 ? holder : this.#largest()
    const seat = from && idleSeat(from)
    if (seat === undefined) return false
    this.leaveSeat(seat)
    seat.cut()
    return true
  }

  #largest(): Holder | undefined {
    let largest: Holder | undefined
    for (const holder of this.#holders.values()) {
      if (holder.seats.size > (largest?.seats.size ?? 0)) largest = holder
    }
    return largest
  }

  #forgetIdle(holder: Holder): void {
    if (holder.seats.size === 0 && holder.requests === 0 && holder.bytes === 0) this.#holders.delete(holder.name)
  }
}

/** The first seat that is idle now and was idle at the last look. Seats that it passes over go to the end. */
function idleSeat({ seats }: Holder): Seat | undefined {
  let looks = 0
  for (const seat of seats) {
    if (!seat.used && !seat.isBusy()) return seat
    if (++looks === looksMax) return undefined
    seat.used = false
    seats.delete(seat)
    seats.add(seat)
  }
  return undefined
}
