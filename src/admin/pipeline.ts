/** The steps of an admin request: verify, route, permit, read, run, answer. No body is read before its sender has permission. */
import type { AdminAction } from '../access/admin-actions.ts'
import type { Credentials } from '../auth/credentials.ts'
import type { Principal } from '../auth/principal.ts'
import type { Sessions } from '../auth/sessions.ts'
import { noVersion2, type Verified, verify } from '../auth/verify.ts'
import type { Clock } from '../clock.ts'
import { S3Error } from '../errors.ts'
import type { Exchange } from '../http/exchange.ts'
import { claimedKey } from '../http/failure.ts'
import { conditionValue } from '../http/request-conditions.ts'
import { type RequestHead, readHead, signedParts } from '../http/request-head.ts'
import { authorizeForAccount } from '../operations/authorize-account.ts'
import { failInJson, sendJson } from './answer.ts'
import { readInput } from './input.ts'
import type { AdminContext, AdminOperation, AdminServices, Parameters } from './operation.ts'
import { type AdminReadiness, answerProbe } from './probe.ts'
import { compileRoutes, type Route, type Router } from './route.ts'

export interface AdminPipelineOptions extends AdminServices {
  operations: readonly AdminOperation[]
  credentials: Credentials
  sessions: Sessions
  /** Id of the account that the server belongs to. What a key may do in that account, it may do in every account. */
  mainAccount: string
  region: string
  secure: boolean
  clock: Clock
  readiness(): AdminReadiness
  /** Called after an operation that changes something. */
  changed(change: AdminChange): void
}

/** Who did what, for the log. It holds no secret. */
export interface AdminChange {
  requestId: string
  operation: string
  remote: string
  accessKeyId: string
  /** The account of the key that made the change. */
  byAccount: string
  byUser?: string | undefined
  /** The names in the path, and those fields of the answer that identify what was made. */
  target: Readonly<Record<string, unknown>>
}

export class AdminPipeline {
  readonly #options: AdminPipelineOptions
  readonly #route: Router

  /** Throws when two operations have the same method and path. */
  constructor(options: AdminPipelineOptions) {
    this.#options = options
    this.#route = compileRoutes(options.operations)
  }

  /** Serves one request to its end. Never rejects. */
  async answer(exchange: Exchange): Promise<void> {
    let head: RequestHead | undefined
    try {
      head = readHead(exchange.request)
      exchange.dialect = head.dialect
      if (answerProbe(exchange, head, this.#options.readiness)) return
      if (exchange.refusal !== undefined) throw exchange.refusal
      await this.#serve(exchange, head)
    } catch (error) {
      exchange.claimedAccessKeyId = claimedKey(error, this.#options.credentials)
      await exchange.turnToRefuse()
      failInJson(exchange, head, error)
    }
  }

  async #serve(exchange: Exchange, head: RequestHead): Promise<void> {
    const { principal, payload } = await this.#verified(head)
    exchange.belongsTo(principal)
    const { operation, parameters } = this.#route(head.method, head.rawPath)
    exchange.operationName = operation.name
    const require = this.#permit(exchange, head, principal, { operation, parameters })
    require(operation.permission)
    const runPrepared = operation.prepare(await readInput(exchange, head, payload))
    const { identities, info, explain } = this.#options
    const context: AdminContext = { identities, info, explain, principal, require }
    const result = await runPrepared(context, parameters)
    if (!isReading(operation)) this.#options.changed(changeOf(exchange, operation, parameters, principal, result))
    sendJson(exchange, head, operation.status, result)
  }

  /** Accepts only signatures in headers: a presigned admin URL would end up in histories and logs. Throws what verifying the signature throws. */
  async #verified(head: RequestHead): Promise<Verified> {
    if (!head.names.includes('authorization')) {
      throw new S3Error('AccessDenied', {
        message: 'Requests to the admin port are signed, in the Authorization header.',
      })
    }
    const { credentials, sessions, clock } = this.#options
    await credentials.renewal()
    return verify(signedParts(head), credentials, clock.now(), noVersion2, sessions)
  }

  #permit(
    exchange: Exchange,
    head: RequestHead,
    principal: Principal,
    { operation, parameters }: Route,
  ): (permission: AdminAction) => void {
    const { mainAccount, region, secure, clock } = this.#options
    const isAboutServer = operation.ofServer === true || parameters.account === ''
    const owner = principal.accountId === mainAccount || isAboutServer ? mainAccount : parameters.account
    const asked = { exchange, head, query: [], vendorValues: new Map(), presigned: false, isForm: false }
    const value = (key: string) => conditionValue({ ...asked, clock, region, secure }, key)
    return (permission) => authorizeForAccount({ principal, conditionValue: value }, permission, owner)
  }
}

const isReading = ({ method, readOnly }: AdminOperation): boolean => method === 'GET' || readOnly === true

/** The fields of answers that may be logged. */
const loggedFields = ['id', 'name', 'user', 'accessKeyId', 'enabled', 'expires']

function changeOf(
  { requestId, request }: Exchange,
  { name }: AdminOperation,
  parameters: Parameters,
  { accessKeyId, accountId, user }: Principal,
  result: unknown,
): AdminChange {
  const named = Object.entries(parameters).filter(([, value]) => value !== '')
  const logged = Object.entries(result ?? {}).filter(([field]) => loggedFields.includes(field))
  return {
    requestId,
    operation: name,
    remote: request.socket.remoteAddress ?? '',
    accessKeyId,
    byAccount: accountId,
    byUser: user?.name,
    target: Object.fromEntries([...logged, ...named]),
  }
}
