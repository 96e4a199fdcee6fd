/**
 * A bucket as a website: requests for its pages under a website domain. Signatures are ignored: every page is read as an unsigned GetObject would read it.
 * Reasons: docs/adr/0040-proxies-and-websites.md
 */
import { nobody } from '../../auth/principal.ts'
import type { ByteSource } from '../../byte-source.ts'
import type { Answer } from '../../contract/operation.ts'
import { S3Error } from '../../errors.ts'
import { known } from '../../known.ts'
import {
  directoryOf,
  findWebsite,
  keyOfPage,
  type PageRedirect,
  type PageRequest,
  redirectOf,
  type WebsiteConfiguration,
} from '../../operations/buckets/website-of-bucket.ts'
import type { OperationRequest } from '../../operations/context.ts'
import { getObjectOperation } from '../../operations/objects/get-object.ts'
import { headObjectOperation } from '../../operations/objects/head-object.ts'
import { run, runAfter } from '../../operations/run.ts'
import { type BucketOfHost, checkAddress } from '../address.ts'
import { sendBytes } from '../answer.ts'
import { answerPreflight } from '../cross-origin.ts'
import type { VendorValues } from '../dialect.ts'
import { compileEndpoint, type Endpoint, send } from '../endpoint.ts'
import type { Exchange } from '../exchange.ts'
import { note } from '../failure.ts'
import { faultHeaders, faultOf } from '../fault.ts'
import { sendableValue } from '../header-text.ts'
import { percentDecode } from '../percent.ts'
import type { RequestHead } from '../request-head.ts'
import { type FailedPage, failurePage } from './website-page.ts'

/** Finds the bucket whose website a Host names: the part before a website domain, or the domain itself. */
export function compileSites(websiteDomains: readonly string[]): BucketOfHost {
  // The usual case, kept cheap because every request passes here.
  if (websiteDomains.length === 0) return () => undefined
  const domains = websiteDomains.map((domain) => domain.toLowerCase()).sort((a, b) => b.length - a.length)
  return (host) => {
    const name = host.replace(/:\d*$/, '').toLowerCase()
    for (const domain of domains) {
      if (name === domain) return domain
      if (name.endsWith(`.${domain}`)) return name.slice(0, -domain.length - 1)
    }
    return undefined
  }
}

/** What the pipeline knows about an anonymous request for an object. */
export type AnonymousRequest = Omit<OperationRequest, 'bucket' | 'key' | 'principal'>

/** A request for a page of a website. */
interface Visit {
  exchange: Exchange
  head: RequestHead
  bucket: string
  request: AnonymousRequest
  page: PageRequest
}

const noVendorValues: VendorValues = new Map()
const operations: Readonly<Record<string, Endpoint>> = {
  GET: compileEndpoint(getObjectOperation),
  HEAD: compileEndpoint(headObjectOperation),
}
/** Drops the headers, because conditions and ranges apply to the requested page and not to the error page. */
const withoutHeaders = (head: RequestHead): RequestHead => ({ ...head, names: [], rawHeaders: [] })

/** Answers a request for the website of a bucket. Rejects only when an answer broke in the middle. */
export async function answerWebsite(
  exchange: Exchange,
  head: RequestHead,
  siteOfHost: BucketOfHost,
  { request, protocol }: { request: AnonymousRequest; protocol: PageRequest['protocol'] },
): Promise<void> {
  const bucket = siteOfHost(head.host) ?? ''
  exchange.operationName = 'Website'
  let key = ''
  try {
    if (exchange.refusal !== undefined) throw exchange.refusal
    if (head.method === 'OPTIONS') return answerPreflight(exchange, head, siteOfHost)
    if (head.method !== 'GET' && head.method !== 'HEAD') throw notAllowed(head.method)
    key = percentDecode(head.rawPath).slice(1)
    const website = await findWebsite(request.backend, bucket)
    // The Host can safely be repeated in redirects: it is an existing bucket's name, a configured domain and perhaps a port.
    const { host, rawPath, rawQuery } = head
    const page = { protocol, host, rawPath, rawQuery, key }
    await answerPage(website, { exchange, head, bucket, request, page })
  } catch (error) {
    if (exchange.response.headersSent) throw error
    sendFailure(exchange, head, error, { key })
  }
}

