/**
 * Sessions of browsers, as records of the metadata: so any gateway knows them, they survive a restart, and a log-out ends them everywhere (ADR 0046). A record holds a
 * digest of the cookie and the sealed session, but no secret of a key.
 */
import { hash } from 'node:crypto'
import { z } from 'zod'
import type { Principal } from '../auth/principal.ts'
import type { SessionHolder } from '../auth/session-token.ts'
import { S3Error } from '../errors.ts'
import { readRecord, systemRecord } from '../instance/sealed-record.ts'
import type { Entry, Kv } from '../kv/kv.ts'
import { type KeyRange, rangeOf, unpackKey } from '../kv/ordered-key.ts'
import { limits } from '../limits.ts'
import type { StsContext } from '../sts/action.ts'
import { type IssuedKeys, issueKeys, type NewSession } from '../sts/issue.ts'
import { holderOf } from '../sts/session-parts.ts'
import { LogInRefused } from './log-in-refused.ts'

const schema = z.object({
  /** Everything about the session, sealed: see `auth/session-token.ts`. */
  token: z.string(),
  accessKeyId: z.string(),
  /** A digest of whose session it is. Absent: an older version began it. */
  holder: z.string().optional(),
  beganMs: z.number(),
  /** When the last request came, accurate to `sessionSeenEveryMs`. */
  seenMs: z.number(),
  expiresMs: z.number(),
})
type SessionRecord = z.infer<typeof schema>

const records: KeyRange = rangeOf('s', 'browser-session')
const recordOf = (id: string) => systemRecord(['browser-session', id], schema)

export interface BrowserSession {
  /** Identifies the session in logs. It does not open the session. */
  id: string
  principal: Principal
  /** Pages of this origin send it with each request that may change something. */
  csrfToken: string
  /** When it ends, even if it is used. */
  expiresMs: number
}

export interface NewBrowserSession {
  accountId: string
  holder: SessionHolder
  kind: 'session-token' | 'web-identity'
  claims?: NewSession['claims']
  /** When the session must end because what it began with ends. */
  untilMs: number
}

export class BrowserSessions {
  readonly #kv: Kv
  readonly #sts: StsContext

  constructor(kv: Kv, sts: StsContext) {
    this.#kv = kv
    this.#sts = sts
  }

