/** The way of a request, step by step: verify, address, route, decode, run, encode, decorate; whatever is thrown on it becomes the answer. */
import type { Credentials } from '../auth/credentials.ts'
import { nobody } from '../auth/principal.ts'
import { type Verified, verify, withoutSignature } from '../auth/verify.ts'
import type { Version2Rules } from '../auth/verify-version2.ts'
import type { ByteSource } from '../byte-source.ts'
import type { Clock } from '../clock.ts'
import type { Answer, Operation } from '../contract/operation.ts'
import { notImplemented, S3Error } from '../errors.ts'
import type { OperationContext, OperationRequest } from '../operations/context.ts'
import { CrossOrigin } from '../operations/cross-origin.ts'
import { run, runAfter } from '../operations/run.ts'
import {
  type Address,
  type BucketOfHost,
  compileHosts,
  type QueryParameter,
  readAddress,
  readQuery,
  readVendorHeaders,
} from './address.ts'
import { admits, notAForm, type Proof, proofOf, refusalOfUnsigned } from './admission.ts'
import { sendBytes, sendStream } from './answer.ts'
import { answerPreflight, readCrossOrigin } from './cross-origin.ts'
import { compileFields, type FieldDecoder, type Input } from './decode.ts'
import { type BodyDecoder, compileBody } from './decode-body.ts'
import { singleValue, type VendorValues } from './dialect.ts'
import { compileEncoders, type Encoders } from './encode.ts'
import type { Exchange } from './exchange.ts'
import { claimedKey, fail, note } from './failure.ts'
import { faultElement, faultOf } from './fault.ts'
import { dialectOfForm, readForm } from './form.ts'
import { FormBody } from './form-body.ts'
import { openFormFile } from './form-file.ts'
import { answerHealth, type Readiness } from './health.ts'
import { conditionValue } from './request-conditions.ts'
import { type RequestHead, readHead } from './request-head.ts'
import { compileRoutes, type Router } from './route.ts'
import { SlowAnswer } from './slow-answer.ts'

export interface PipelineOptions {
  operations: readonly Operation<OperationContext>[]
  backend: OperationContext['backend']
  credentials: Credentials
  /** In which forms signatures of version 2 are taken. */
  sigv2: Version2Rules['taken']
  /** Hosts below which buckets are named: `<bucket>.<domain>`. `localhost` is always one. */
  domains: readonly string[]
  /** Of buckets that were made without one. */
  region: string
  /** Whose pages may use buckets without a CORS configuration. */
  corsAllowOrigin: readonly string[]
  clock: Clock
  /** For the health checks. */
  ready(what: Readiness): boolean
}

/** An operation with everything that its declaration was compiled to. */
interface Endpoint {
  operation: Operation<OperationContext>
  fields: FieldDecoder
  body: BodyDecoder
  encoders: Encoders
}

/** What the address and the headers say. */
interface Parsed {
  address: Address
  query: readonly QueryParameter[]
  vendorValues: VendorValues
}

/** Who asks, and for what. */
interface Asked {
  verified: Verified
  parsed: Parsed
  endpoint: Endpoint
  /** What a form asks for that was read. */
  isForm?: boolean
}

export class Pipeline {
  readonly #options: PipelineOptions
  readonly #scheme: 'http' | 'https'
  readonly #route: Router<Endpoint>
  readonly #bucketOfHost: BucketOfHost
  readonly #version2: Version2Rules
  readonly #corsRules: CrossOrigin

  /** `scheme` is that of every URL. Throws when the operations contradict each other. */
  constructor(options: PipelineOptions, scheme: 'http' | 'https') {
    const { operations, backend, domains, corsAllowOrigin, sigv2 } = options
    this.#options = options
    this.#scheme = scheme
    this.#route = compileRoutes(operations.map(compileEndpoint), ({ operation }) => operation)
    this.#bucketOfHost = compileHosts(domains)
    this.#corsRules = new CrossOrigin(backend, corsAllowOrigin)
    this.#version2 = { taken: sigv2, bucketOfHost: this.#bucketOfHost, parameters: parametersOf(operations) }
  }

