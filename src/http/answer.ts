/** Sends an answer: head, then nothing, bytes, or a stream under backpressure. */
import type { ByteSource } from '../byte-source.ts'
import type { S3Error } from '../errors.ts'
import { limits } from '../limits.ts'
import { type Afterwards, afterwards, endAnswer, watchTaking } from './connections/keep-alive.ts'
import type { Exchange } from './exchange.ts'
import { faultDocument, faultHeaders } from './fault.ts'
import { sendableValue } from './header-text.ts'
import type { RequestHead } from './request-head.ts'

/** The client closed the connection before it had the answer. */
export class ClientGone extends Error {
  constructor() {
    super('The client closed the connection before the answer was sent.')
    this.name = 'ClientGone'
  }
}

/** Headers are names and values in turn. */
export function writeHead(exchange: Exchange, status: number, headers: string[], how: Afterwards): void {
  decorate(exchange, headers)
  if (how !== 'keep') {
    exchange.lastOnConnection = true
    headers.push('Connection', 'close')
  }
  exchange.status = status
  exchange.headSentMs = performance.now()
  exchange.response.writeHead(status, headers)
}

/** Adds the headers of every answer (results, errors and health checks), and the CORS headers when a page of another origin asked. */
function decorate({ dialect, requestId, hostId, crossOrigin }: Exchange, headers: string[]): void {
  headers.push('Server', 'Holdfast', dialect.requestIdHeader, requestId)
  if (dialect.hostIdHeader !== undefined) headers.push(dialect.hostIdHeader, hostId)
  if (crossOrigin?.headers !== undefined) letPageRead(crossOrigin.headers, crossOrigin.exposesAll, headers)
}

function letPageRead(cors: readonly string[], exposesAll: boolean, headers: string[]): void {
  const names = headers.filter((_, i) => i % 2 === 0)
  headers.push(...cors)
  // Node adds the date. SDKs set their clocks by it.
  if (exposesAll) headers.push('Access-Control-Expose-Headers', [...names, 'Date'].join(', '))
}

export function sendBytes(
  exchange: Exchange,
  head: RequestHead | undefined,
  status: number,
  headers: string[],
  bytes: Buffer | undefined,
): void {
  const how = afterwards(exchange, head)
  const bodiless = exchange.request.method === 'HEAD' || status === 204 || status === 304
  if (!bodiless) headers.push('Content-Length', String(bytes?.length ?? 0))
  writeHead(exchange, status, headers, how)
  const body = bodiless ? undefined : bytes
  exchange.bytesOut += body?.length ?? 0
  endAnswer(exchange, how, body)
}

export function sendFault(exchange: Exchange, head: RequestHead | undefined, fault: S3Error): void {
  const headers = faultHeaders(fault).map(sendableValue)
  for (const [name, value] of Object.entries(fault.vendorHeaders)) {
    headers.push(exchange.dialect.prefix + name, sendableValue(value))
  }
  exchange.code = fault.code
  if (fault.status !== 304) headers.push('Content-Type', 'application/xml')
  sendBytes(exchange, head, fault.status, headers, faultDocument(fault, exchange))
}

/**
 * Reads small bodies, and so verifies them, before the head is sent. Releases the source. Throws what the source throws, and ClientGone. Once the head
 * is sent, the caller must answer an error by cutting the connection, because wrong or short data must not look complete.
 */
export async function sendStream(
  exchange: Exchange,
  head: RequestHead,
  status: number,
  headers: string[],
  source: ByteSource,
): Promise<void> {
  try {
    if (source.size > limits.wholeAnswerBytesMax) await sendChunks(exchange, head, status, headers, source)
    else sendBytes(exchange, head, status, headers, borrowForAnswer(exchange, source) ?? (await source.read()))
  } finally {
    source.cancel()
  }
}

/**
 * Returns borrowed memory when the answer has left the process or never will: until then the connection reads it. When the connection is gone, nothing
 * is borrowed, because no event would say when to return it.
 */
function borrowForAnswer({ response }: Exchange, source: ByteSource): Buffer | undefined {
  if (source.borrow === undefined || response.socket === null || response.closed) return undefined
  const { bytes, giveBack } = source.borrow()
  response.once('close', giveBack)
  return bytes
}

async function sendChunks(
  exchange: Exchange,
  head: RequestHead,
  status: number,
  headers: string[],
  source: ByteSource,
): Promise<void> {
  const { response } = exchange
  const how = afterwards(exchange, head)
  headers.push('Content-Length', String(source.size))
  const writer = new StreamWriter(exchange)
  try {
    await source.drain((chunk) => {
      if (!response.headersSent) writeHead(exchange, status, headers, how)
      return writer.write(chunk)
    })
    if (exchange.bytesOut !== source.size) throw new Error('a stored body ended before its size was reached')
  } finally {
    writer.release()
  }
  endAnswer(exchange, how, undefined)
}

/** Writes chunks one by one. Each promise settles when its chunk has left the process, so that the source may reuse the memory. */
class StreamWriter {
  #exchange: Exchange
  #reject: ((error: Error) => void) | undefined
  #onClose = (): void => this.#reject?.(new ClientGone())

  constructor(exchange: Exchange) {
    this.#exchange = exchange
    exchange.response.on('close', this.#onClose)
  }

  write(chunk: Buffer): Promise<void> {
    const exchange = this.#exchange
    const { response, share } = exchange
    if (response.destroyed) return Promise.reject(new ClientGone())
    exchange.bytesOut += chunk.length
    share.hold(chunk.length)
    watchTaking(exchange, chunk.length)
    return new Promise((resolve, reject) => {
      this.#reject = reject
      response.write(chunk, (error) => {
        share.hold(-chunk.length)
        watchTaking(exchange, 0)
        if (error) reject(new ClientGone())
        else resolve()
      })
    })
  }

  release(): void {
    this.#exchange.response.off('close', this.#onClose)
  }
}
