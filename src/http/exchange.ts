/** One request and its answer, from the first header to the log line: what the steps of the pipeline learn on the way. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { S3Error } from '../errors.ts'
import type { HttpBounds } from './bounds.ts'
import { type Dialect, storeDialect } from './dialect.ts'
import { WireBody } from './wire-body.ts'

export interface ExchangeParts {
  request: IncomingMessage
  response: ServerResponse
  requestId: string
  hostId: string
  bounds: HttpBounds
  /** The client waits for `100 Continue` before it sends the body. */
  awaitsContinue: boolean
  lastOnConnection: boolean
  customerKeysMayTravel: boolean
  refusal: S3Error | undefined
}

export class Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly requestId: string
  readonly hostId: string
  readonly bounds: HttpBounds
  readonly body: WireBody
  dialect: Dialect = storeDialect
  /** As sent, without the query. */
  readonly path: string
  /** What was asked for, in error bodies: the path as sent until the address is known. */
  resource: string
  operationName = ''
  accessKeyId = ''
  /** No further request may come over this connection. */
  lastOnConnection: boolean
  readonly customerKeysMayTravel: boolean
  /** Why the request is refused whatever it asks: the server is overloaded, or its expectation can't be met. */
  readonly refusal: S3Error | undefined
  status = 0
  code = ''
  bytesOut = 0
  /** What no table of errors foresees: goes to the log with its stack. */
  unexpected: unknown

  constructor(parts: ExchangeParts) {
    this.request = parts.request
    this.response = parts.response
    this.requestId = parts.requestId
    this.hostId = parts.hostId
    this.bounds = parts.bounds
    this.lastOnConnection = parts.lastOnConnection
    this.customerKeysMayTravel = parts.customerKeysMayTravel
    this.refusal = parts.refusal
    this.body = new WireBody(parts.request, parts.response, parts.awaitsContinue, parts.bounds)
    const url = parts.request.url ?? ''
    const mark = url.indexOf('?')
    this.path = mark === -1 ? url : url.slice(0, mark)
    this.resource = this.path
  }
}
