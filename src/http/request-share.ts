/** What one request holds of the server, and for whom it counts: the peer that sent it, then the account that signed it. */
import { S3Error } from '../errors.ts'
import type { Holder, Seat, Shares } from './shares.ts'

export class RequestShare {
  readonly #shares: Shares
  readonly #seat: Seat
  #holder: Holder
  #heldBytes = 0
  /** The answer must be sent or cut, and the work on it must end. */
  #openEnds = 2

  /** Counts from now on. */
  constructor(shares: Shares, seat: Seat) {
    this.#shares = shares
    this.#seat = seat
    this.#holder = seat.holder
    shares.begin(seat.holder)
  }

  mayBegin(): boolean {
    return this.#shares.mayBegin(this.#holder)
  }

  /** The signature was verified. Throws SlowDown when the account has its share. `false`: the account has its share of connections, and this one must end. */
  claim(accountId: string): boolean {
    const shares = this.#shares
    const seat = this.#seat
    if (seat.holder.accountId !== accountId && !shares.giveSeat(seat, accountId)) return false
    if (seat.holder !== this.#holder) {
      shares.move(this.#holder, seat.holder, this.#heldBytes)
      this.#holder = seat.holder
    }
    if (!shares.mayGoOn(this.#holder)) throw new S3Error('SlowDown')
    return true
  }

  /** Throws SlowDown when the client already holds its share of memory. Call it with a negative number to release memory. */
  require(bytes: number): void {
    if (!this.#shares.mayHold(this.#holder)) throw new S3Error('SlowDown')
    this.hold(bytes)
  }

  /** Memory that this request holds until the client takes or sends more. Negative: releases it. */
  hold(bytes: number): void {
    // A connection that was cut may report a release late.
    if (this.#openEnds === 0) return
    this.#heldBytes += bytes
    this.#shares.hold(this.#holder, bytes)
  }

  /** The request is refused unverified. Returns how long its answer has to wait. It counts all that time, even when the client has gone. */
  refused(nowMs: number): number {
    return this.#shares.refused(this.#holder, nowMs)
  }

  /** Whether it may wait for others on its connection: like any request, that takes some of its client's share. */
  mayWait(): boolean {
    return this.#shares.mayGoOn(this.#holder)
  }

  /** The request never begins. */
  leave(): void {
    this.#openEnds = 1
    this.ended()
  }

  /** Call once when the answer was sent or cut, and once when the work on it has ended. */
  ended(): void {
    if (this.#openEnds > 1) {
      this.#openEnds--
      return
    }
    if (this.#heldBytes !== 0) this.hold(-this.#heldBytes)
    this.#openEnds = 0
    this.#shares.end(this.#holder)
  }
}