  /** Resolves with the cookie's value when the session is durable. */
  async begin({ untilMs, ...session }: NewBrowserSession): Promise<{ cookie: string; session: BrowserSession }> {
    const { clock } = this.#sts
    const beganMs = clock.now()
    const holder = holderDigest(session)
    await this.#sweep(holder, beganMs)
    const expiresMs = Math.min(beganMs + limits.browserSessionMs, untilMs)
    const { sessionToken: token, accessKeyId } = await issueKeys({ ...session, expiresMs }, this.#sts)
    const cookie = clock.random(32).toString('base64url')
    const record = recordOf(idOf(cookie))
    const value: SessionRecord = { token, accessKeyId, holder, beganMs, seenMs: beganMs, expiresMs }
    await this.#kv.commit({ puts: [{ key: record.key, value: record.seal(value) }] })
    return { cookie, session: this.#opened(cookie, value) }
  }

  /** Throws `LogInRefused` when there is no such session, or it has ended. */
  async find(cookie: string): Promise<BrowserSession> {
    if (!/^[\w-]{43}$/.test(cookie)) throw ended()
    const record = recordOf(idOf(cookie))
    const found = await readRecord(this.#kv, record)
    if (found === undefined) throw ended()
    const { value, version } = found
    const nowMs = this.#sts.clock.now()
    if (isOver(value, nowMs)) throw ended()
    const opened = this.#opened(cookie, value)
    if (nowMs - value.seenMs > limits.sessionSeenEveryMs) {
      // Another request may have noted it already, or have ended the session.
      const puts = [{ key: record.key, value: record.seal({ ...value, seenMs: nowMs }) }]
      await this.#kv.commit({ checks: [{ key: record.key, version }], puts })
    }
    return opened
  }

  /** Idempotent. Temporary keys that the session gave out stay valid until they expire. */
  async end(cookie: string): Promise<void> {
    await this.#kv.commit({ deletes: [recordOf(idOf(cookie)).key] })
  }

  /** Temporary keys with which a page signs requests to the S3 port. They have the rights of the session, and end soon. */
  issue(principal: Principal): Promise<IssuedKeys> {
    const { holder, untilMs } = holderOf(principal, this.#sts)
    const { accountId, session } = principal
    const expiresMs = Math.min(this.#sts.clock.now() + limits.pageKeysMs, untilMs)
    const kind = holder.kind === 'web-identity' ? 'web-identity' : 'session-token'
    const claims = session?.claims && Object.fromEntries(session.claims)
    return issueKeys({ accountId, holder, kind, claims, policy: session?.policy, expiresMs }, this.#sts)
  }

  #opened(cookie: string, { token, accessKeyId, expiresMs }: SessionRecord): BrowserSession {
    const { principal } = this.#open(token, accessKeyId)
    // The key that the session began with was removed, disabled or rotated.
    if (principal === undefined) throw ended()
    return { id: idOf(cookie), principal, csrfToken: csrfTokenOf(cookie), expiresMs }
  }

  #open(token: string, accessKeyId: string): { principal: Principal | undefined } {
    try {
      return this.#sts.sessions.open(token, accessKeyId).secret()
    } catch (error) {
      // The key of the ring that sealed the token is retired.
      if (error instanceof S3Error) throw ended()
      throw error
    }
  }

  /**
   * Makes room for one more session. Removes the records of those that are over: every log-in looks, so that they never pile up. Ends the oldest ones of a holder that
   * has its share, so that nobody can keep others from logging in.
   */
  async #sweep(holder: string, nowMs: number): Promise<void> {
    const found = await this.#kv.range({ ...records, limit: limits.browserSessionsMax })
    const sessions = found.map((entry) => ({ key: entry.key, value: recordIn(entry) }))
    const over = sessions.filter(({ value }) => isOver(value, nowMs))
    const own = sessions
      .filter(({ value }) => value.holder === holder && !isOver(value, nowMs))
      .toSorted((a, b) => a.value.beganMs - b.value.beganMs)
    const surplus = own.slice(0, Math.max(0, own.length + 1 - limits.browserSessionsOfHolderMax))
    const ended = [...over, ...surplus]
    if (ended.length > 0) await this.#kv.commit({ deletes: ended.map(({ key }) => key) })
    if (found.length - ended.length < limits.browserSessionsMax) return
    throw new LogInRefused('TooManyLogIns', 'There are too many sessions. Try again later.', { retryAfterSeconds: 60 })
  }
}

function recordIn({ key, value }: Entry): SessionRecord {
  const [, , id] = unpackKey(key, ['string', 'string', 'string'])
  return recordOf(id).open(value)
}

/** What ends a session apart from a log-out: its age, or a pause. */
function isOver({ expiresMs, seenMs }: Pick<SessionRecord, 'expiresMs' | 'seenMs'>, nowMs: number): boolean {
  return nowMs >= expiresMs || nowMs - seenMs >= limits.browserSessionIdleMs
}

const digest = (purpose: string, text: string): string => hash('sha256', `holdfast ${purpose}\n${text}`)

const holderDigest = ({ accountId, holder }: Pick<NewBrowserSession, 'accountId' | 'holder'>): string =>
  digest(
    'holder of browser sessions',
    JSON.stringify(
      holder.kind === 'key' ? [accountId, holder.accessKeyId] : [accountId, holder.issuer, holder.subject],
    ),
  )

const idOf = (cookie: string): string => digest('browser session', cookie)
const csrfTokenOf = (cookie: string): string => digest('csrf token', cookie)

const ended = (): LogInRefused => new LogInRefused('SessionEnded', 'The session has ended. Log in again.')
