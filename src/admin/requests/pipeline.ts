/** The steps of an admin request: find the sender, route, permit, read, run, answer. No body is read before its sender has permission. */
import type { AdminAction } from '../../access/admin-actions.ts'
import type { AuditEntry, AuditLog } from '../../audit/audit-log.ts'
import { nobody, type Principal } from '../../auth/principal.ts'
import { S3Error } from '../../errors.ts'
import type { Exchange } from '../../http/exchange.ts'
import { claimedKey } from '../../http/failure.ts'
import { compileForwarded, type ForwardedReader } from '../../http/forwarded.ts'
import { conditionValue } from '../../http/request-conditions.ts'
import { headerValue, type RequestHead, readHead } from '../../http/request-head.ts'
import { limits } from '../../limits.ts'
import { authorizeForAccount } from '../../operations/access/authorize-account.ts'
import { isoTime } from '../../time-text.ts'
import { answerScrape } from '../metrics.ts'
import { type AdminReadiness, answerProbe } from '../probe.ts'
import type { AdminServices } from '../services.ts'
import { failInJson, sendJson } from './answer.ts'
import { ConsoleFiles } from './console-files.ts'
import { EventStreams } from './event-stream.ts'
import { readInput } from './input.ts'
import { answerInterface } from './open-api.ts'
import type { AdminClient, AdminContext, AdminOperation, PreparedRun } from './operation.ts'
import { compileRoutes, type Route, type Router } from './route.ts'
import { findSender, refuseOtherOrigins, type Sender, type SenderOptions } from './sender.ts'
import { answerStrayS3 } from './stray-s3.ts'

export interface AdminPipelineOptions extends AdminServices, SenderOptions {
  operations: readonly AdminOperation[]
  /** Id of the account that the server belongs to. What a key may do in that account, it may do in every account. */
  mainAccount: string
  region: string
  /** Addresses and ranges of proxies whose forwarding headers are trusted. */
  trustedProxies: readonly string[]
  /** The bearer token of scrapes from other machines. Absent: there are none. */
  metricsToken: string | undefined
  readiness(): AdminReadiness
  audit: AuditLog
  /** Called after an operation that changes something. */
  changed(change: AuditEntry): void
}

/** A request whose sender and operation are known. */
interface RoutedRequest extends Route {
  exchange: Exchange
  head: RequestHead
  sender: Sender
}

export class AdminPipeline {
  readonly #options: AdminPipelineOptions
  readonly #route: Router
  readonly #routeOpen: Router
  readonly #forwarded: ForwardedReader
  readonly #streams = new EventStreams()
  readonly #files = new ConsoleFiles()

  /** Throws when two operations have the same method and path. */
  constructor(options: AdminPipelineOptions) {
    this.#options = options
    this.#route = compileRoutes(options.operations)
    this.#routeOpen = compileRoutes(options.operations.filter(({ permission }) => permission === 'anyone'))
    this.#forwarded = compileForwarded(options.trustedProxies) ?? (() => undefined)
  }

  /** Ends the streams of events, which would otherwise never end. */
  close(): void {
    this.#streams.close()
  }

