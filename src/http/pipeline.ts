/** The steps of a request: verify, address, route, decode, run, encode, decorate. An error that any step throws becomes the answer. */
import { nobody } from '../auth/principal.ts'
import { type SignedRequest, type Verified, verify, withoutSignature } from '../auth/verify.ts'
import type { Version2Rules } from '../auth/verify-version2.ts'
import type { Answer } from '../contract/operation.ts'
import { notImplemented, S3Error } from '../errors.ts'
import { CrossOrigin } from '../operations/access/cross-origin.ts'
import type { OperationRequest } from '../operations/context.ts'
import { run, runAfter } from '../operations/run.ts'
import { ending, inShortStep, passesTraces } from '../spans.ts'
import {
  type Address,
  asksControl,
  type BucketOfHost,
  compileHosts,
  type QueryParameter,
  readAddress,
  readQuery,
  readTarget,
  readVendorHeaders,
} from './address.ts'
import { admits, notAForm, type Proof, proofOf, refusalOfUnsigned } from './admission.ts'
import { answerPreflight, readCrossOrigin } from './cross-origin.ts'
import type { Input } from './decode.ts'
import { type Dialect, dialectOfAddress, singleValue, type VendorValues } from './dialect.ts'
import { compileEndpoint, decodeFields, type Endpoint, parametersOf, send } from './endpoint.ts'
import type { Exchange } from './exchange.ts'
import { claimedKey, fail } from './failure.ts'
import { dialectOfForm, readForm } from './forms/form.ts'
import { FormBody } from './forms/form-body.ts'
import { openFormFile } from './forms/form-file.ts'
import { compileForwarded, type ForwardedReader } from './forwarded.ts'
import { answerHealth } from './health.ts'
import { refuseMinioRequest } from './minio-requests.ts'
import type { PipelineOptions } from './pipeline-options.ts'
import { PublicEndpoints } from './public-endpoints.ts'
import { conditionValue } from './request-conditions.ts'
import { type RequestHead, readHead, signedParts } from './request-head.ts'
import { compileRoutes, type Router } from './route.ts'
import { answerSlowly } from './slow-answer.ts'
import { StsRequests } from './sts-requests.ts'
import type { Access } from './telemetry/access.ts'
import { AuditedChanges, isConfiguring } from './telemetry/audited-changes.ts'
import { traced } from './telemetry/traced.ts'
import { answerWebsite, compileSites } from './websites/website.ts'

/** What the address and the headers say. */
interface Parsed {
  address: Address
  query: readonly QueryParameter[]
  vendorValues: VendorValues
}

/** A request whose sender and operation are known. */
interface Asked {
  verified: Verified
  parsed: Parsed
  endpoint: Endpoint
  /** The head of the form that the request comes from, once it has been read. */
  form?: RequestHead
}

/**
 * Returns what serves one request to its end, and never rejects. `scheme`: the scheme of the port, which a trusted proxy can override. Throws when two
 * operations claim the same requests.
 */
export function openPipeline(
  options: PipelineOptions,
  scheme: 'http' | 'https',
): (exchange: Exchange) => Promise<void> {
  const pipeline = new Pipeline(options, scheme)
  const inTrace = traced((exchange) => pipeline.answer(exchange), { ...options, scheme })
  const isTraced = options.traces === undefined ? passesTraces : () => true
  return (exchange) => (isTraced() ? inTrace(exchange) : pipeline.answer(exchange))
}

class Pipeline {
  readonly #options: PipelineOptions
  readonly #isSecure: boolean
  readonly #route: Router<Endpoint>
  readonly #bucketOfHost: BucketOfHost
  readonly #dialectOf: (rawPath: string, host: string) => Dialect
  readonly #siteOfHost: BucketOfHost
  readonly #forwarded: ForwardedReader | undefined
  readonly #publicEndpoints: PublicEndpoints
  readonly #version2: Version2Rules
  readonly #corsRules: CrossOrigin
  readonly #sts: StsRequests
  readonly #changes: AuditedChanges

