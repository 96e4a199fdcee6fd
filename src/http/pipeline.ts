/** The way of a request, step by step: verify, address, route, decode, run, encode; whatever is thrown on it becomes the answer. */
import type { Credentials } from '../auth/credentials.ts'
import { type Verified, verify } from '../auth/verify.ts'
import type { ByteSource } from '../byte-source.ts'
import type { Clock } from '../clock.ts'
import type { Answer, Operation } from '../contract/operation.ts'
import { S3Error } from '../errors.ts'
import type { OperationContext, OperationRequest } from '../operations/context.ts'
import { run } from '../operations/run.ts'
import {
  type Address,
  compileHosts,
  type QueryParameter,
  readAddress,
  readQuery,
  readVendorHeaders,
} from './address.ts'
import { ClientGone, sendBytes, sendFault, sendStream } from './answer.ts'
import { compileFields, type FieldDecoder, type Input } from './decode.ts'
import { type BodyDecoder, compileBody } from './decode-body.ts'
import { singleValue, type VendorValues } from './dialect.ts'
import { compileEncoders, type Encoders } from './encode.ts'
import type { Exchange } from './exchange.ts'
import { faultElement, faultOf } from './fault.ts'
import { answerHealth } from './health.ts'
import { type RequestHead, readHead } from './request-head.ts'
import { compileRoutes } from './route.ts'
import { SlowAnswer } from './slow-answer.ts'

export interface PipelineOptions {
  operations: readonly Operation<OperationContext>[]
  store: OperationContext['store']
  credentials: Credentials
  /** Hosts below which buckets are named: `<bucket>.<domain>`. `localhost` is always one. */
  domains: readonly string[]
  /** Of buckets that were made without one. */
  region: string
  clock: Clock
  /** Whether requests can be served, for the health check. */
  ready(): boolean
}

/** An operation with everything that its declaration was compiled to. */
interface Endpoint {
  operation: Operation<OperationContext>
  fields: FieldDecoder
  body: BodyDecoder
  encoders: Encoders
}

/** What the address and the headers say, once the signature has been verified. */
interface Parsed {
  address: Address
  query: readonly QueryParameter[]
  vendorValues: VendorValues
}

/** Serves one request to its end. Never rejects. `scheme` is that of every URL. Throws when the operations contradict each other. */
export function compilePipeline(
  options: PipelineOptions,
  scheme: 'http' | 'https',
): (exchange: Exchange) => Promise<void> {
  const { store, credentials, region, clock, ready } = options
  const endpoints = options.operations.map(compileEndpoint)
  const route = compileRoutes(endpoints, ({ operation }) => operation)
  const bucketOfHost = compileHosts(options.domains)

  async function serve(exchange: Exchange, head: RequestHead): Promise<void> {
    // Before anything else is looked at: no answer may depend on what an unverified request asks for.
    const verified = verify(signedParts(head), credentials, clock.now())
    exchange.accessKeyId = verified.principal.accessKeyId

    const parsed = parse(head)
    exchange.resource = resourceOf(parsed.address)
    const endpoint = route(head.method, parsed.address, parsed.query, parsed.vendorValues)
    exchange.operationName = endpoint.operation.name

    const input = decodeFields(endpoint, head, parsed)
    if (endpoint.operation.implemented) {
      const body = endpoint.body(exchange, head, parsed.vendorValues, verified.payload)
      input.body = body instanceof Promise ? await body : body
    }
    const request = operationRequest(exchange, head, parsed, verified)
    if (endpoint.operation.slow)
      return answerSlowly(exchange, head, endpoint, () => run(endpoint.operation, request, input))
    const sent = send(exchange, head, endpoint, await run(endpoint.operation, request, input))
    if (sent !== undefined) await sent
  }

  function parse(head: RequestHead): Parsed {
    const vendorValues: VendorValues = new Map()
    readVendorHeaders(head, vendorValues)
    const query = readQuery(head.rawQuery, vendorValues)
    return { address: readAddress(head, bucketOfHost), query, vendorValues }
  }

  function operationRequest(
    exchange: Exchange,
    head: RequestHead,
    { address, vendorValues }: Parsed,
    { principal, presigned }: Verified,
  ): OperationRequest {
    const expectedOwner = vendorValues.get('expected-bucket-owner')
    return {
      store,
      principal,
      presigned,
      requestId: exchange.requestId,
      bucket: address.bucket,
      key: address.key,
      expectedBucketOwner: expectedOwner === undefined ? undefined : singleValue(expectedOwner),
      resourceUrl: `${scheme}://${head.host}${head.rawPath}`,
      region,
      customerKeysMayTravel: exchange.customerKeysMayTravel,
    }
  }

  return async (exchange) => {
    let head: RequestHead | undefined
    try {
      head = readHead(exchange.request)
      exchange.dialect = head.dialect
      if (answerHealth(exchange, head, ready)) return
      if (exchange.refusal !== undefined) throw exchange.refusal
      if (head.method === 'OPTIONS') throw new S3Error('AccessForbidden')
      await serve(exchange, head)
    } catch (error) {
      fail(exchange, head, error)
    }
  }
}

