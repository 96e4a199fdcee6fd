/** Log-ins of browsers: by an access key and its secret, or at an issuer. No secret of a key is kept. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { Credentials } from '../auth/credentials.ts'
import { type PresignedObject, presignObject } from '../auth/presign.ts'
import type { Principal } from '../auth/principal.ts'
import { secretTag } from '../auth/session-token.ts'
import type { Kv } from '../kv/kv.ts'
import type { StsContext } from '../sts/action.ts'
import type { OidcProvider } from '../sts/oidc/provider-settings.ts'
import { Attempts } from './attempts.ts'
import { type BrowserSession, BrowserSessions } from './browser-sessions.ts'
import type { IssuerLogIns } from './issuer-log-ins.ts'
import { LogInRefused, notBegun } from './log-in-refused.ts'

export interface LogInsOptions {
  kv: Kv
  credentials: Credentials
  sts: StsContext
  oidc: readonly OidcProvider[]
}

interface LoggedIn {
  cookie: string
  session: BrowserSession
}

export class LogIns {
  readonly #options: LogInsOptions
  readonly #attempts = new Attempts()
  /** Opened for the first log-in at an issuer, because most servers have no issuer. */
  #atIssuers: Promise<IssuerLogIns> | undefined
  readonly sessions: BrowserSessions

  constructor(options: LogInsOptions) {
    this.#options = options
    this.sessions = new BrowserSessions(options.kv, options.sts)
  }

  /** Names of the issuers at which users can log in. */
  get issuers(): string[] {
    return this.#options.oidc.map(({ name }) => name)
  }

  /** Throws `LogInRefused`; ServiceUnavailable when the identities can't be read. */
  async withKey(accessKeyId: string, secretAccessKey: string, address: string): Promise<LoggedIn> {
    const { credentials } = this.#options
    const attempt = this.#attempts.begin({ address, accessKeyId })
    await credentials.renewal()
    // An unknown key has a random secret, so that it takes as long as a known one.
    const known = credentials.secretOf(accessKeyId)
    const isRight = sameText(known.secretAccessKey, secretAccessKey)
    const { principal } = known
    if (!isRight || principal === undefined) {
      throw new LogInRefused('LogInFailed', 'There is no such access key, or the secret is wrong.')
    }
    attempt.succeeded()
    return this.sessions.begin({
      accountId: principal.accountId,
      holder: { kind: 'key', accessKeyId, secretTag: secretTag(secretAccessKey) },
      kind: 'session-token',
      untilMs: credentials.keyOf(accessKeyId)?.expiresMs ?? Number.POSITIVE_INFINITY,
    })
  }

  /** Throws `LogInRefused`. */
  async beginAtIssuer(name: string, redirectUri: string, address: string): Promise<{ url: string; pending: string }> {
    // Counts as failed until the whole log-in has succeeded, because each attempt makes the server call the issuer.
    this.#attempts.begin({ address })
    return (await this.#issuers()).begin(name, redirectUri)
  }

  /** Throws `LogInRefused`. */
  async finishAtIssuer(pending: string | undefined, rawQuery: string, address: string): Promise<LoggedIn> {
    // Any page can send its visitors here, without what a log-in leaves in a browser. That must not use up their attempts.
    if (pending === undefined) throw notBegun()
    const attempt = this.#attempts.begin({ address })
    await this.#options.credentials.renewal()
    const session = await (await this.#issuers()).finish(pending, rawQuery)
    // The attempt that began the log-in was counted too.
    attempt.succeeded(2)
    return this.sessions.begin(session)
  }

  #issuers(): Promise<IssuerLogIns> {
    const { oidc, sts } = this.#options
    this.#atIssuers ??= import('./issuer-log-ins.ts').then(({ IssuerLogIns }) => new IssuerLogIns(oidc, sts))
    return this.#atIssuers
  }

  /** The session that a cookie opens. Throws `LogInRefused`. */
  async find(cookie: string): Promise<BrowserSession> {
    await this.#options.credentials.renewal()
    return this.sessions.find(cookie)
  }

  /** Makes a URL by which anybody can read an object in the name of the user. It expires with the signing key, or earlier. */
  async link(principal: Principal, object: PresignedObject, region: string): Promise<string> {
    const { credentials, sts } = this.#options
    const accessKeyId = this.keyOf(principal)
    const key =
      accessKeyId === undefined
        ? await this.sessions.issue(principal)
        : { accessKeyId, secretAccessKey: credentials.secretOf(accessKeyId).secretAccessKey }
    return presignObject(object, key, region, sts.clock.now())
  }

  /** The key that a session began with. Absent: it began at an issuer. */
  keyOf(principal: Principal): string | undefined {
    const holder = this.#options.sts.sessions.holderOf(principal)
    return holder.kind === 'key' ? holder.accessKeyId : undefined
  }
}

/** Compares digests, because they have the same length, so that the time tells nothing about the secret's length. */
function sameText(a: string, b: string): boolean {
  const [one, other] = [a, b].map((text) => createHash('sha256').update(text).digest())
  return one !== undefined && other !== undefined && timingSafeEqual(one, other)
}
