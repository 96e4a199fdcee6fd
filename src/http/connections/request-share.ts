/** What one request holds of the server. It counts for the peer that sent it, then for the account that signed it. */
import { S3Error } from '../../errors.ts'
import type { Holder, Seat, Shares } from './shares.ts'

export class RequestShare {
  readonly #shares: Shares
  readonly #seat: Seat
  #holder: Holder
  #heldBytes = 0
  /** Two things must end before the share is released: the answer, and the work on it. */
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

  /**
   * Counts the request for the account that signed it. Throws SlowDown when the account has its share of requests. `false`: the account has its share
   * of connections, and this one must end.
   */
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

  /** Call when the request is refused unverified. Returns how long its answer must wait. The request counts all that time, even when the client has gone. */
  refused(nowMs: number): number {
    return this.#shares.refused(this.#holder, nowMs)
  }

  /** Whether the request may wait behind others on its connection. While it waits, it takes part of its client's share. */
  mayWait(): boolean {
    return this.#shares.mayGoOn(this.#holder)
  }

  /** Call instead of `ended` when the request never begins. */
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
