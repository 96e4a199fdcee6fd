/** Requests to an S3 endpoint elsewhere: signed, in path style, with bodies that need not lie in memory. */
import { hash } from 'node:crypto'
import { type Agent, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { pipeline, type Readable } from 'node:stream'
import { type SigningKey, signRequest } from '../auth/sign-request.ts'
import type { Clock } from '../clock.ts'
import { percentEncode, percentEncodeQuery } from '../percent-encode.ts'
import { endpointLimits } from './endpoint-limits.ts'
import { EndpointRefused, EndpointUnreachable, TransferFailed } from './failures.ts'
import { withRetries } from './retries.ts'
import { trailingHeaders, trailingPayload, withTrailingDigest } from './trailing-digest.ts'
import { childText, readXml, type XmlElement } from './xml.ts'

export interface EndpointSettings {
  /** Without a path. */
  url: URL
  region: string
  /** Absent: requests are not signed. */
  key: SigningKey | undefined
  /** Of `url`'s protocol. It keeps connections. */
  agent: Agent
  clock: Pick<Clock, 'now'>
}

export interface EndpointRequest {
  method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  /** Absent: the endpoint itself. */
  bucket?: string
  key?: string
  query?: Readonly<Record<string, string | undefined>>
  /** With names in lower case. */
  headers?: Readonly<Record<string, string>>
  body?: Buffer | StreamedBody
  /** Ends the request. */
  signal?: AbortSignal | undefined
}

/** A body that can be sent only once. */
export interface StreamedBody {
  stream: Readable
  size: number
  /** A checksum is sent after it, as a trailer. */
  digested?: boolean
}

export interface Answer {
  /** The name of the endpoint. */
  from: string
  headers: IncomingHttpHeaders
  body: IncomingMessage
}

/** An answer that was read whole. */
export interface ReadAnswer {
  headers: IncomingHttpHeaders
  content: Buffer
}

export class Endpoint {
  readonly #settings: EndpointSettings

  constructor(settings: EndpointSettings) {
    this.#settings = settings
  }

  /** The origin of its URL, for messages. */
  get name(): string {
    return this.#settings.url.origin
  }

  /** The caller reads the body, or destroys it. Rejects with `EndpointRefused` and `EndpointUnreachable`. */
  async ask(asked: EndpointRequest): Promise<Answer> {
    const body = await this.#send(asked)
    const status = body.statusCode ?? 0
    if (status >= 200 && status < 300) return { from: this.name, headers: body.headers, body }
    throw await this.#refusal(asked, status, body)
  }

  /** Reads the whole answer. Retries requests that may be repeated while the endpoint is busy or away. Rejects as `ask` does. */
  async read(asked: EndpointRequest): Promise<ReadAnswer> {
    // Each write to a key may make a version; buckets and their settings can be written twice.
    const isRepeatable = asked.method === 'GET' || asked.method === 'HEAD' || asked.key === undefined
    const once = async (): Promise<ReadAnswer> => {
      const { headers, body } = await this.ask(asked)
      return { headers, content: await this.#whole(body) }
    }
    return isRepeatable ? withRetries(once) : once()
  }

  /** As `read`. `undefined`: the endpoint has no such thing (404). */
  async readIfAny(asked: EndpointRequest): Promise<ReadAnswer | undefined> {
    try {
      return await this.read(asked)
    } catch (error) {
      if (error instanceof EndpointRefused && error.status === 404) return undefined
      throw error
    }
  }

  /** The root element of the answer. Rejects as `read`, and with `TransferFailed`. */
  async readDocument(asked: EndpointRequest): Promise<XmlElement> {
    const { content } = await this.read(asked)
    const root = readXml(content.toString('utf8'))
    if (root === undefined) throw new TransferFailed(`${this.name}: its answer is not XML; is it an S3 endpoint?`)
    return root
  }

  #send(asked: EndpointRequest): Promise<IncomingMessage> {
    const { url, agent } = this.#settings
    const { method, body, signal } = asked
    const path = pathOf(asked)
    const rawQuery = percentEncodeQuery(asked.query ?? {})
    const headers = this.#headers(asked, path, rawQuery)
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest
    return new Promise((resolve, reject) => {
      const failed = (error: Error): void => reject(new EndpointUnreachable(this.name, error))
      const request = send({
        method,
        host: url.hostname.replace(/^\[|\]$/g, ''),
        port: url.port,
        path: rawQuery === '' ? path : `${path}?${rawQuery}`,
        headers,
        agent,
        ...(signal === undefined ? {} : { signal }),
      })
      request.on('response', resolve).on('error', failed)
      request.setTimeout(endpointLimits.silenceMs, () => request.destroy(new Error('no answer for too long')))
      if (body === undefined || Buffer.isBuffer(body)) return void request.end(body)
      const stream = body.digested ? withTrailingDigest(body.stream) : body.stream
      pipeline(stream, request, (error) => error && failed(error))
    })
  }

  #headers(asked: EndpointRequest, rawPath: string, rawQuery: string): Record<string, string> {
    const { url, key, region, clock } = this.#settings
    const { method, body } = asked
    const headers = { ...asked.headers, ...bodyHeaders(asked) }
    if (key === undefined) return { ...headers, host: url.host }
    const isKnown = body === undefined || Buffer.isBuffer(body)
    const payloadHash = isKnown ? hash('sha256', body ?? '') : body.digested ? trailingPayload : 'UNSIGNED-PAYLOAD'
    const request = { method, rawPath, rawQuery, host: url.host, headers, payloadHash }
    return signRequest(request, key, { region, nowMs: clock.now() })
  }

  async #refusal(asked: EndpointRequest, status: number, body: IncomingMessage): Promise<EndpointRefused> {
    const said = readXml((await this.#whole(body)).toString('utf8'))
    const [code, message] = [childText(said, 'Code'), childText(said, 'Message')]
    return new EndpointRefused({ at: this.name, asked, status, code, message, headers: body.headers })
  }

  async #whole(body: IncomingMessage): Promise<Buffer> {
    try {
      const pieces: Buffer[] = []
      let size = 0
      for await (const piece of body) {
        size += piece.length
        if (size > endpointLimits.answerBytesMax) throw new Error('its answer is too long')
        pieces.push(piece)
      }
      return Buffer.concat(pieces)
    } catch (error) {
      throw new EndpointUnreachable(this.name, error)
    }
  }
}

function bodyHeaders({ method, headers, body }: EndpointRequest): Record<string, string> {
  if (body === undefined) return method === 'PUT' || method === 'POST' ? { 'content-length': '0' } : {}
  if (Buffer.isBuffer(body)) return { 'content-length': `${body.length}` }
  // Framing makes it longer than `size`, so HTTP sends it chunked.
  if (body.digested) return trailingHeaders(body.size, headers?.['content-encoding'])
  return { 'content-length': `${body.size}` }
}

function pathOf({ bucket, key }: EndpointRequest): string {
  if (bucket === undefined) return '/'
  // The other server names the buckets, so a name may contain anything.
  const segments = key === undefined ? [bucket] : [bucket, ...key.split('/')]
  return `/${segments.map(percentEncode).join('/')}`
}
