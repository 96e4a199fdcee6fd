/** The S3 port: node:http, bounded in every direction, in front of the pipeline. Knows connections and requests, nothing of S3. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Server as NetServer, Socket } from 'node:net'
import type { Clock } from '../clock.ts'
import { S3Error } from '../errors.ts'
import { defaultBounds, type HttpBounds } from './bounds.ts'
import { Connections, errorOfParser } from './connections.ts'
import { Exchange } from './exchange.ts'
import { bothEndsLoopback } from './loopback.ts'
import { compilePipeline, type PipelineOptions } from './pipeline.ts'
import { refuseSocket } from './refuse.ts'
import { logLine, type RequestLog } from './request-log.ts'
import { type KeyPair, TlsFront } from './tls-front.ts'

export interface HttpServerOptions extends PipelineOptions {
  /** Called once a request, when its answer has been handed to the connection or the client has gone. */
  log(line: RequestLog): void
  /** Absent: plain HTTP. */
  tls?: KeyPair | undefined
  /** Customers' keys may come over plain HTTP from elsewhere too: a proxy in front ends TLS. */
  allowCustomerKeysOverHttp?: boolean
  bounds?: Partial<HttpBounds>
}

export interface HttpServer {
  /** Port 0 takes a free one. Rejects when the address can't be had. */
  listen(host: string, port: number): Promise<AddressInfo>
  /** Serves a connection that another process accepted. */
  accept(socket: Socket): void
  /** New connections get this certificate. Throws unless the server speaks TLS, and when the pair can't be used. */
  renewTls(pair: KeyPair): void
  /** Stops accepting, lets running requests end up to `drainOnShutdownMs`, then cuts what is left. Idempotent. */
  close(): Promise<void>
}

/** Larger reads and writes than Node's 64 KiB: fewer turns for each gigabyte. */
export const socketBufferBytes = 1024 * 1024

export function createHttpServer(options: HttpServerOptions): HttpServer {
  const bounds = { ...defaultBounds, ...options.bounds }
  const { clock } = options
  const pipeline = compilePipeline(options, options.tls === undefined ? 'http' : 'https')
  const keysMayTravelAnyhow = options.tls !== undefined || options.allowCustomerKeysOverHttp === true
  const connections = new Connections()
  const hostId = clock.random(24).toString('base64')
  const newRequestId = requestIds(clock)
  let inFlight = 0

  function serve(
    request: IncomingMessage,
    response: ServerResponse,
    how: { awaitsContinue: boolean; refusal?: S3Error },
  ): void {
    // Node parses pipelined requests ahead; one behind an answer that ends the connection may have been smuggled.
    const connection = connections.of(request.socket)
    if (connection === undefined || connections.ended(connection)) return
    const exchange = new Exchange({
      request,
      response,
      requestId: newRequestId(),
      hostId,
      bounds,
      awaitsContinue: how.awaitsContinue,
      lastOnConnection: connections.draining,
      customerKeysMayTravel: connection.customerKeysMayTravel,
      refusal: how.refusal ?? (inFlight >= bounds.requestsInFlightMax ? new S3Error('SlowDown') : undefined),
    })
    connections.started(connection, exchange)
    inFlight++
    const startedMs = performance.now()
    void pipeline(exchange).then(() => {
      inFlight--
      options.log(logLine(exchange, performance.now() - startedMs))
    })
  }

  const server = createServer({
    highWaterMark: socketBufferBytes,
    maxHeaderSize: bounds.headerSectionBytesMax,
    headersTimeout: bounds.headersTimeoutMs,
    connectionsCheckingInterval: Math.ceil(bounds.headersTimeoutMs / 2),
    // No time limit on whole requests: bodies are watched for progress instead.
    requestTimeout: 0,
    keepAliveTimeout: bounds.keepAliveMs,
    keepAlive: true,
    noDelay: true,
    // Checked with the rest of the framing, and answered in S3's way.
    requireHostHeader: false,
  })
  // Node drops what exceeds its count of headers without a word, signed ones included. The section's size is the bound.
  server.maxHeadersCount = 0
  // Node watches over the time of heads once a server listens. This one may never do so, and be given its connections.
  server.emit('listening')
  server.on('connection', (socket: Socket) =>
    connections.opened(socket, keysMayTravelAnyhow || bothEndsLoopback(socket)),
  )
  server.on('request', (request, response) => serve(request, response, { awaitsContinue: false }))
  server.on('checkContinue', (request, response) => serve(request, response, { awaitsContinue: true }))
  server.on('checkExpectation', (request, response) =>
    serve(request, response, { awaitsContinue: false, refusal: unmetExpectation() }),
  )
  server.on('connect', (_request, socket: Socket) => refuse(socket, new S3Error('MethodNotAllowed')))
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const fault = errorOfParser(error)
    if (connections.broke(socket, fault)) return
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy()
    else refuse(socket, fault)
  })

  function refuse(socket: Socket, fault: S3Error): void {
    refuseSocket(socket, fault, { resource: '', requestId: newRequestId(), hostId }, bounds.lingerMs)
  }

  const front =
    options.tls === undefined
      ? undefined
      : new TlsFront(options.tls, bounds.tlsHandshakeTimeoutMs, (socket) => server.emit('connection', socket))
  const listener = front?.server ?? server
  return {
    listen: (host, port) => listen(listener, host, port),
    accept: (socket) => void listener.emit('connection', socket),
    renewTls: (pair) => {
      if (front === undefined) throw new Error('this server speaks plain HTTP')
      front.renew(pair)
    },
    close: () => close(server, front, connections, bounds),
  }
}

const requestIdDigits = 16

/** Cut from a longer random text: to make each from bytes of its own costs ten times as much. */
function requestIds(clock: Clock): () => string {
  let digits = ''
  let used = 0
  return () => {
    if (used === digits.length) {
      digits = clock
        .random(64 * requestIdDigits)
        .toString('hex')
        .toUpperCase()
      used = 0
    }
    used += requestIdDigits
    return digits.slice(used - requestIdDigits, used)
  }
}

const unmetExpectation = (): S3Error =>
  new S3Error('BadRequest', { message: 'The only expectation that can be met is 100-continue.' })

function listen(server: NetServer, host: string, port: number): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port }, () => {
      server.off('error', reject)
      resolve(server.address() as AddressInfo)
    })
  })
}

async function close(
  server: Server,
  front: TlsFront | undefined,
  connections: Connections,
  bounds: HttpBounds,
): Promise<void> {
  const stopped = Promise.all([
    new Promise<void>((resolve) => {
      server.close(() => resolve())
    }),
    front?.close(),
  ])
  const cut = setTimeout(() => connections.destroyAll(), bounds.drainOnShutdownMs)
  await connections.drain()
  clearTimeout(cut)
  await stopped
}