  /** Serves one request to its end. Never rejects. */
  async answer(exchange: Exchange): Promise<void> {
    let head: RequestHead | undefined
    try {
      head = this.#readHead(exchange)
      exchange.dialect = head.dialect
      if (answerProbe(exchange, head, this.#options.readiness)) return
      if (exchange.refusal !== undefined) throw exchange.refusal
      const { metrics, metricsToken } = this.#options
      // The Host of a signed request need not be checked, because the signature proves more.
      if (!head.names.includes('authorization')) this.#options.hosts.originOf(head.host)
      if (answerInterface(exchange, head, this.#options.operations)) return
      if (await answerScrape(exchange, head, { source: metrics, token: metricsToken })) return
      const asked = head
      if (answerStrayS3(exchange, asked, () => this.#s3Endpoint(asked))) return
      if (this.#files.answer(exchange, asked, () => this.#s3Endpoint(asked))) return
      await this.#serve(exchange, head)
    } catch (error) {
      exchange.claimedAccessKeyId = claimedKey(error, this.#options.credentials)
      await exchange.turnToRefuse()
      failInJson(exchange, head, error)
    }
  }

  #readHead(exchange: Exchange): RequestHead {
    const head = readHead(exchange.request)
    exchange.isNamedBy(head)
    exchange.forwarded = this.#forwarded(exchange.request.socket.remoteAddress, head)
    const host = exchange.forwarded?.host
    return host === undefined ? head : { ...head, host }
  }

  #s3Endpoint({ host }: RequestHead): string {
    const { hosts, s3Endpoint } = this.#options
    return s3Endpoint(hosts.originOf(host))
  }

  async #serve(exchange: Exchange, head: RequestHead): Promise<void> {
    const request = await this.#routed(exchange, head)
    const { operation, sender, parameters } = request
    exchange.operationName = operation.name
    this.#permit(request, sender.principal)
    const bodyBytesMax = operation.permission === 'anyone' ? limits.logInBodyBytesMax : limits.adminBodyBytesMax
    const { payload } = sender
    const runPrepared = operation.prepare(await readInput(exchange, head, { payload, bodyBytesMax }))
    const context = this.#context(request)
    if (operation.isStream) return this.#stream(request, runPrepared, context)
    const result = isReading(operation)
      ? await runPrepared(context, parameters, neverAborted)
      : await this.#audited(request, context, () => runPrepared(context, parameters, neverAborted))
    sendJson(exchange, head, operation.status, result, context.answerHeaders)
  }

  /** The change is written to the audit log before it is answered. If that fails, it is not made. */
  async #audited(request: RoutedRequest, context: AdminContext, change: () => Promise<unknown>): Promise<unknown> {
    const { audit, changed } = this.#options
    await audit.ready()
    const result = await change()
    const entry = this.#entryOf(request, context, result)
    changed(entry)
    await audit.record(entry)
    return result
  }

  /** Open operations come first, because a browser may log in while it still has an old cookie. */
  async #routed(exchange: Exchange, head: RequestHead): Promise<RoutedRequest> {
    const open = head.names.includes('authorization') ? undefined : this.#openRoute(head)
    if (open !== undefined) {
      if (head.method !== 'GET') refuseOtherOrigins(head, this.#options.hosts)
      const sender: Sender = { principal: nobody, payload: 'of a page', recheck: async () => nobody }
      return { exchange, head, sender, ...open }
    }
    const sender = await findSender(head, this.#options)
    exchange.belongsTo(sender.principal)
    return { exchange, head, sender, ...this.#route(head.method, head.rawPath) }
  }

  /** `undefined`: no open operation matches. Nothing more may be said until the sender is known. */
  #openRoute({ method, rawPath }: RequestHead): Route | undefined {
    try {
      return this.#routeOpen(method, rawPath)
    } catch {
      return undefined
    }
  }

  async #stream(request: RoutedRequest, runPrepared: PreparedRun, context: AdminContext): Promise<void> {
    const begin = async (signal: AbortSignal) =>
      (await runPrepared(context, request.parameters, signal)) as AsyncIterable<unknown>
    const { principal, recheck } = request.sender
    const owner = JSON.stringify([principal.accountId, principal.user?.name])
    await this.#streams.serve(request.exchange, begin, {
      owner,
      recheck: async () => this.#permit(request, await recheck()),
    })
  }

  /** Throws AccessDenied. */
  #permit(request: RoutedRequest, principal: Principal): void {
    const { permission } = request.operation
    if (permission !== 'anyone' && permission !== 'sender') this.#require(request, principal, permission)
  }

  #require(
    { exchange, head, operation, parameters }: RoutedRequest,
    principal: Principal,
    permission: AdminAction,
  ): void {
    const { mainAccount, region, clock, hosts } = this.#options
    const isAboutServer = operation.ofServer === true || parameters.account === ''
    const owner = principal.accountId === mainAccount || isAboutServer ? mainAccount : parameters.account
    const conditions = { exchange, head, query: [], vendorValues: new Map(), presigned: false, form: undefined }
    const secure = exchange.forwarded?.secure ?? hosts.secure
    const value = (key: string) => conditionValue({ ...conditions, clock, region, secure }, key)
    authorizeForAccount({ principal, conditionValue: value }, permission, owner)
  }

  #context(request: RoutedRequest): AdminContext {
    const { sender } = request
    const { principal } = sender
    return {
      ...this.#options,
      principal,
      require: (permission) => this.#require(request, principal, permission),
      may: (operation) => this.#may({ ...request, operation }, principal),
      client: this.#clientOf(request),
      answerHeaders: [],
      noted: {},
    }
  }

  #may(request: RoutedRequest, principal: Principal): boolean {
    const { accountId } = principal
    try {
      const account = request.operation.path.includes('{account}') ? accountId : ''
      this.#permit({ ...request, parameters: { ...request.parameters, account } }, principal)
      return true
    } catch (error) {
      if (error instanceof S3Error && error.code === 'AccessDenied') return false
      throw error
    }
  }

  #clientOf({ exchange, head, sender: { session } }: RoutedRequest): AdminClient {
    const { hosts } = this.#options
    const isSigned = head.names.includes('authorization')
    return {
      address: exchange.clientAddress ?? '',
      origin: isSigned ? hosts.originOfSigned(head.host) : hosts.originOf(head.host),
      cookies: headerValue(head, 'cookie'),
      rawQuery: head.rawQuery,
      session,
    }
  }

  #entryOf(
    { exchange, operation, parameters, sender }: RoutedRequest,
    context: AdminContext,
    result: unknown,
  ): AuditEntry {
    const { accountId, user } = context.principal
    const { principal, session } = sender
    const named = Object.entries(parameters).filter(([, value]) => value !== '')
    const logged = Object.entries(result ?? {}).filter(([field]) => loggedFields.includes(field))
    return {
      time: isoTime(this.#options.clock.now()),
      port: 'admin',
      operation: operation.name,
      requestId: exchange.requestId,
      traceId: exchange.traceId,
      remote: exchange.clientAddress ?? '',
      accessKeyId: (session && this.#options.logIns.keyOf(principal)) ?? principal.accessKeyId,
      account: accountId,
      user: user?.name,
      session: session?.id.slice(0, 16),
      target: { ...Object.fromEntries([...logged, ...named]), ...context.noted },
    }
  }
}

const neverAborted = new AbortController().signal

/** Whether the operation changes nothing. A GET with which a browser comes back from an issuer begins a session. */
const isReading = ({ method, readOnly, status }: AdminOperation): boolean =>
  (method === 'GET' && status !== 303) || readOnly === true

/** The fields of answers that may go into the log. */
const loggedFields = ['id', 'name', 'user', 'accessKeyId', 'enabled', 'expires', 'kind', 'level']