function compileEndpoint(operation: Operation<OperationContext>): Endpoint {
  return {
    operation,
    fields: compileFields(operation),
    body: compileBody(operation.inputBody),
    encoders: compileEncoders(operation),
  }
}

function signedParts({
  method,
  rawPath,
  rawQuery,
  rawHeaders,
  names,
  dialect,
}: RequestHead): Parameters<typeof verify>[0] {
  return { method, rawPath, rawQuery, rawHeaders, names, prefix: dialect.prefix }
}

function resourceOf({ bucket, key }: Address): string {
  return key === '' ? `/${bucket}` : `/${bucket}/${key}`
}

/** What isn't implemented isn't decoded either: `run` refuses it by name. */
function decodeFields({ operation, fields }: Endpoint, head: RequestHead, { query, vendorValues }: Parsed): Input {
  return operation.implemented ? fields(head, query, vendorValues) : {}
}

/** Gives a promise when it takes time. */
function send(
  exchange: Exchange,
  head: RequestHead,
  { operation, encoders }: Endpoint,
  answer: Answer,
): Promise<void> | void {
  const { headers, document } = encoders[exchange.dialect.name]
  const status = answer.status ?? operation.status
  if (operation.outputBody.kind === 'stream') {
    return sendStream(exchange, head, status, headers(answer), answer.body as ByteSource)
  }
  if (document === undefined) return sendBytes(exchange, head, status, headers(answer), undefined)
  const bytes = document.document(answer.body)
  sendBytes(exchange, head, status, ['Content-Type', 'application/xml', ...headers(answer)], bytes)
}

async function answerSlowly(
  exchange: Exchange,
  head: RequestHead,
  endpoint: Endpoint,
  work: () => Promise<Answer>,
): Promise<void> {
  const slow = new SlowAnswer(exchange, head)
  try {
    const answer = await work()
    const { document } = endpoint.encoders[exchange.dialect.name]
    if (!slow.begun) return await send(exchange, head, endpoint, answer)
    slow.finish(document === undefined ? Buffer.alloc(0) : document.element(answer.body))
  } catch (error) {
    if (!slow.begun) throw error
    const fault = faultOf(error)
    note(exchange, error, fault)
    slow.finish(Buffer.from(faultElement(fault, exchange)))
  } finally {
    slow.stop()
  }
}

function fail(exchange: Exchange, head: RequestHead | undefined, error: unknown): void {
  const { response } = exchange
  const fault = faultOf(error)
  note(exchange, error, fault)
  // An answer that broke in the middle has been cut off already; nobody is there to hear more.
  if (response.headersSent || response.destroyed) return void response.destroy()
  sendFault(exchange, head, fault)
}

function note(exchange: Exchange, error: unknown, fault: S3Error): void {
  exchange.code = error instanceof ClientGone ? 'ClientGone' : fault.code
  if (fault.code === 'InternalError' && !(error instanceof ClientGone)) exchange.unexpected = error
}
