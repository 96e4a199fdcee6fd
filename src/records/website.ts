/** The website configuration of a bucket. */

export type WebProtocol = 'http' | 'https'

/** Where a rule redirects a request. An absent field leaves that part of the request's URL unchanged. */
export interface WebsiteRedirect {
  hostName?: string | undefined
  protocol?: WebProtocol | undefined
  /** Absent: 301. */
  httpRedirectCode?: number | undefined
  replaceKeyWith?: string | undefined
  replaceKeyPrefixWith?: string | undefined
}

/** If it has both conditions, both must hold. Without conditions, it matches all requests. */
export interface RoutingRule {
  keyPrefixEquals?: string | undefined
  /** Matches requests that fail with this status. */
  httpErrorCodeReturnedEquals?: number | undefined
  redirect: WebsiteRedirect
}

/** Holds either an index document or a redirect of all requests. */
export interface WebsiteConfiguration {
  /** Appended to keys that are empty or end with a slash. */
  indexSuffix?: string | undefined
  errorKey?: string | undefined
  /** The first matching rule applies. */
  routingRules?: readonly RoutingRule[] | undefined
  redirectAllRequestsTo?: { hostName: string; protocol?: WebProtocol | undefined } | undefined
}
