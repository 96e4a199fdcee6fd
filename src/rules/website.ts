/**
 * A bucket as a website, as in S3: which configurations can be set, which object a path means, and where rules redirect a request
 * (docs/adr/0040-proxies-and-websites.md). Pure.
 */
import { invalidArgument, S3Error } from '../errors.ts'
import { limits } from '../limits.ts'
import type { RoutingRule, WebProtocol, WebsiteConfiguration, WebsiteRedirect } from '../records/website.ts'
import { invalidRequest } from './rule-filter.ts'

/** Throws InvalidArgument, InvalidRequest and MalformedXML, with S3's texts. */
export function checkWebsite(website: WebsiteConfiguration): WebsiteConfiguration {
  const { redirectAllRequestsTo: all, indexSuffix, errorKey, routingRules } = website
  if (all !== undefined) {
    if (indexSuffix !== undefined || errorKey !== undefined || routingRules !== undefined) {
      const message = 'RedirectAllRequestsTo cannot be provided in conjunction with other Routing Rules.'
      throw invalidArgument('RedirectAllRequestsTo', 'not null', message)
    }
    checkHostName(all.hostName)
    return website
  }
  if (indexSuffix === undefined) {
    const message = 'A value for IndexDocument Suffix must be provided if RedirectAllRequestsTo is empty'
    throw invalidArgument('IndexDocument', 'null', message)
  }
  if (indexSuffix.includes('/') || !isKey(indexSuffix)) {
    throw invalidArgument('IndexDocument', indexSuffix, 'The IndexDocument Suffix is not well formed')
  }
  if (errorKey !== undefined && !isKey(errorKey)) {
    throw invalidArgument('ErrorDocument', errorKey, 'The ErrorDocument Key is not well formed')
  }
  if (routingRules !== undefined) checkRoutingRules(routingRules)
  return website
}

const isKey = (text: string): boolean => text !== '' && Buffer.byteLength(text) <= limits.keyBytesMax

function checkRoutingRules(rules: readonly RoutingRule[]): void {
  if (rules.length === 0) throw new S3Error('MalformedXML')
  if (rules.length > limits.routingRulesMax) {
    throw invalidRequest(
      `${rules.length} routing rules provided, the number of routing rules in a website configuration is limited to ${limits.routingRulesMax}.`,
    )
  }
  for (const rule of rules) {
    checkErrorCode(rule.httpErrorCodeReturnedEquals)
    checkRedirect(rule.redirect)
  }
}

function checkErrorCode(code: number | undefined): void {
  if (code === undefined || (code >= 400 && code <= 599)) return
  throw invalidRequest(`The provided HTTP error code (${code}) is not valid. Valid codes are 4XX or 5XX.`)
}

function checkRedirect(redirect: WebsiteRedirect): void {
  const { hostName, httpRedirectCode: code, replaceKeyWith, replaceKeyPrefixWith } = redirect
  // Such a redirect would lead back to the same URL.
  if (Object.values(redirect).every((value) => value === undefined)) throw new S3Error('MalformedXML')
  if (hostName !== undefined) checkHostName(hostName)
  if (code !== undefined && (code < 301 || code > 399)) {
    throw invalidRequest(`The provided HTTP redirect code (${code}) is not valid. Valid codes are 3XX except 300.`)
  }
  if (replaceKeyWith !== undefined && replaceKeyPrefixWith !== undefined) {
    throw invalidRequest('You can only define ReplaceKeyPrefix or ReplaceKey but not both.')
  }
}

/** The value goes into the Location header before the path. It can contain a path itself, which S3 also accepts. */
function checkHostName(hostName: string): void {
  if (/^[!$&'()*+,./0-9:;=A-Z[\]_a-z~%-]{1,1024}$/.test(hostName)) return
  throw invalidArgument('HostName', hostName, 'The HostName is not well formed')
}

/** A request for a page, as a browser sends it. */
export interface PageRequest {
  protocol: WebProtocol
  /** With its port. */
  host: string
  /** As sent, percent-encoded, with the slash before it. */
  rawPath: string
  /** As sent, without the question mark. */
  rawQuery: string
  /** The path, decoded, without the slash before it. */
  key: string
}

export interface PageRedirect {
  status: number
  location: string
}

/** The key of the object that a path means: the index document's, if the path ends like a directory's. */
export function keyOfPage(key: string, { indexSuffix = '' }: WebsiteConfiguration): string {
  return key === '' || key.endsWith('/') ? key + indexSuffix : key
}

/**
 * For a key that may name a directory: the key of its index document, and the redirect if that exists. `undefined` when the key already ends like a directory's,
 * because `keyOfPage` then gave the index document.
 */
export function directoryOf(
  key: string,
  { indexSuffix = '' }: WebsiteConfiguration,
): { indexKey: string; redirect: PageRedirect } | undefined {
  if (key === '' || key.endsWith('/')) return undefined
  // A browser takes the text after two leading slashes for a host.
  const path = encodedKey(key).replace(/^\/+/, (slashes) => '%2F'.repeat(slashes.length))
  return { indexKey: `${key}/${indexSuffix}`, redirect: { status: 302, location: `/${path}/` } }
}

/** Where the website redirects a request: before its object is looked up (no `failure`), or when it has failed with that status. */
export function redirectOf(
  website: WebsiteConfiguration,
  page: PageRequest,
  failure?: number,
): PageRedirect | undefined {
  const { redirectAllRequestsTo: all, routingRules = [] } = website
  if (all !== undefined) {
    return { status: 301, location: locationOf(all.protocol ?? page.protocol, all.hostName, page.rawPath, page) }
  }
  const rule = routingRules.find(
    ({ keyPrefixEquals = '', httpErrorCodeReturnedEquals }) =>
      httpErrorCodeReturnedEquals === failure && page.key.startsWith(keyPrefixEquals),
  )
  return rule && redirectOfRule(rule, page)
}

function redirectOfRule({ redirect, keyPrefixEquals = '' }: RoutingRule, page: PageRequest): PageRedirect {
  const { hostName, protocol, httpRedirectCode, replaceKeyWith, replaceKeyPrefixWith } = redirect
  let path = page.rawPath
  if (replaceKeyWith !== undefined) path = `/${asWritten(replaceKeyWith)}`
  else if (replaceKeyPrefixWith !== undefined) {
    path = `/${asWritten(replaceKeyPrefixWith)}${encodedKey(page.key.slice(keyPrefixEquals.length))}`
  }
  return {
    status: httpRedirectCode ?? 301,
    location: locationOf(protocol ?? page.protocol, hostName ?? page.host, path, page),
  }
}

function locationOf(protocol: WebProtocol, host: string, path: string, { rawQuery }: PageRequest): string {
  const query = rawQuery === '' ? '' : `${path.includes('?') ? '&' : '?'}${rawQuery}`
  return `${protocol}://${host}${path}${query}`
}

const encodedKey = (key: string): string => key.split('/').map(encodeURIComponent).join('/')

/** The owner's text, percent-encoded except for characters like `#` and `?` that belong in a URL. Nothing in the result can end a header. */
const asWritten = (text: string): string =>
  text.replace(/[^\x21-\x7e]+|["<>\\^`{|}]/gu, (unsafe) => encodeURIComponent(unsafe))