const notAllowed = (method: string): S3Error =>
  new S3Error('MethodNotAllowed', {
    details: { Method: method, ResourceType: 'OBJECT' },
    headers: { Allow: 'GET, HEAD, OPTIONS' },
  })

async function answerPage(website: WebsiteConfiguration, visit: Visit): Promise<void> {
  const redirect = redirectOf(website, visit.page)
  if (redirect !== undefined) return sendRedirect(visit, redirect)
  try {
    await serve(visit, keyOfPage(visit.page.key, website))
  } catch (error) {
    if (visit.exchange.response.headersSent) throw error
    await answerFailure(website, visit, error)
  }
}

/** Answers for a page that can't be shown: with a redirect to its directory, by a redirect rule, or with the error page. */
async function answerFailure(website: WebsiteConfiguration, visit: Visit, error: unknown): Promise<void> {
  const { exchange, head, page } = visit
  const { status } = faultOf(error)
  const key = keyOfPage(page.key, website)
  if (status === 403 || status === 404) {
    const directory = directoryOf(page.key, website)
    if (directory !== undefined && (await exists(visit, directory.indexKey)))
      return sendRedirect(visit, directory.redirect)
  }
  const redirect = redirectOf(website, page, status)
  if (redirect !== undefined) return sendRedirect(visit, redirect)
  if (website.errorKey === undefined || status < 400 || status > 499) return sendFailure(exchange, head, error, { key })
  try {
    note(exchange, error, faultOf(error))
    await serve({ ...visit, head: withoutHeaders(head) }, website.errorKey, status)
  } catch (second) {
    if (exchange.response.headersSent) throw second
    sendFailure(exchange, head, error, { key, errorPage: { fault: faultOf(second), key: website.errorKey } })
  }
}

async function exists(visit: Visit, key: string): Promise<boolean> {
  try {
    await read({ ...visit, head: withoutHeaders(visit.head) }, key, 'HEAD')
    return true
  } catch (error) {
    if (error instanceof S3Error) return false
    throw error
  }
}

/** Sends an object, or the redirect in its metadata. `status` replaces the status of the object's own answer. */
async function serve(visit: Visit, key: string, status?: number): Promise<void> {
  const { exchange, head } = visit
  const method = head.method === 'HEAD' ? 'HEAD' : 'GET'
  const answer = await read(visit, key, method)
  const { websiteRedirectLocation: location } = answer
  if (typeof location === 'string') {
    if (method === 'GET') (answer.body as ByteSource).cancel()
    return sendRedirect(visit, { status: 301, location })
  }
  const sent = send(exchange, head, endpointOf(method), status === undefined ? answer : { ...answer, status })
  if (sent !== undefined) await sent
}

const endpointOf = (method: string): Endpoint => known(operations[method])

/** Runs GetObject or HeadObject as an anonymous sender. A website ignores the query. */
async function read({ exchange, head, bucket, request }: Visit, key: string, method: 'GET' | 'HEAD'): Promise<Answer> {
  const { operation, fields } = endpointOf(method)
  const asked: OperationRequest = { ...request, principal: nobody, bucket, key }
  const input = fields(head, [], noVendorValues, exchange)
  exchange.resource = `/${bucket}/${key}`
  try {
    checkAddress({ target: 'object', bucket, key })
    return await run(operation, asked, input)
  } catch (error) {
    return runAfter(error, operation, asked, input)
  }
}

function sendRedirect({ exchange, head }: Visit, { status, location }: PageRedirect): void {
  sendBytes(exchange, head, status, ['Location', sendableValue(location)], undefined)
}

function sendFailure(exchange: Exchange, head: RequestHead, error: unknown, failed: Omit<FailedPage, 'fault'>): void {
  const fault = faultOf(error)
  note(exchange, error, fault)
  if (exchange.response.destroyed) return
  const headers = faultHeaders(fault).map(sendableValue)
  if (fault.status !== 304) {
    const { prefix } = exchange.dialect
    headers.push('Content-Type', 'text/html; charset=utf-8', `${prefix}error-code`, fault.code)
    // Answers to HEAD have no page that could tell it.
    headers.push(`${prefix}error-message`, sendableValue(fault.messageFor(prefix)))
  }
  sendBytes(exchange, head, fault.status, headers, failurePage({ fault, ...failed }, exchange))
}
