/** The requests of a workload, signed ahead: every kind but the flows. Sends nothing. */
import { createHash, randomBytes } from 'node:crypto'
import type { WorkKind, Workload } from '../workloads.ts'
import type { Endpoint, Order } from './order.ts'
import { createSigner, type Unsigned } from './sign.ts'

export interface PreparedRequest {
  head: Buffer
  body: Buffer | undefined
  /** Whether the answer has no body, whatever its Content-Length. */
  isHead: boolean
}

/** For messages. */
export function requestLine({ head }: PreparedRequest): string {
  return head.toString('latin1', 0, head.indexOf('\r\n'))
}

export interface PreparedRequests {
  requests: PreparedRequest[]
  /** What every answer must have; absent: any that says success. */
  status?: number
  /** Whether the same requests may be sent again: they change nothing. Otherwise the run ends when they are used up. */
  cyclic: boolean
}

const KiB = 1024
/** Up to here, a PUT says the SHA-256 of its body. Larger ones say UNSIGNED-PAYLOAD, as clients do who stream. */
const hashedBytesMax = 64 * KiB
const smallRequestsASecond = 40_000
const writtenBytesMax = 4 * 1024 ** 3
const prefixes = 1_000
export const pageKeysMax = 1_000

/** The `number`th key of a set. Sets of up to 1,000 times as many keys have the same 1,000 common prefixes. */
export function keyOf(set: string, number: number): string {
  const place = String(Math.floor(number / prefixes)).padStart(7, '0')
  return `${set}/${String(number % prefixes).padStart(3, '0')}/${place}`
}

/** What lies there to be read. The size comes first, so that servers that store nothing know what to answer. */
export function standingSet({ objectBytes }: Workload): string {
  return `${objectBytes}/standing`
}

/** What nobody writes. */
const absentSet = 'absent'

/** What a run writes, or deletes. */
export function runSet({ objectBytes }: Workload, run: string): string {
  return `${objectBytes}/${run}`
}

/** Bodies to write, none of which compresses. */
export function createBodies(objectBytes: number): Body[] {
  const count = objectBytes <= hashedBytesMax ? 8 : 1
  return Array.from({ length: count }, () => {
    const bytes = randomBytes(objectBytes)
    const hash = objectBytes <= hashedBytesMax ? createHash('sha256').update(bytes).digest('hex') : 'UNSIGNED-PAYLOAD'
    return { bytes, payloadHash: hash }
  })
}

export interface Body {
  bytes: Buffer
  payloadHash: string
}

const emptyHash = createHash('sha256').digest('hex')

type Make = (number: number) => PreparedRequest

/** The requests of one kind, by number, over a set of keys. */
export class RequestMaker {
  readonly #sign: (request: Unsigned) => Buffer
  readonly #endpoint: Endpoint
  readonly #bucketPath: string
  readonly #bodies: readonly Body[]

  constructor(endpoint: Endpoint, bodies: readonly Body[]) {
    this.#endpoint = endpoint
    this.#sign = createSigner(endpoint)
    this.#bucketPath = `/${endpoint.bucket}`
    this.#bodies = bodies
  }

  put(set: string, number: number): PreparedRequest {
    const body = this.#bodies[number % this.#bodies.length]
    if (body === undefined) throw new RangeError('no bodies to write')
    const { bytes, payloadHash } = body
    const path = this.#pathOf(set, number)
    return {
      head: this.#sign({ method: 'PUT', path, payloadHash, bodyBytes: bytes.length }),
      body: bytes,
      isHead: false,
    }
  }

  read(method: 'GET' | 'HEAD' | 'DELETE', set: string, number: number, headers = ''): PreparedRequest {
    const path = this.#pathOf(set, number)
    return this.#bodiless({ method, path, payloadHash: emptyHash, headers })
  }

  list(query: string): PreparedRequest {
    return this.#bodiless({ method: 'GET', path: this.#bucketPath, query, payloadHash: emptyHash })
  }

  createBucket(): PreparedRequest {
    const { location } = this.#endpoint
    if (location === undefined) {
      return this.#bodiless({ method: 'PUT', path: this.#bucketPath, payloadHash: emptyHash, bodyBytes: 0 })
    }
    const constraint = `<LocationConstraint>${location}</LocationConstraint>`
    return this.#withBody(`<CreateBucketConfiguration>${constraint}</CreateBucketConfiguration>`, '')
  }

