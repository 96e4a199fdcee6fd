/** Failures on purpose: requests that a test wants to fail, so that it sees what its program does then. */
import type { ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { type ErrorCode, S3Error } from '../errors.ts'
import { ClientGone } from './answer.ts'
import type { Exchange } from './exchange.ts'

/** Which requests fail. Absent fields leave it open. */
export interface FailingRequests {
  operations?: ReadonlySet<string> | undefined
  bucket?: string | undefined
  key?: string | RegExp | undefined
}

/** `closed before` and `closed after` it was carried out: the connection, without an answer. Offsets count bytes of the answer's body from 0. */
export type HowItFails =
  | { kind: 'error'; code: ErrorCode }
  | { kind: 'closed before' | 'closed after' | 'late' }
  | { kind: 'truncated' | 'corrupted'; at: number }

export interface FailurePlan {
  requests: FailingRequests
  how: HowItFails
  delayMs: number
  /** Requests of this kind that are served before. */
  skipped: number
  /** How many fail after those. */
  times: number
}

/** What is known of a request before it is carried out. */
interface Asked {
  operation: string
  bucket: string
  key: string
}

/** A plan, and how far it is. */
export class PlannedFailure {
  readonly #plan: FailurePlan
  #seen = 0
  #met = 0

  constructor(plan: FailurePlan) {
    this.#plan = plan
  }

  /** How many requests have failed by it. */
  get met(): number {
    return this.#met
  }

  /** Whether this request is to fail. Counts it. */
  meets(asked: Asked): boolean {
    const { requests, skipped, times } = this.#plan
    if (this.#met >= times || !isAmong(requests, asked)) return false
    this.#seen++
    if (this.#seen <= skipped) return false
    this.#met++
    return true
  }

  /** Waits, if that is planned. Then throws, or makes the answer fail when it is sent. */
  async befall({ response }: Exchange): Promise<void> {
    const { how, delayMs } = this.#plan
    if (delayMs > 0) await delay(delayMs, undefined, { ref: false })
    if (how.kind === 'error') throw new S3Error(how.code)
    if (how.kind === 'closed before') {
      response.destroy()
      throw new ClientGone()
    }
    if (how.kind === 'closed after') closeInPlaceOfAnswer(response)
    if (how.kind === 'truncated') passingBody(response, truncated(response, how.at))
    if (how.kind === 'corrupted') passingBody(response, corrupted(how.at))
  }
}

function isAmong({ operations, bucket, key }: FailingRequests, asked: Asked): boolean {
  if (operations !== undefined && !operations.has(asked.operation)) return false
  if (bucket !== undefined && bucket !== asked.bucket) return false
  if (key === undefined) return true
  return typeof key === 'string'
    ? key === asked.key
    : new RegExp(key.source, key.flags.replace(/[gy]/g, '')).test(asked.key)
}

/** The failures that are planned for one port. */
export class PlannedFailures {
  readonly #planned = new Set<PlannedFailure>()

  add(plan: FailurePlan): PlannedFailure {
    const planned = new PlannedFailure(plan)
    this.#planned.add(planned)
    return planned
  }

  remove(planned: PlannedFailure): void {
    this.#planned.delete(planned)
  }

  clear(): void {
    this.#planned.clear()
  }

  /** The failure that this request meets: of several, the one that was planned first. */
  of(asked: Asked): PlannedFailure | undefined {
    for (const planned of this.#planned) if (planned.meets(asked)) return planned
    return undefined
  }
}

function closeInPlaceOfAnswer(response: ServerResponse): void {
  response.writeHead = () => response.destroy()
}

/** Gives what is to be sent of a chunk of the body, or of its end. */
type Passing = (chunk: Buffer) => Buffer

function passingBody(response: ServerResponse, pass: Passing): void {
  const write = response.write.bind(response) as (chunk: unknown, done?: unknown) => boolean
  const end = response.end.bind(response) as (chunk?: unknown) => ServerResponse
  response.write = ((chunk: Buffer, done?: unknown) => write(pass(chunk), done)) as ServerResponse['write']
  response.end = ((chunk?: Buffer) => end(chunk === undefined ? undefined : pass(chunk))) as ServerResponse['end']
}

function corrupted(at: number): Passing {
  let passed = 0
  return (chunk) => {
    const place = at - passed
    passed += chunk.length
    if (place < 0 || place >= chunk.length) return chunk
    const changed = Buffer.from(chunk)
    changed.writeUInt8(changed.readUInt8(place) ^ 0xff, place)
    return changed
  }
}

function truncated(response: ServerResponse, at: number): Passing {
  // Node takes it from the answer when all is sent.
  const { socket } = response
  let passed = 0
  return (chunk) => {
    const sent = chunk.subarray(0, Math.max(0, at - passed))
    passed += chunk.length
    // What Node has been given is sent before the connection is closed.
    if (passed > at) setImmediate(() => socket?.destroySoon())
    return sent
  }
}
