/** A client of several gateways that costs little: one signed request, one answer, no retry. Each request goes to a gateway of its own choice. */
import { Agent, request as httpRequest } from 'node:http'
import { environmentKey } from '../cli/holdfast-process.ts'
import { encodeKey, type HeaderPair, type SignedRequest, sign } from '../support/signer.ts'

export interface Asked {
  method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  bucket: string
  key?: string
  query?: Record<string, string>
  headers?: Record<string, string>
  body?: Buffer | string
}

export interface Answered {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: Buffer
}

/** Nobody knows whether the request did anything: no answer came, or one that says nothing about that. */
export class NoAnswer extends Error {}

/** How many answers had each status; those without an answer count as 0. */
export type Statuses = Map<number, number>

const timeoutMs = 30_000

export function signed(
  endpoint: string,
  { method, bucket, key, query = {}, headers = {}, body }: Asked,
): SignedRequest {
  const path = key === undefined ? `/${bucket}` : `/${bucket}/${encodeKey(key)}`
  const request = { method, host: new URL(endpoint).host, path, query: Object.entries(query) }
  const all = { ...request, headers: Object.entries(headers), ...(body === undefined ? {} : { body }) }
  return sign(all, { key: environmentKey, payloadHash: 'UNSIGNED-PAYLOAD' })
}

export const asObject = (headers: readonly HeaderPair[]): Record<string, string> => Object.fromEntries(headers)

export class StormClient {
  readonly statuses: Statuses = new Map()
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 })
  readonly #endpoints: () => readonly string[]
  readonly #random: () => number
  /** Requests that were answered as their caller may rely on: not by a 5xx. */
  acknowledged = 0
  acknowledgedWrites = 0

  /** `endpoints`: of the gateways that serve now. */
  constructor(endpoints: () => readonly string[], random: () => number) {
    this.#endpoints = endpoints
    this.#random = random
  }

  /** Rejects with `NoAnswer` for every 5xx as well. */
  async ask(asked: Asked, endpoint = this.#any()): Promise<Answered> {
    let answered: Answered
    try {
      answered = await this.#send(endpoint, signed(endpoint, asked))
    } catch (error) {
      this.#count(0)
      throw new NoAnswer('no answer', { cause: error })
    }
    this.#count(answered.status)
    if (answered.status >= 500) throw new NoAnswer(`${answered.status} ${answered.body}`)
    this.acknowledged++
    if (asked.method !== 'GET' && answered.status < 300) this.acknowledgedWrites++
    return answered
  }

  /** The same, for what must succeed at some time, and may be repeated. */
  async must(asked: Asked, endpoint?: string): Promise<Answered> {
    for (let attempt = 1; ; attempt++) {
      try {
        const answered = await this.ask(asked, endpoint)
        if (answered.status < 300) return answered
        throw new Error(`${asked.method} ${asked.bucket}/${asked.key}: ${answered.status} ${answered.body}`)
      } catch (error) {
        if (!(error instanceof NoAnswer) || attempt === 200) throw error
        await new Promise((resolve) => setTimeout(resolve, 200))
      }
    }
  }

  #any(): string {
    const endpoints = this.#endpoints()
    return endpoints[Math.floor(this.#random() * endpoints.length)] ?? 'http://127.0.0.1:1'
  }

  #count(status: number): void {
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1)
  }

  #send(endpoint: string, { method, target, headers, body }: SignedRequest): Promise<Answered> {
    const { hostname, port } = new URL(endpoint)
    return new Promise((resolve, reject) => {
      const request = httpRequest(
        { agent: this.#agent, hostname, port, method, path: target, headers: asObject(headers), timeout: timeoutMs },
        (response) => {
          const pieces: Buffer[] = []
          response.on('data', (piece: Buffer) => pieces.push(piece))
          response.on('error', reject)
          response.on('end', () =>
            resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(pieces) }),
          )
        },
      )
      request.on('timeout', () => request.destroy(new Error('no answer in time')))
      request.on('error', reject)
      request.end(body)
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}

/** The texts of all elements of that name, in order. Keys and ids of the storm need no entities. */
export function textsOf(body: Buffer, element: string): string[] {
  return [...body.toString().matchAll(new RegExp(`<${element}>([^<]*)</${element}>`, 'g'))].map(
    ([, text]) => text ?? '',
  )
}