  constructor(options: PipelineOptions, scheme: 'http' | 'https') {
    const { operations, backend, domains, corsAllowOrigin, sigv2 } = options
    this.#options = options
    this.#changes = new AuditedChanges(options)
    this.#isSecure = scheme === 'https'
    this.#route = compileRoutes(operations.map(compileEndpoint), ({ operation }) => operation)
    this.#bucketOfHost = compileHosts(domains)
    this.#dialectOf = (rawPath, host) => dialectOfAddress(rawPath, this.#bucketOfHost(host) ?? this.#siteOfHost(host))
    this.#siteOfHost = compileSites(options.websiteDomains ?? [])
    this.#forwarded = compileForwarded(options.trustedProxies ?? [])
    this.#publicEndpoints = new PublicEndpoints(options.publicEndpoints ?? [], this.#bucketOfHost)
    this.#corsRules = new CrossOrigin(backend, corsAllowOrigin, options.consoleOrigins)
    this.#version2 = { taken: sigv2, bucketOfHost: this.#bucketOfHost, parameters: parametersOf(operations) }
    this.#sts = new StsRequests(options, this.#bucketOfHost, this.#version2, {
      signedParts: (exchange, head) => this.#signedParts(exchange, head),
      cameSecurely: (exchange) => this.#cameSecurely(exchange),
    })
  }

  async answer(exchange: Exchange): Promise<void> {
    let head: RequestHead | undefined
    try {
      head = this.#readHead(exchange)
      exchange.dialect = head.dialect
      exchange.isOfControl = asksControl(head, this.#bucketOfHost)
      if (this.#siteOfHost(head.host) !== undefined) return await this.#serveWebsite(exchange, head)
      if (answerHealth(exchange, head, this.#options.ready)) return
      // This comes before any refusal, because a page must be able to read refusals too.
      if (head.names.includes('origin')) {
        exchange.crossOrigin = await readCrossOrigin(head, this.#bucketOfHost, this.#corsRules)
      }
      if (exchange.refusal !== undefined) throw exchange.refusal
      // Browsers don't sign a preflight. A signature in its URL belongs to the request that follows.
      if (head.method === 'OPTIONS') {
        exchange.access = this.#unserved(head)
        return answerPreflight(exchange, head, this.#bucketOfHost)
      }
      refuseMinioRequest(head)
      const renewal = this.#options.credentials.renewal()
      if (renewal !== undefined) await renewal
      if (this.#sts.isFor(head)) return await this.#sts.answer(exchange, head)
      await this.#serve(exchange, head)
    } catch (error) {
      exchange.claimedAccessKeyId = claimedKey(error, this.#options.credentials)
      if (head !== undefined && !exchange.isOfControl) exchange.access ??= this.#unserved(head)
      await exchange.turnToRefuse()
      fail(exchange, head, error)
    }
  }

  /** The Host that a trusted proxy reports replaces the proxy's own. */
  #readHead(exchange: Exchange): RequestHead {
    const head = readHead(exchange.request, this.#dialectOf)
    exchange.isNamedBy(head)
    exchange.forwarded = this.#forwarded?.(exchange.request.socket.remoteAddress, head)
    const host = exchange.forwarded?.host
    return host === undefined ? head : { ...head, host }
  }

  /** Whether the request came over TLS, to this server or to a trusted proxy. */
  #cameSecurely({ forwarded }: Exchange): boolean {
    return forwarded?.secure ?? this.#isSecure
  }

  async #serveWebsite(exchange: Exchange, head: RequestHead): Promise<void> {
    exchange.crossOrigin = await readCrossOrigin(head, this.#siteOfHost, this.#corsRules)
    // The renewal of keys also loads what accounts block.
    await this.#options.credentials.renewal()
    const parsed: Parsed = { address: { target: 'object', bucket: '', key: '' }, query: [], vendorValues: new Map() }
    const verified: Verified = { principal: nobody, presigned: false, payload: { kind: 'unsigned' } }
    const request = this.#requestOf(exchange, head, { parsed, verified })
    const protocol = this.#cameSecurely(exchange) ? 'https' : 'http'
    const { bucket, key } = readTarget(head, this.#siteOfHost)
    exchange.access = { bucket, key, words: `WEBSITE.${head.method}.OBJECT`, request }
    await answerWebsite(exchange, head, this.#siteOfHost, { request, protocol })
  }

  async #serve(exchange: Exchange, head: RequestHead, asked = this.#admitted(exchange, head)): Promise<void> {
    const { endpoint, parsed, verified } = asked
    const { operation } = endpoint
    if (operation.authentication === 'form' && asked.form === undefined) return this.#serveForm(exchange, head, asked)
    const { bucket, key } = parsed.address
    const failing = this.#options.failures?.of({ operation: operation.name, bucket, key })
    if (failing !== undefined) await failing.befall(exchange)
    const request = this.#requestOf(exchange, head, asked)
    let answer: Answer
    let input: Input = {}
    const access: Access = { bucket, key, operation, request, input, answer: undefined }
    exchange.access = access
    try {
      input = decodeFields(endpoint, exchange, head, parsed)
      access.input = input
      if (operation.implemented) {
        const body = endpoint.body(exchange, head, parsed.vendorValues, verified.payload)
        input.body = body instanceof Promise ? await body : body
      }
      if (operation.slow) return await answerSlowly(exchange, head, endpoint, { request, input })
      const change = (): Promise<Answer> => run(operation, request, input)
      answer = isConfiguring(operation)
        ? await this.#changes.make(exchange, request, operation, change)
        : await change()
    } catch (error) {
      input.versionId ??= parsed.query.find(({ name }) => name === 'versionId')?.value
      answer = await noteAdmission(exchange, () => runAfter(error, operation, request, input))
    }
    access.answer = answer
    const step = exchange.span?.begin('send')
    const sent = send(exchange, head, endpoint, answer)
    if (sent !== undefined) await (step === undefined ? sent : ending(step, sent))
    else step?.end()
  }

  /** Reads a form's fields before its file, because they identify the sender and the request. */
  async #serveForm(exchange: Exchange, head: RequestHead, { endpoint, parsed, verified }: Asked): Promise<void> {
    if (verified.principal !== nobody) throw notAForm(head)
    const { credentials, sts, clock } = this.#options
    const form = await FormBody.open(exchange, head)
    try {
      exchange.dialect = dialectOfForm(form.fields, head.dialect)
      const spoken = { ...head, dialect: exchange.dialect }
      // The fields may have come so slowly that the known keys are out of date.
      await credentials.renewal()
      const rules = { credentials, sessions: sts.sessions, version2: this.#version2, nowMs: clock.now() }
      const post = readForm(form, spoken, parsed.address.bucket, rules)
      if (post.principal !== nobody) exchange.belongsTo(post.principal)
      exchange.resource = resourceOf(post.address) ?? exchange.resource
      await this.#serve(exchange, post.head, {
        verified: { ...verified, principal: post.principal },
        parsed: { address: post.address, query: post.parameters, vendorValues: post.vendorValues },
        endpoint: { ...endpoint, body: () => openFormFile(form, post.bounds) },
        form: head,
      })
    } finally {
      await form.close()
    }
  }

  #admitted(exchange: Exchange, head: RequestHead): Asked {
    return inShortStep(exchange.span, 'authenticate', () => this.#admit(exchange, head))
  }

  /** Throws what verifying and routing throw, and AccessDenied for an unsigned request that must be signed. */
  #admit(exchange: Exchange, head: RequestHead): Asked {
    const proof = proofOf(head)
    if (proof !== 'signature') return this.#admitUnsigned(exchange, head, proof)
    const { credentials, sts, clock } = this.#options
    // Verification comes first, because no answer may depend on what an unverified request asks for.
    const verified = verify(this.#signedParts(exchange, head), credentials, clock.now(), this.#version2, sts.sessions)
    exchange.belongsTo(verified.principal)

    const parsed = this.#parse(exchange, head)
    exchange.resource = resourceOf(parsed.address) ?? exchange.resource
    const endpoint = this.#endpointOf(head, parsed)
    exchange.operationName = endpoint.operation.name
    return { verified, parsed, endpoint }
  }

  #admitUnsigned(exchange: Exchange, head: RequestHead, proof: Proof): Asked {
    const asked = this.#askedUnsigned(exchange, head, proof)
    if (proof === 'none' && asked?.endpoint.operation.authentication === 'form') {
      exchange.operationName = asked.endpoint.operation.name
      throw notAForm(head)
    }
    if (asked === undefined || !admits(asked.endpoint.operation, proof)) throw refusalOfUnsigned()
    const { name, implemented } = asked.endpoint.operation
    exchange.resource = resourceOf(asked.parsed.address) ?? exchange.resource
    exchange.operationName = name
    if (!implemented) throw notImplemented(name)
    return { ...asked, verified: withoutSignature(this.#signedParts(exchange, head)) }
  }

  /** `undefined` when the request can't be read or routed. For a form, throws the error in its address. */
  #askedUnsigned(exchange: Exchange, head: RequestHead, proof: Proof): Omit<Asked, 'verified'> | undefined {
    let parsed: Parsed | undefined
    try {
      parsed = this.#parse(exchange, head)
      return { parsed, endpoint: this.#endpointOf(head, parsed) }
    } catch (error) {
      if (parsed === undefined && proof === 'form') throw error
      return undefined
    }
  }

  #parse({ isOfControl }: Exchange, head: RequestHead): Parsed {
    const vendorValues: VendorValues = new Map()
    readVendorHeaders(head, vendorValues)
    const query = readQuery(head.rawQuery, vendorValues)
    return {
      address: readAddress(head, this.#bucketOfHost, isOfControl),
      query,
      vendorValues,
    }
  }

  /** Where a request that was not looked at goes, as far as its address says. */
  #unserved(head: RequestHead): Access {
    const { bucket, key } = readTarget(head, this.#bucketOfHost)
    return { bucket, key }
  }

  #endpointOf(head: RequestHead, { address, query, vendorValues }: Parsed): Endpoint {
    return this.#route(head.method, address, query, vendorValues)
  }

  #signedParts(exchange: Exchange, head: RequestHead): SignedRequest {
    return signedParts(head, this.#publicEndpoints.signedHosts(head, exchange.forwarded?.host !== undefined))
  }

  #requestOf(
    exchange: Exchange,
    head: RequestHead,
    { parsed: { address, query, vendorValues }, verified: { principal, presigned }, form }: Omit<Asked, 'endpoint'>,
  ): OperationRequest {
    const { backend, region, clock, credentials, accountBlocks } = this.#options
    const secure = this.#cameSecurely(exchange)
    const expectedOwner = vendorValues.get('expected-bucket-owner')
    return {
      backend,
      principal,
      conditionValue: (key) =>
        conditionValue({ exchange, head, query, vendorValues, presigned, form, clock, region, secure }, key),
      accountName: credentials.nameOf,
      isAccount: credentials.hasAccount,
      presigned,
      requestId: exchange.requestId,
      bucket: address.bucket,
      key: address.key,
      expectedBucketOwner: expectedOwner === undefined ? undefined : singleValue(expectedOwner),
      resourceUrl: this.#publicEndpoints.urlOf(head, secure ? 'https' : 'http'),
      region,
      customerKeysMayTravel: exchange.customerKeysMayTravel,
      accountBlocks,
    }
  }
}

/** Runs `answer`. Any error except AccessDenied means that the bucket admitted the request, so it does not count as a refusal. */
async function noteAdmission(exchange: Exchange, answer: () => Promise<Answer>): Promise<Answer> {
  try {
    return await answer()
  } catch (error) {
    if (!(error instanceof S3Error && error.code === 'AccessDenied')) exchange.wasAdmitted()
    throw error
  }
}

/** What an error names. `undefined`: the path as it was sent, because S3 Control addresses nothing by bucket and key. */
function resourceOf({ target, bucket, key }: Address): string | undefined {
  if (target === 'account' || target === 'arn') return undefined
  return key === '' ? `/${bucket}` : `/${bucket}/${key}`
}