  /** Serves one request to its end. Never rejects. */
  async answer(exchange: Exchange): Promise<void> {
    let head: RequestHead | undefined
    try {
      head = readHead(exchange.request)
      exchange.dialect = head.dialect
      if (answerHealth(exchange, head, this.#options.ready)) return
      // Before anything can refuse it: a page must be able to read the refusal, too.
      if (head.names.includes('origin')) {
        exchange.crossOrigin = await readCrossOrigin(head, this.#bucketOfHost, this.#corsRules)
      }
      if (exchange.refusal !== undefined) throw exchange.refusal
      // Browsers sign no preflight. A signature in its URL belongs to the request that comes next.
      if (head.method === 'OPTIONS') return answerPreflight(exchange, head, this.#bucketOfHost)
      const renewal = this.#options.credentials.renewal()
      if (renewal !== undefined) await renewal
      await this.#serve(exchange, head)
    } catch (error) {
      exchange.claimedAccessKeyId = claimedKey(error, this.#options.credentials)
      await exchange.turnToRefuse()
      fail(exchange, head, error)
    }
  }

  async #serve(exchange: Exchange, head: RequestHead, asked = this.#admit(exchange, head)): Promise<void> {
    const { endpoint, parsed, verified } = asked
    const { operation } = endpoint
    if (operation.authentication === 'form' && !asked.isForm) return this.#serveForm(exchange, head, asked)
    const request = this.#operationRequest(exchange, head, asked)
    let answer: Answer
    let input: Input = {}
    try {
      input = decodeFields(endpoint, exchange, head, parsed)
      if (operation.implemented) {
        const body = endpoint.body(exchange, head, parsed.vendorValues, verified.payload)
        input.body = body instanceof Promise ? await body : body
      }
      if (operation.slow) return await answerSlowly(exchange, head, endpoint, { request, input })
      answer = await run(operation, request, input)
    } catch (error) {
      input.versionId ??= versionIdOf(parsed)
      answer = await instead(exchange, () => runAfter(error, operation, request, input))
    }
    const sent = send(exchange, head, endpoint, answer)
    if (sent !== undefined) await sent
  }

  /** The fields of a form say who sends it and what it asks for, so they are read before its file. */
  async #serveForm(exchange: Exchange, head: RequestHead, { endpoint, parsed, verified }: Asked): Promise<void> {
    if (verified.principal !== nobody) throw notAForm()
    const { credentials, clock } = this.#options
    const form = await FormBody.open(exchange, head)
    try {
      exchange.dialect = dialectOfForm(form.fields, head.dialect)
      const spoken = { ...head, dialect: exchange.dialect }
      // Fields may come slowly.
      await credentials.renewal()
      const rules = { credentials, version2: this.#version2, nowMs: clock.now() }
      const asks = readForm(form, spoken, parsed.address.bucket, rules)
      exchange.belongsTo(asks.principal)
      exchange.resource = resourceOf(asks.address)
      await this.#serve(exchange, asks.head, {
        verified: { ...verified, principal: asks.principal },
        parsed: { address: asks.address, query: asks.parameters, vendorValues: asks.vendorValues },
        endpoint: { ...endpoint, body: () => openFormFile(form, asks.bounds) },
        isForm: true,
      })
    } finally {
      await form.close()
    }
  }

  /** Throws what refuses a signature, AccessDenied for a request that should have one, and what routing throws. */
  #admit(exchange: Exchange, head: RequestHead): Asked {
    const proof = proofOf(head)
    if (proof !== 'signature') return this.#admitUnsigned(exchange, head, proof)
    const { credentials, clock } = this.#options
    // Before anything else is looked at: no answer may depend on what an unverified request asks for.
    const verified = verify(signedParts(head), credentials, clock.now(), this.#version2)
    exchange.belongsTo(verified.principal)

    const parsed = this.#parse(head)
    exchange.resource = resourceOf(parsed.address)
    const endpoint = this.#endpointOf(head, parsed)
    exchange.operationName = endpoint.operation.name
    return { verified, parsed, endpoint }
  }

  #admitUnsigned(exchange: Exchange, head: RequestHead, proof: Proof): Asked {
    const asked = this.#askedUnsigned(head, proof)
    if (asked === undefined || !admits(asked.endpoint.operation, proof)) throw refusalOfUnsigned()
    const { name, implemented } = asked.endpoint.operation
    exchange.resource = resourceOf(asked.parsed.address)
    exchange.operationName = name
    if (!implemented) throw notImplemented(name)
    return { ...asked, verified: withoutSignature(signedParts(head)) }
  }

  /** `undefined` when it can't be told. Throws what is wrong with the address of a form. */
  #askedUnsigned(head: RequestHead, proof: Proof): Omit<Asked, 'verified'> | undefined {
    let parsed: Parsed | undefined
    try {
      parsed = this.#parse(head)
      return { parsed, endpoint: this.#endpointOf(head, parsed) }
    } catch (error) {
      if (parsed === undefined && proof === 'form') throw error
      return undefined
    }
  }

  #parse(head: RequestHead): Parsed {
    const vendorValues: VendorValues = new Map()
    readVendorHeaders(head, vendorValues)
    const query = readQuery(head.rawQuery, vendorValues)
    return { address: readAddress(head, this.#bucketOfHost), query, vendorValues }
  }

  #endpointOf(head: RequestHead, { address, query, vendorValues }: Parsed): Endpoint {
    return this.#route(head.method, address, query, vendorValues)
  }

  #operationRequest(
    exchange: Exchange,
    head: RequestHead,
    { parsed: { address, query, vendorValues }, verified: { principal, presigned }, isForm = false }: Asked,
  ): OperationRequest {
    const { backend, region, clock, credentials } = this.#options
    const secure = this.#scheme === 'https'
    const expectedOwner = vendorValues.get('expected-bucket-owner')
    return {
      backend,
      principal,
      conditionValue: (key) =>
        conditionValue({ exchange, head, query, vendorValues, presigned, isForm, clock, region, secure }, key),
      accountName: credentials.nameOf,
      presigned,
      requestId: exchange.requestId,
      bucket: address.bucket,
      key: address.key,
      expectedBucketOwner: expectedOwner === undefined ? undefined : singleValue(expectedOwner),
      resourceUrl: `${this.#scheme}://${head.host}${head.rawPath}`,
      region,
      customerKeysMayTravel: exchange.customerKeysMayTravel,
    }
  }
}

