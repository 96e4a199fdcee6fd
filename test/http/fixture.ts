/** A server of small operations that echo what they were given, and two ways to talk to it: signed requests, and raw bytes. */
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { connect, type Socket } from 'node:net'
import { openCredentials } from '../../src/auth/credentials.ts'
import { systemClock } from '../../src/clock.ts'
import { type Backend, unsharedKeys } from '../../src/commits/backend.ts'
import type { Operation } from '../../src/contract/operation.ts'
import { keyRing } from '../../src/encryption/key-ring.ts'
import type { HttpBounds } from '../../src/http/connections/bounds.ts'
import type { HttpServer } from '../../src/http/connections/server.ts'
import type { KeyPair } from '../../src/http/connections/tls-front.ts'
import { createHttpServer } from '../../src/http/s3-server.ts'
import type { RequestLog } from '../../src/http/telemetry/request-log.ts'
import { openTemporaryKeys } from '../../src/opening/temporary-keys.ts'
import type { OperationContext } from '../../src/operations/context.ts'
import { type RequestToSign, type SignedRequest, type SignOptions, sign } from '../support/signer.ts'
import { giveConnections } from './given-connections.ts'

export const key = { accessKeyId: 'AKTEST', secretAccessKey: 'a-secret-of-the-tests' }
/** Of another account. */
export const otherKey = { accessKeyId: 'AKOTHER', secretAccessKey: 'another-secret-of-the-tests' }

interface Reply {
  status: number
  headers: IncomingHttpHeaders
  rawHeaders: string[]
  body: Buffer
  /** The `Code` of an error body; empty when there is none. */
  code: string
}

export interface Fixture {
  port: number
  host: string
  logs: RequestLog[]
  server: HttpServer
  /** Signs, sends, and reads the answer. */
  send(request: Partial<RequestToSign>, options?: Partial<SignOptions>): Promise<Reply>
  sendSigned(signed: SignedRequest): Promise<Reply>
  /** Sends bytes as they are and gives everything that comes back until the server ends the connection. */
  raw(bytes: string | Buffer): Promise<string>
  connect(): Socket
  /** Resolves when a line for which `found` holds has been logged. */
  logged(found: (line: RequestLog) => boolean): Promise<RequestLog>
  close(): Promise<void>
}

export interface FixtureOptions {
  bounds?: Partial<HttpBounds>
  domains?: string[]
  ready?: () => boolean
  tls?: KeyPair
  allowCustomerKeysOverHttp?: boolean
  sigv2?: 'off' | 'presigned' | 'all'
  trustedProxies?: string[]
  publicEndpoints?: string[]
  /** The server never listens: it is given its connections, as a worker is by its primary. */
  given?: boolean
}

export async function startFixture(
  operations: readonly Operation<OperationContext>[],
  { bounds = {}, domains = ['s3.test', 'test'], ready = () => true, given = false, ...options }: FixtureOptions = {},
): Promise<Fixture> {
  const logs: RequestLog[] = []
  const waiting = new Set<() => void>()
  const credentials = openCredentials([
    { id: 'main', name: 'Main', keys: [key] },
    { id: 'other', name: 'Other', keys: [otherKey] },
  ])
  const server = createHttpServer({
    operations,
    // The operations of these tests have no use for a store.
    backend: {} as Backend,
    credentials,
    sts: openTemporaryKeys({ ring: unsharedKeys(keyRing([])), credentials, oidc: [], clock: systemClock }),
    domains,
    region: 'us-east-1',
    corsAllowOrigin: [],
    clock: systemClock,
    ready,
    sigv2: 'presigned',
    log: (line) => {
      logs.push(line)
      for (const look of waiting) look()
    },
    bounds: { lingerMs: 200, ...bounds },
    ...options,
  })
  const giver = given ? await giveConnections(server, { port: 0, host: '127.0.0.1' }) : undefined
  const { port } = giver ?? (await server.listen('127.0.0.1', 0))
  const host = `127.0.0.1:${port}`
  const sendSigned = (signed: SignedRequest): Promise<Reply> => exchange(port, signed)
  return {
    port,
    host,
    logs,
    server,
    sendSigned,
    send: (request, options) => sendSigned(sign({ method: 'GET', host, path: '/', ...request }, { key, ...options })),
    raw: (bytes) => rawExchange(port, bytes),
    connect: () => connect(port, '127.0.0.1'),
    logged: (found) =>
      new Promise((resolve) => {
        const look = (): void => {
          const line = logs.find(found)
          if (line === undefined) return
          waiting.delete(look)
          resolve(line)
        }
        waiting.add(look)
        look()
      }),
    close: () => {
      giver?.close()
      return server.close()
    },
  }
}

function exchange(port: number, { method, target, headers, body }: SignedRequest): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({
      port,
      host: '127.0.0.1',
      method,
      path: target,
      headers: headers.flat(),
      agent: false,
    })
    request.on('error', reject)
    request.on('response', (response) => {
      const chunks: Buffer[] = []
      response.on('error', reject)
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        const whole = Buffer.concat(chunks)
        const code = /<Code>(\w+)<\/Code>/.exec(whole.toString('latin1'))?.[1] ?? ''
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          rawHeaders: response.rawHeaders,
          body: whole,
          code,
        })
      })
    })
    request.end(body)
  })
}

function rawExchange(port: number, bytes: string | Buffer): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    let received = ''
    socket.setEncoding('latin1')
    socket.on('data', (text: string) => {
      received += text
    })
    // A reset after the answer is an end like any other; what was received is what counts.
    socket.on('error', () => {})
    socket.on('close', () => resolve(received))
    socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes)
  })
}

/** A signed request as the bytes that go over the wire. */
export function wireBytes({ method, target, headers, body }: SignedRequest): Buffer {
  const lines = [`${method} ${target} HTTP/1.1`, ...headers.map(([name, value]) => `${name}: ${value}`)]
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), body])
}
