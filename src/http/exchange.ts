/** One request and its answer, from the first header to the log line: what the pipeline's steps learn about it. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Principal } from '../auth/principal.ts'
import { S3Error } from '../errors.ts'
import type { CrossOriginAnswer } from '../operations/access/cross-origin.ts'
import type { Span } from '../spans.ts'
import { parseTraceParent, type TraceParent } from '../trace-parent.ts'
import { WireBody } from './bodies/wire-body.ts'
import type { HttpBounds } from './connections/bounds.ts'
import type { RequestShare } from './connections/request-share.ts'
import { type Dialect, storeDialect } from './dialect.ts'
import type { ForwardedClient } from './forwarded.ts'
import type { RequestHead } from './request-head.ts'
import type { Access } from './telemetry/access.ts'

const requestIdPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{7,63}$/

/** Ids go into documents, headers and logs, so only harmless characters count. */
const isRequestId = (text: string): boolean => requestIdPattern.test(text)

export interface ExchangeParts {
  request: IncomingMessage
  response: ServerResponse
  requestId: string
  hostId: string
  bounds: HttpBounds
  share: RequestShare
  /** The client waits for `100 Continue` before it sends the body. */
  awaitsContinue: boolean
  lastOnConnection: boolean
  /** `here`: this connection is encrypted or local, which counts unless a trusted proxy received the request over another one. */
  customerKeysMayTravel: 'always' | 'here' | 'not here'
  refusal: S3Error | undefined
  /** See `Connections`. */
  holdBack(ms: number): Promise<void>
}

export class Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Made by the server, or taken from the request if it is well formed. */
  requestId: string
  readonly hostId: string
  readonly bounds: HttpBounds
  readonly share: RequestShare
  readonly body: WireBody
  dialect: Dialect = storeDialect
  /** As sent, without the query. */
  readonly path: string
  /** The resource in error bodies: the path as sent, until the address is known. */
  resource: string
  /** See `FaultContext`. */
  isOfControl = false
  operationName = ''
  accessKeyId = ''
  /** The account of the verified key. */
  accountId = ''
  /** The trace that the request names. */
  #trace: TraceParent | undefined
  /** Absent: no tracer collects spans. */
  span: Span | undefined
  /** The key that a request claims without proving it. */
  claimedAccessKeyId: string | undefined
  /** Names of the headers or parameters that a refusal is about; never their values. */
  refused: string | undefined
  /** Why the request is denied: see `RequestLog`. */
  reason: string | undefined
  /** The client behind the peer, when the peer is a trusted proxy that names one. */
  forwarded: ForwardedClient | undefined
  /** What the answer tells a page of another origin. Absent: no page asks. */
  crossOrigin: CrossOriginAnswer | undefined
  /** Vendor headers that had no effect, as the client spelled them. */
  ignoredHeaders: string[] | undefined
  /** No further request may come on this connection. */
  lastOnConnection: boolean
  readonly #keysMayTravel: ExchangeParts['customerKeysMayTravel']
  /** Present when the server is overloaded: the request is refused, whatever it asks. */
  readonly refusal: S3Error | undefined
  readonly #holdBack: (ms: number) => Promise<void>
  #isVerified = false
  /** When the client must have taken the bytes that wait for it, on the clock of `performance.now`. */
  takenByMs = Number.POSITIVE_INFINITY
  /** When the head of the answer was handed to the connection, on the clock of `performance.now`. 0: not yet. */
  headSentMs = 0
  status = 0
  code = ''
  bytesOut = 0
  /** What the access log of its bucket needs to know. Absent: it is for no bucket. */
  access: Access | undefined
  /** An error that is missing from the error table. It goes to the log with its stack. */
  unexpected: unknown

  constructor(parts: ExchangeParts) {
    this.request = parts.request
    this.response = parts.response
    this.requestId = parts.requestId
    this.hostId = parts.hostId
    this.bounds = parts.bounds
    this.share = parts.share
    this.lastOnConnection = parts.lastOnConnection
    this.#keysMayTravel = parts.customerKeysMayTravel
    this.refusal = parts.refusal
    this.#holdBack = parts.holdBack
    this.body = new WireBody(parts)
    const url = parts.request.url ?? ''
    const mark = url.indexOf('?')
    this.path = mark === -1 ? url : url.slice(0, mark)
    this.resource = this.path
  }

  /** Takes over the id and the trace that the request gives, where they are well formed. */
  isNamedBy({ requestId, traceParent }: Pick<RequestHead, 'requestId' | 'traceParent'>): void {
    if (requestId !== undefined && isRequestId(requestId)) this.requestId = requestId
    if (traceParent !== undefined) this.#trace = parseTraceParent(traceParent)
  }

  /** The trace that the request belongs to. `undefined`: it names none, and no tracer collects spans. */
  get traceId(): string | undefined {
    return this.span?.traceId ?? this.#trace?.traceId
  }

  /** The peer's address, or the one that a trusted proxy names. */
  get clientAddress(): string | undefined {
    return this.forwarded?.address ?? this.request.socket.remoteAddress
  }

  /** Whether the client may send SSE-C keys: its connection is encrypted or local, or the operator vouches for all connections. */
  get customerKeysMayTravel(): boolean {
    if (this.#keysMayTravel === 'always') return true
    return this.forwarded?.secure ?? this.#keysMayTravel === 'here'
  }

  /**
   * Call before refusing the request. A sender that was refused often without proving an identity has to wait; `undefined`: no wait. A refusal because
   * of overload does not count, because it is not the client's fault.
   */
  turnToRefuse(): Promise<void> | undefined {
    if (this.#isVerified || this.refusal !== undefined) return undefined
    const delayMs = this.share.refused(performance.now())
    return delayMs > 0 ? this.#holdBack(delayMs) : undefined
  }

  /** Call when an unsigned request turns out to be allowed. */
  wasAdmitted(): void {
    this.#isVerified = true
  }

  /** The signature was verified. Throws SlowDown when the account already has its share of the server. */
  belongsTo({ accountId, accessKeyId }: Principal): void {
    this.#isVerified = true
    this.accessKeyId = accessKeyId
    this.accountId = accountId
    if (this.share.claim(accountId)) return
    this.lastOnConnection = true
    throw new S3Error('SlowDown')
  }
}