/** What is wrong with a request that its bucket admits is no refusal, signed or not. */
async function instead(exchange: Exchange, answer: () => Promise<Answer>): Promise<Answer> {
  try {
    return await answer()
  } catch (error) {
    if (!(error instanceof S3Error && error.code === 'AccessDenied')) exchange.wasAdmitted()
    throw error
  }
}

/** Every parameter that means something to one operation at least. */
function parametersOf(operations: readonly Operation<OperationContext>[]): ReadonlySet<string> {
  const routing = operations.flatMap(({ query }) => query.map((text) => text.split('=')[0] ?? ''))
  const inputs = operations.flatMap(({ input }) => Object.values(input)).filter((field) => field.in === 'query')
  return new Set([...routing, ...inputs.map(({ name }) => name)])
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
function decodeFields(
  { operation, fields }: Endpoint,
  exchange: Exchange,
  head: RequestHead,
  { query, vendorValues }: Parsed,
): Input {
  return operation.implemented ? fields(head, query, vendorValues, exchange) : {}
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
  if (operation.outputBody.kind === 'json') {
    const json = ['Content-Type', 'application/json', ...headers(answer)]
    return sendBytes(exchange, head, status, json, Buffer.from(answer.body as string))
  }
  if (document === undefined || answer.body === undefined)
    return sendBytes(exchange, head, status, headers(answer), undefined)
  const bytes = document.document(answer.body)
  sendBytes(exchange, head, status, ['Content-Type', 'application/xml', ...headers(answer)], bytes)
}

function versionIdOf({ query }: Parsed): string | undefined {
  return query.find(({ name }) => name === 'versionId')?.value
}

async function answerSlowly(
  exchange: Exchange,
  head: RequestHead,
  endpoint: Endpoint,
  { request, input }: { request: OperationRequest; input: Input },
): Promise<void> {
  const slow = new SlowAnswer(exchange, head)
  try {
    const answer = await run(endpoint.operation, request, input)
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
