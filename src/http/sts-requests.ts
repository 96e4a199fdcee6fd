/**
 * Requests for temporary keys on the S3 port: a form posted to the service address, or the same fields as a query. Reads, verifies, runs and answers
 * them in the dialect of AWS STS.
 */
import { hash } from 'node:crypto'
import type { Credentials } from '../auth/credentials.ts'
import { claimsSignature, type SignedRequest, verifyForSts } from '../auth/verify.ts'
import type { Version2Rules } from '../auth/verify-version2.ts'
import type { Clock } from '../clock.ts'
import { S3Error } from '../errors.ts'
import { limits } from '../limits.ts'
import { refuseDenied } from '../operations/access/authorize.ts'
import type { Caller, StsContext } from '../sts/action.ts'
import { onceEach, type Parameters } from '../sts/parameters.ts'
import { findAction, runAction } from '../sts/sts.ts'
import { StsError } from '../sts/sts-error.ts'
import type { BucketOfHost } from './address.ts'
import { ClientGone, sendBytes } from './answer.ts'
import { openBody } from './bodies/request-body.ts'
import type { Exchange } from './exchange.ts'
import { claimedKey, note } from './failure.ts'
import { faultHeaders, faultOf } from './fault.ts'
import { conditionValue } from './request-conditions.ts'
import type { RequestHead } from './request-head.ts'
import { stsAnswer, stsFault, stsFaultOf } from './sts-answer.ts'

export interface StsRequestOptions {
  sts: StsContext
  credentials: Credentials
  clock: Clock
  region: string
}

/** Readers of what proxies may have changed. */
interface SeenRequests {
  signedParts(exchange: Exchange, head: RequestHead): SignedRequest
  /** Whether the request came over TLS, to this server or to a trusted proxy. */
  cameSecurely(exchange: Exchange): boolean
}

export class StsRequests {
  readonly #options: StsRequestOptions
  readonly #bucketOfHost: BucketOfHost
  readonly #version2: Version2Rules
  readonly #seen: SeenRequests

  constructor(options: StsRequestOptions, bucketOfHost: BucketOfHost, version2: Version2Rules, seen: SeenRequests) {
    this.#options = options
    this.#seen = seen
    this.#bucketOfHost = bucketOfHost
    this.#version2 = version2
  }

  /** Whether it is a request for STS. S3 has no request of this form at the service address. */
  isFor(head: RequestHead): boolean {
    const { method, rawPath, rawQuery } = head
    if (rawPath !== '/' || (method !== 'POST' && method !== 'GET')) return false
    if (this.#bucketOfHost(head.host) !== undefined) return false
    return namesAction.test(rawQuery) || (method === 'POST' && isUrlEncoded(head))
  }

  /** Serves one request to its end. Rejects only when the connection is gone. */
  async answer(exchange: Exchange, head: RequestHead): Promise<void> {
    try {
      const body = await readForm(exchange, head)
      // The body may have come so slowly that the known keys are out of date.
      await this.#options.credentials.renewal()
      const caller = this.#callerOf(exchange, head, body)
      const parameters = parametersOf(head, body)
      const action = findAction(parameters)
      exchange.operationName = action.name
      const result = await runAction(action, this.#options.sts, caller, parameters)
      if (caller === undefined) exchange.wasAdmitted()
      const document = stsAnswer(action.name, result, exchange.requestId)
      sendBytes(exchange, head, 200, ['Content-Type', 'text/xml'], document)
    } catch (error) {
      exchange.claimedAccessKeyId = claimedKey(error, this.#options.credentials)
      await exchange.turnToRefuse()
      refuse(exchange, head, error)
    }
  }

  /** `undefined`: the request claims no signature. Throws what is wrong with a signature. */
  #callerOf(exchange: Exchange, head: RequestHead, body: Buffer): Caller | undefined {
    if (!claimsSignature(head.names, head.rawQuery)) return undefined
    const { credentials, sts, clock, region } = this.#options
    const rules = { credentials, sessions: sts.sessions, nowMs: clock.now(), version2: this.#version2 }
    const principal = verifyForSts(this.#seen.signedParts(exchange, head), hash('sha256', body), rules)
    exchange.belongsTo(principal)
    const asked = {
      query: [],
      vendorValues: new Map(),
      presigned: false,
      form: undefined,
      secure: this.#seen.cameSecurely(exchange),
    }
    const request = { exchange, head, clock, region, ...asked }
    return {
      principal,
      refuseDenied: (permission) =>
        refuseDenied({ principal, conditionValue: (key) => conditionValue(request, key) }, permission),
    }
  }
}

const namesAction = /^(?=(?:.*&)?Action=[A-Z])(?=(?:.*&)?Version=\d{4}-\d\d-\d\d(?:&|$))/

function isUrlEncoded({ names, rawHeaders }: RequestHead): boolean {
  const at = names.indexOf('content-type')
  return at >= 0 && /^application\/x-www-form-urlencoded\b/i.test(rawHeaders[2 * at + 1] ?? '')
}

function refuse(exchange: Exchange, head: RequestHead, error: unknown): void {
  const { response } = exchange
  const fault = stsFaultOf(error)
  if (!(error instanceof StsError)) note(exchange, error, faultOf(error))
  exchange.code = error instanceof ClientGone ? exchange.code : fault.code
  exchange.reason = fault.reason
  if (response.headersSent || response.destroyed) return void response.destroy()
  const headers = error instanceof StsError ? [] : faultHeaders(faultOf(error))
  sendBytes(exchange, head, fault.status, [...headers, 'Content-Type', 'text/xml'], stsFault(fault, exchange.requestId))
}

/** Throws EntityTooLarge. */
async function readForm(exchange: Exchange, head: RequestHead): Promise<Buffer> {
  const sized = head.contentLength === undefined && !head.chunked ? { ...head, contentLength: 0 } : head
  const body = openBody(exchange, sized, new Map(), { kind: 'unsigned' })
  if (body.size > limits.stsBodyBytesMax) {
    throw new S3Error('EntityTooLarge', { message: 'Your request body is too large.' })
  }
  return body.read()
}

/** The parameters of query and body together, without those of a signature. */
function parametersOf(head: RequestHead, body: Buffer): Parameters {
  const fromQuery = [...new URLSearchParams(head.rawQuery)].filter(([name]) => !/^x-(?:amz|store)-/i.test(name))
  const inBody = body.length > 0 && isUrlEncoded(head)
  return onceEach([...fromQuery, ...(inBody ? new URLSearchParams(body.toString()) : [])])
}
