/** Who sent a request to the admin port: the holder of the key that signed it, or the user of a browser session. */
import { timingSafeEqual } from 'node:crypto'
import type { Credentials } from '../../auth/credentials.ts'
import type { Principal } from '../../auth/principal.ts'
import type { Sessions } from '../../auth/sessions.ts'
import { noVersion2, type Payload, verify } from '../../auth/verify.ts'
import type { Clock } from '../../clock.ts'
import { S3Error } from '../../errors.ts'
import { headerValue, type RequestHead, signedParts } from '../../http/request-head.ts'
import type { BrowserSession } from '../../logins/browser-sessions.ts'
import { readCookie } from '../../logins/cookies.ts'
import { LogInRefused } from '../../logins/log-in-refused.ts'
import type { LogIns } from '../../logins/log-ins.ts'
import type { AdminHosts } from './hosts.ts'

export interface Sender {
  principal: Principal
  payload: Payload | 'of a page'
  /** Absent: the request is signed. */
  session?: BrowserSession
  /** Rejects when the sender could not send the same request now, because its session or key is gone. */
  recheck(): Promise<Principal>
}

export interface SenderOptions {
  credentials: Credentials
  sessions: Sessions
  logIns: LogIns
  hosts: AdminHosts
  clock: Clock
}

/** Throws what verifying a signature throws, `LogInRefused`, and AccessDenied when nothing proves who sends. */
export async function findSender(head: RequestHead, options: SenderOptions): Promise<Sender> {
  if (head.names.includes('authorization')) return signedSender(head, options)
  const secure = options.hosts.originOf(head.host).startsWith('https:')
  const cookie = readCookie(headerValue(head, 'cookie'), 'session', secure)
  if (cookie === undefined) {
    // A signature in a URL counts for nothing here: such URLs end up in histories and logs.
    throw new S3Error('AccessDenied', {
      message: 'Requests to the admin port are signed, in the Authorization header, or come from a browser session.',
    })
  }
  // Pages of other ports of this host get nothing either, not even streams that they could not read.
  refuseOtherOrigins(head, options.hosts)
  const session = await options.logIns.find(cookie)
  if (head.method !== 'GET') refuseWithoutToken(head, session)
  const recheck = async (): Promise<Principal> => (await options.logIns.find(cookie)).principal
  return { principal: session.principal, payload: 'of a page', session, recheck }
}

async function signedSender(head: RequestHead, { credentials, sessions, clock }: SenderOptions): Promise<Sender> {
  await credentials.renewal()
  const sentMs = clock.now()
  const verified = () => verify(signedParts(head), credentials, sentMs, noVersion2, sessions)
  const recheck = async (): Promise<Principal> => {
    await credentials.renewal()
    // The signature is older by now, which is no fault. Its key may have another secret, other rights, or be gone.
    const { principal } = verified()
    if (clock.now() >= (principal.session?.expiresMs ?? Number.POSITIVE_INFINITY)) throw new S3Error('ExpiredToken')
    return principal
  }
  const { principal, payload } = verified()
  return { principal, payload, recheck }
}

/**
 * A browser sends its cookies with requests of any page. `SameSite=Strict` stops those of other sites, but not those of other ports of this host, where objects are
 * served. The token stops them, because only pages of this origin can read it. Throws `LogInRefused`.
 */
function refuseWithoutToken(head: RequestHead, { csrfToken }: BrowserSession): void {
  const sent = Buffer.from(headerValue(head, 'x-csrf-token') ?? '', 'latin1')
  const expected = Buffer.from(csrfToken, 'latin1')
  if (sent.length === expected.length && timingSafeEqual(sent, expected)) return
  throw new LogInRefused('ForeignRequest', 'The header X-CSRF-Token must hold the token of the session.')
}

/** Refuses requests that, as the browser says, come from a page of another origin. Throws `LogInRefused`. */
export function refuseOtherOrigins(head: RequestHead, hosts: AdminHosts): void {
  const origin = headerValue(head, 'origin')
  const site = headerValue(head, 'sec-fetch-site')
  if (
    (origin === undefined || hosts.isOwn(origin, head.host)) &&
    (site === undefined || site === 'same-origin' || site === 'none')
  ) {
    return
  }
  throw new LogInRefused('ForeignRequest', 'The request comes from a page of another origin.')
}
