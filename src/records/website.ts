/** What a bucket is as a website. */

export type WebProtocol = 'http' | 'https'

/** Where a rule sends a request. What is left out stays as it is in the request. */
export interface WebsiteRedirect {
  hostName?: string | undefined
  protocol?: WebProtocol | undefined
  /** 301 where it is left out. */
  httpRedirectCode?: number | undefined
  replaceKeyWith?: string | undefined
  replaceKeyPrefixWith?: string | undefined
}

/** Both conditions must hold, where both are there. Without any, it is for all requests. */
export interface RoutingRule {
  keyPrefixEquals?: string | undefined
  /** It is for requests that fail with this status. */
  httpErrorCodeReturnedEquals?: number | undefined
  redirect: WebsiteRedirect
}

/** Either its index document, or where all requests go. */
export interface WebsiteConfiguration {
  /** Behind each key that is empty, or ends with a slash. */
  indexSuffix?: string | undefined
  errorKey?: string | undefined
  /** The first that matches counts. */
  routingRules?: readonly RoutingRule[] | undefined
  redirectAllRequestsTo?: { hostName: string; protocol?: WebProtocol | undefined } | undefined
}