  encryptByDefault(): PreparedRequest {
    const algorithm = '<SSEAlgorithm>AES256</SSEAlgorithm>'
    const rule = `<Rule><ApplyServerSideEncryptionByDefault>${algorithm}</ApplyServerSideEncryptionByDefault></Rule>`
    return this.#withBody(
      `<ServerSideEncryptionConfiguration>${rule}</ServerSideEncryptionConfiguration>`,
      'encryption=',
    )
  }

  /** A request to the bucket. */
  #withBody(text: string, query: string): PreparedRequest {
    const body = Buffer.from(text)
    const payloadHash = createHash('sha256').update(body).digest('hex')
    const unsigned = { method: 'PUT', path: this.#bucketPath, query, payloadHash, bodyBytes: body.length }
    return { head: this.#sign(unsigned), body, isHead: false }
  }

  #pathOf(set: string, number: number): string {
    return `${this.#bucketPath}/${keyOf(set, number)}`
  }

  #bodiless(request: Unsigned): PreparedRequest {
    return { head: this.#sign(request), body: undefined, isHead: request.method === 'HEAD' }
  }
}

const pageQueries: Partial<Record<WorkKind, (set: string, keys: number) => string>> = {
  list: (set, keys) => `list-type=2&max-keys=${keys}&prefix=${encodeURIComponent(`${set}/`)}`,
  'list-deep': (set, keys) =>
    `list-type=2&max-keys=${keys}&prefix=${encodeURIComponent(`${set}/`)}&start-after=${encodeURIComponent(`${set}/500/`)}`,
  'list-delimiter': (set, keys) => `delimiter=%2F&list-type=2&max-keys=${keys}&prefix=${encodeURIComponent(`${set}/`)}`,
}

/** A set to be written before a run. */
export function fillRequests(order: Order, set: string, count: number): PreparedRequests {
  const maker = new RequestMaker(order.endpoint, createBodies(order.workload.objectBytes))
  return { requests: many(count, (number) => maker.put(set, number)), cyclic: false }
}

export function workRequests(order: Order): PreparedRequests {
  const { workload, seconds, endpoint } = order
  const writes = workload.kind === 'put' || workload.kind === 'mixed'
  const maker = new RequestMaker(endpoint, writes ? createBodies(workload.objectBytes) : [])
  const standing = standingSet(workload)
  const fresh = runSet(workload, order.run)
  const { first, count, step } = order.numbers ?? { first: 0, count: countOf(workload, seconds), step: 1 }
  const numbered = (make: Make): PreparedRequest[] => many(count, (at) => make(first + at * step))
  switch (workload.kind) {
    case 'put':
      return { requests: numbered((number) => maker.put(fresh, number)), cyclic: false }
    case 'delete':
      return { requests: numbered((number) => maker.read('DELETE', fresh, number)), cyclic: false }
    case 'get':
      return { requests: numbered((number) => maker.read('GET', standing, number)), cyclic: true }
    case 'head':
      return { requests: numbered((number) => maker.read('HEAD', standing, number)), cyclic: true }
    case 'missing':
      return { requests: numbered((number) => maker.read('GET', absentSet, number)), cyclic: true, status: 404 }
    case 'mixed':
      return {
        requests: numbered((number) =>
          number % 10 < 7 ? maker.read('GET', standing, (number * 7919) % workload.objects) : maker.put(fresh, number),
        ),
        cyclic: false,
      }
    case 'range':
      return { requests: numbered((number) => rangeRequest(maker, workload, number)), cyclic: true }
    default:
      return { requests: [listRequest(maker, workload)], cyclic: true }
  }
}

/** Spread over the objects and over their length. */
function rangeRequest(maker: RequestMaker, workload: Workload, number: number): PreparedRequest {
  const bytes = workload.movedBytes ?? 0
  const places = Math.floor(workload.objectBytes / bytes)
  const start = ((number * 7919) % places) * bytes
  const headers = `Range: bytes=${start}-${start + bytes - 1}\r\n`
  return maker.read('GET', standingSet(workload), number % workload.objects, headers)
}

function listRequest(maker: RequestMaker, workload: Workload): PreparedRequest {
  const query = pageQueries[workload.kind]
  if (query === undefined) throw new Error(`${workload.kind} is a flow, not a set of requests`)
  return maker.list(query(standingSet(workload), workload.pageKeys ?? pageKeysMax))
}

function countOf({ kind, objectBytes, objects }: Workload, seconds: number): number {
  if (kind === 'put' || kind === 'mixed') {
    return Math.ceil(Math.min(smallRequestsASecond * seconds, Math.max(8, writtenBytesMax / objectBytes)))
  }
  return kind === 'range' ? 1_000 : objects
}

function many(count: number, make: Make): PreparedRequest[] {
  return Array.from({ length: count }, (_, number) => make(number))
}
