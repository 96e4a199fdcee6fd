/** A port: node:http with limits on everything, in front of what answers requests. Knows connections and requests, nothing of S3. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Server as NetServer, Socket } from 'node:net'
import { type Clock, systemClock } from '../../clock.ts'
import { S3Error } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { storeDialect } from '../dialect.ts'
import { Exchange } from '../exchange.ts'
import { type FaultFormat, faultsInXml } from '../fault.ts'
import { logLine, type RequestLog } from '../telemetry/request-log.ts'
import { defaultBounds, type HttpBounds } from './bounds.ts'
import { type Connection, Connections, errorOfParser } from './connections.ts'
import { bothEndsLoopback } from './loopback.ts'
import { refuseSocket } from './refuse.ts'
import { RequestShare } from './request-share.ts'
import { type Seat, type ShareLimits, Shares } from './shares.ts'
import { type KeyPair, TlsFront } from './tls-front.ts'

export interface PortOptions {
  clock: Clock
  /** Called once per request, when its answer has been handed to the connection or the client has gone. */
  log(line: RequestLog, exchange: Exchange): void
  /** Absent: plain HTTP. */
  tls?: KeyPair | undefined
  /** Accepts SSE-C keys over plain HTTP from other machines, for use behind a proxy that ends TLS. */
  allowCustomerKeysOverHttp?: boolean
  bounds?: Partial<HttpBounds>
  /** The form of the answer to bytes that aren't a request. Default: S3's. */
  faults?: FaultFormat
}

export interface HttpServer {
  /** Port 0 takes a free one. Rejects when the address is not available. */
  listen(host: string, port: number): Promise<AddressInfo>
  /** Serves a connection that another process accepted. */
  accept(socket: Socket): void
  /** Uses this certificate for new connections. Throws when the server does not speak TLS, or when the pair can't be used. */
  renewTls(pair: KeyPair): void
  /** Stops accepting, lets running requests end for up to `drainOnShutdownMs`, then cuts the rest. Idempotent. */
  close(): Promise<void>
}

/** Larger than Node's 64 KiB, so that a gigabyte takes fewer reads and writes. */
export const socketBufferBytes = 1024 * 1024

/** `answer` serves one request to its end, and never rejects. */
export function createPort(options: PortOptions, answer: (exchange: Exchange) => Promise<void>): HttpServer {
  const port = new Port(options, answer)
  // Closures instead of methods, so that callers can spread it and override parts.
  return {
    listen: (host, number) => listen(port.listener, host, number),
    accept: (socket) => void port.listener.emit('connection', socket),
    renewTls: (pair) => port.renewTls(pair),
    close: () => port.close(),
  }
}

const tlsOnly = 'This port speaks TLS only: ask it by https://.'

class Port {
  readonly #options: PortOptions
  readonly #bounds: HttpBounds
  readonly #answer: (exchange: Exchange) => Promise<void>
  readonly #shares: Shares
  readonly #connections: Connections
  readonly #server: Server
  /** Absent: plain HTTP. */
  readonly #front: TlsFront | undefined
  readonly #hostId: string
  readonly #newRequestId: () => string
  /** Requests whose handlers have not ended. */
  #underWay = 0
  #idle: (() => void) | undefined

