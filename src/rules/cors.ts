/** CORS rules of a bucket, as in S3: which rules can be set, which one admits a request, and which headers the answer gets (docs/adr/0033). Pure. */
import { S3Error } from '../errors.ts'
import { limits } from '../limits.ts'
import type { CorsRule } from '../records/bucket-record.ts'
import { invalidRequest } from './rule-filter.ts'

/** A request that a browser sends for a page of another origin, or asks about in a preflight. */
export interface CrossOriginRequest {
  /** `Origin`, as it was sent. */
  origin: string
  /** `Access-Control-Request-Method` where it was sent, with a preflight or not; the request's own method otherwise. */
  method: string
  /** `Access-Control-Request-Headers`; empty when it was not sent. */
  headers: string
}

export const corsMethods: readonly string[] = ['GET', 'PUT', 'HEAD', 'POST', 'DELETE']

const headerName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

/** S3 takes a negative age too. Browsers then keep the answer as long as one that names no age. */
const isInt32 = (seconds: number): boolean => seconds >= -(2 ** 31) && seconds < 2 ** 31

/** Throws MalformedXML and InvalidRequest, with S3's texts. */
export function checkCorsRules(rules: readonly CorsRule[]): readonly CorsRule[] {
  if (rules.length === 0) throw new S3Error('MalformedXML')
  if (rules.length > limits.corsRulesMax) {
    throw invalidRequest(`The number of CORS rules should not exceed allowed limit of ${limits.corsRulesMax} rules.`)
  }
  // An element that any rule lacks is reported before a wrong value in another.
  for (const { allowedOrigins, allowedMethods, maxAgeSeconds = 0 } of rules) {
    const complete = allowedOrigins.length > 0 && allowedMethods.length > 0
    if (!complete || !isInt32(maxAgeSeconds)) throw new S3Error('MalformedXML')
  }
  for (const rule of rules) checkValues(rule)
  checkIds(rules.flatMap(({ id }) => id ?? []))
  return rules
}

function checkValues({ allowedOrigins, allowedMethods, allowedHeaders, exposeHeaders }: CorsRule): void {
  for (const method of allowedMethods) {
    if (corsMethods.includes(method)) continue
    throw invalidRequest(`Found unsupported HTTP method in CORS config. Unsupported method is ${method}`)
  }
  for (const origin of allowedOrigins) checkWildcards('AllowedOrigin', origin)
  for (const header of allowedHeaders) {
    checkWildcards('AllowedHeader', header)
    checkHeaderName('AllowedHeader', header)
  }
  for (const header of exposeHeaders) {
    if (header.includes('*')) {
      throw invalidRequest(
        `ExposeHeader "${header}" contains wildcard. We currently do not support wildcard for ExposeHeader.`,
      )
    }
    checkHeaderName('ExposeHeader', header)
  }
}

function checkWildcards(element: string, value: string): void {
  if (value.indexOf('*') === value.lastIndexOf('*')) return
  throw invalidRequest(`${element} "${value}" can not have more than one wildcard.`)
}

/** Answers repeat these names in a header, so they must be valid header names. */
function checkHeaderName(element: string, name: string): void {
  if (!headerName.test(name)) throw invalidRequest(`${element} "${name}" contains invalid character.`)
}

function checkIds(ids: readonly string[]): void {
  for (const [i, id] of ids.entries()) {
    if (id.length > limits.corsRuleIdCharsMax) {
      throw invalidRequest(`ID length should not exceed allowed limit of ${limits.corsRuleIdCharsMax}`)
    }
    if (ids.indexOf(id) !== i) throw invalidRequest('Rule ID must be unique. Found same ID for more than one rule')
  }
}

/**
 * The headers that let a page of that origin read the answer, from the first rule that matches. Names and values alternate.
 * `undefined` when no rule matches: the answer then gets no CORS headers.
 */
export function corsHeaders(rules: readonly CorsRule[], request: CrossOriginRequest): string[] | undefined {
  const asked = askedHeaders(request.headers)
  if (asked === undefined) return undefined
  for (const rule of rules) {
    const origin = rule.allowedOrigins.find((pattern) => matches(pattern, request.origin))
    if (origin === undefined || !rule.allowedMethods.includes(request.method)) continue
    const patterns = rule.allowedHeaders.map((pattern) => pattern.toLowerCase())
    if (!asked.every((name) => patterns.some((pattern) => matches(pattern, name)))) continue
    return headersOf(rule, origin === '*' ? '*' : request.origin, asked)
  }
  return undefined
}

/** The names in lower case, as answers repeat them. `undefined` for more names than any page sends, and for invalid names. */
function askedHeaders(headers: string): string[] | undefined {
  const names = headers
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  // A bound, because each name is compared with each pattern of each rule, and preflights are not signed.
  if (names.length > limits.corsRequestHeadersMax) return undefined
  return names.every((name) => headerName.test(name)) ? names : undefined
}

/** A `*` in a pattern stands for any characters, or none. */
function matches(pattern: string, value: string): boolean {
  const star = pattern.indexOf('*')
  if (star === -1) return pattern === value
  return (
    value.length >= pattern.length - 1 &&
    value.startsWith(pattern.slice(0, star)) &&
    value.endsWith(pattern.slice(star + 1))
  )
}

function headersOf(
  { allowedMethods, exposeHeaders, maxAgeSeconds }: CorsRule,
  origin: string,
  asked: readonly string[],
): string[] {
  const headers = ['Access-Control-Allow-Origin', origin, 'Access-Control-Allow-Methods', allowedMethods.join(', ')]
  if (asked.length > 0) headers.push('Access-Control-Allow-Headers', asked.join(', '))
  if (exposeHeaders.length > 0) headers.push('Access-Control-Expose-Headers', exposeHeaders.join(', '))
  if (maxAgeSeconds !== undefined) headers.push('Access-Control-Max-Age', String(maxAgeSeconds))
  if (origin !== '*') headers.push('Access-Control-Allow-Credentials', 'true')
  headers.push('Vary', 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method')
  return headers
}
