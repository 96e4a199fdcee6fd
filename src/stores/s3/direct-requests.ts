/**
 * Sends the two requests that carry objects without the SDK's middleware, which takes most of the CPU time of a small request (ADR 0018). Credentials, signatures and connections are
 * the SDK's. Only the expected answer counts: after any other one, the caller sends the request through the SDK, which knows about retries, clock skew and the ways of vendors.
 */
import { Readable } from 'node:stream'
import type { S3Client } from '@aws-sdk/client-s3'
import { crc32 } from '@node-rs/crc32'
import { percentEncode } from '../../percent-encode.ts'
import { tracedRequest } from './traced-request.ts'

type Signer = Awaited<ReturnType<S3Client['config']['signer']>>

/** The fields of an answer that are used here. */
interface Answer {
  statusCode: number
  headers: Record<string, string>
  body: unknown
}

interface Asked {
  method: 'GET' | 'PUT'
  key: string
  headers?: Record<string, string>
  body?: Buffer
}

export class DirectRequests {
  readonly #client: S3Client
  readonly #endpoint: URL
  readonly #under: string
  #signer: Promise<Signer> | undefined

  /** `endpoint`: where the bucket is named in the path. `under`: the bucket, and the prefix of all keys. */
  constructor(client: S3Client, endpoint: string, under: string) {
    this.#client = client
    this.#endpoint = new URL(endpoint)
    this.#under = `${this.#endpoint.pathname.replace(/\/$/, '')}/${under}`
  }

  /** The answer's body, of the whole object or of the range. `undefined`: use the SDK. */
  async get(key: string, range: string | undefined, signal: AbortSignal): Promise<Readable | undefined> {
    const headers: Record<string, string> = range === undefined ? {} : { range }
    const answer = await this.#ask({ method: 'GET', key, headers }, signal)
    const isExpected = range === undefined ? answer?.statusCode === 200 : answer?.statusCode === 206
    if (answer?.body instanceof Readable && isExpected) return answer.body
    return this.#leaveToSdk(answer)
  }

  /** Resolves with whether the endpoint has the object. False: use the SDK. */
  async put(key: string, body: Buffer, signal: AbortSignal): Promise<boolean> {
    const checksum = Buffer.alloc(4)
    checksum.writeUInt32BE(crc32(body))
    const headers = {
      'content-length': `${body.length}`,
      'content-type': 'application/octet-stream',
      'x-amz-checksum-crc32': checksum.toString('base64'),
    }
    const answer = await this.#ask({ method: 'PUT', key, headers, body }, signal)
    if (answer?.statusCode !== 200) {
      this.#leaveToSdk(answer)
      return false
    }
    if (answer.body instanceof Readable) answer.body.resume()
    return true
  }

  /** Resolves with `undefined` when the connection broke. Rejects when time is up. */
  async #ask({ method, key, headers, body }: Asked, abortSignal: AbortSignal): Promise<Answer | undefined> {
    const { protocol, hostname, port, host } = this.#endpoint
    const request = {
      method,
      protocol,
      hostname,
      ...(port === '' ? {} : { port: Number(port) }),
      path: `${this.#under}${key}`.split('/').map(percentEncode).join('/'),
      query: {},
      headers: { host, ...headers },
      body,
    }
    try {
      this.#signer ??= this.#client.config.signer()
      const signed = await (await this.#signer).sign(request)
      return await tracedRequest(signed, async (traced) => {
        const { response }: { response: Answer } = await this.#client.config.requestHandler.handle(traced, {
          abortSignal,
        })
        return response
      })
    } catch (error) {
      this.#signer = undefined
      if (abortSignal.aborted || !isBroken(error)) throw error
      return undefined
    }
  }

  #leaveToSdk(answer: Answer | undefined): undefined {
    // The next signer takes into account what the SDK learns about the endpoint's clock.
    this.#signer = undefined
    if (!(answer?.body instanceof Readable)) return
    answer.body.on('error', () => {})
    answer.body.resume()
  }
}

/** Whether the connection was refused or closed, as opposed to an endpoint that takes too long. */
function isBroken(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code !== 'ETIMEDOUT'
}