  constructor(options: PortOptions, answer: (exchange: Exchange) => Promise<void>) {
    const { clock, tls } = options
    this.#options = options
    this.#bounds = { ...defaultBounds, ...options.bounds }
    this.#answer = answer
    this.#shares = new Shares(shareLimits(this.#bounds))
    this.#connections = new Connections(this.#bounds, (exchange) => this.#begin(exchange))
    this.#hostId = clock.random(24).toString('base64')
    this.#newRequestId = requestIds(clock)
    const server = nodeServer(this.#bounds)
    this.#server = server
    this.#serveConnections(server)
    this.#front =
      tls === undefined
        ? undefined
        : new TlsFront(tls, {
            handshakeTimeoutMs: this.#bounds.tlsHandshakeTimeoutMs,
            takeSeat: (socket) => this.#takeSeat(socket),
            handOn: (socket) => server.emit('connection', socket),
            spokeHttp: (socket) => this.#refuse(socket, new S3Error('InvalidRequest', { message: tlsOnly })),
          })
  }

  /** The server that accepts connections. */
  get listener(): NetServer {
    return this.#front?.server ?? this.#server
  }

  renewTls(pair: KeyPair): void {
    if (this.#front === undefined) throw new Error('this server speaks plain HTTP')
    this.#front.renew(pair)
  }

  async close(): Promise<void> {
    await close(this.#server, this.#front, this.#connections, this.#bounds)
    await this.#handlersEnded()
  }

  /** A handler runs on when its client is gone. What it works with must not be closed under it. */
  async #handlersEnded(): Promise<void> {
    if (this.#underWay === 0) return
    await new Promise<void>((resolve) => {
      const late = setTimeout(resolve, this.#bounds.drainOnShutdownMs)
      this.#idle = () => {
        clearTimeout(late)
        resolve()
      }
    })
  }

  #serveConnections(server: Server): void {
    const connections = this.#connections
    server.on('connection', (socket: Socket) => {
      const seat = this.#front?.seatOf(socket) ?? this.#takeSeat(socket)
      if (seat === undefined) return
      connections.opened(socket, seat, this.#customerKeysMayTravel(socket))
    })
    server.on('request', (request, response) => this.#receive(request, response, { awaitsContinue: false }))
    server.on('checkContinue', (request, response) => this.#receive(request, response, { awaitsContinue: true }))
    // RFC 9110 section 10.1.1 leaves this to the server. S3 ignores an expectation that it does not know, and so does this server.
    server.on('checkExpectation', (request, response) => this.#receive(request, response, { awaitsContinue: false }))
    server.on('connect', (_request, socket: Socket) => {
      const fault = new S3Error('MethodNotAllowed')
      // With requests under way, bad bytes get no answer of their own: the connection ends after the answers to those requests.
      if (!connections.broke(socket, fault)) this.#refuse(socket, fault)
    })
    server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
      const fault = errorOfParser(error)
      if (connections.broke(socket, fault)) return
      if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy()
      else this.#refuse(socket, fault)
    })
  }

  #customerKeysMayTravel(socket: Socket): Connection['customerKeysMayTravel'] {
    const { tls, allowCustomerKeysOverHttp = false } = this.#options
    if (allowCustomerKeysOverHttp) return 'always'
    return tls !== undefined || bothEndsLoopback(socket) ? 'here' : 'not here'
  }

  #receive(request: IncomingMessage, response: ServerResponse, { awaitsContinue }: { awaitsContinue: boolean }): void {
    // Node parses pipelined requests ahead. A request after the one that ends the connection may have been smuggled.
    const connections = this.#connections
    const connection = connections.of(request.socket)
    if (connection === undefined || connections.ended(connection)) return
    const share = new RequestShare(this.#shares, connection.seat)
    const exchange = new Exchange({
      request,
      response,
      requestId: this.#newRequestId(),
      hostId: this.#hostId,
      bounds: this.#bounds,
      share,
      awaitsContinue,
      lastOnConnection: connections.draining,
      customerKeysMayTravel: connection.customerKeysMayTravel,
      refusal: share.mayBegin() ? undefined : new S3Error('SlowDown'),
      holdBack: (ms) => connections.holdBack(connection, ms),
    })
    connections.arrived(connection, exchange)
  }

  #begin(exchange: Exchange): void {
    const startedMs = performance.now()
    tellTime(exchange.response, this.#options.clock)
    this.#underWay++
    void this.#answer(exchange).then(() => {
      exchange.share.ended()
      this.#options.log(logLine(exchange, startedMs, performance.now()), exchange)
      if (--this.#underWay === 0) this.#idle?.()
    })
  }

  #refuse(socket: Socket, fault: S3Error): void {
    const context = { resource: '', requestId: this.#newRequestId(), hostId: this.#hostId, dialect: storeDialect }
    refuseSocket(socket, fault, context, {
      format: this.#options.faults ?? faultsInXml,
      lingerMs: this.#bounds.lingerMs,
    })
  }

  /** A connection without a free seat is closed without a word: there may be thousands. */
  #takeSeat(socket: Socket): Seat | undefined {
    const seat = this.#shares.takeSeat(socket.remoteAddress, () => socket.destroy())
    if (seat === undefined) socket.destroy()
    else socket.once('close', () => this.#shares.leaveSeat(seat))
    return seat
  }
}

/** Node adds the machine's date, by which SDKs set their clocks. Where another clock judges their requests, its date is told. */
function tellTime(response: ServerResponse, clock: Clock): void {
  const nowMs = clock.now()
  if (Math.abs(nowMs - systemClock.now()) >= 1000) response.setHeader('Date', new Date(nowMs).toUTCString())
}

function nodeServer(bounds: HttpBounds): Server {
  const server = createServer({
    highWaterMark: socketBufferBytes,
    maxHeaderSize: bounds.headerSectionBytesMax,
    headersTimeout: bounds.headersTimeoutMs,
    connectionsCheckingInterval: Math.ceil(bounds.headersTimeoutMs / 2),
    // No limit for whole requests: the progress of bodies is watched instead.
    requestTimeout: 0,
    keepAliveTimeout: bounds.keepAliveMs,
    keepAlive: true,
    noDelay: true,
    // `readHead` checks Host with the rest of the framing, and answers as S3 does.
    requireHostHeader: false,
  })
  // Node silently drops headers beyond its limit on their number, even signed ones. The limit on the section's size replaces it.
  server.maxHeadersCount = 0
  // Node starts to watch the time of heads when a server listens. This one may never listen, and get its connections from another.
  server.emit('listening')
  return server
}

function shareLimits(bounds: HttpBounds): ShareLimits {
  const { connectionsMax, requestsInFlightMax, clientBytesMax } = bounds
  const { refusalCostMs: costMs, refusalForgivenMs: forgivenMs, refusalDelayMsMax: delayMsMax } = bounds
  return { connectionsMax, requestsInFlightMax, clientBytesMax, refusals: { costMs, forgivenMs, delayMsMax } }
}

const requestIdDigits = 16

/** Cuts ids from a longer random text, because drawing random bytes for each id costs ten times as much. */
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

function listen(server: NetServer, host: string, port: number): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port, backlog: limits.connectionsQueued }, () => {
      server.off('error', reject)
      resolve(boundAddress(server))
    })
  })
}

/** The address of a server that listens on a port. */
export function boundAddress(server: NetServer): AddressInfo {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server does not listen on a port')
  return address
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
