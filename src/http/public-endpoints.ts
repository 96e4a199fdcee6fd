/**
 * The URLs under which clients know this server when a proxy in front changes the Host: which Hosts a signature may cover, and which URLs answers name.
 * Reasons: docs/adr/0040-proxies-and-websites.md
 */
import type { BucketOfHost } from './address.ts'
import { headerValue, type RequestHead } from './request-head.ts'

interface PublicEndpoint {
  /** `https://s3.example.com`, without a slash at its end. */
  readonly origin: string
  /** With the port, unless it is the scheme's default. */
  readonly host: string
}

export class PublicEndpoints {
  readonly #endpoints: readonly PublicEndpoint[]
  readonly #bucketOfHost: BucketOfHost

  constructor(urls: readonly string[], bucketOfHost: BucketOfHost) {
    this.#endpoints = urls.map((url) => new URL(url)).map(({ origin, host }) => ({ origin, host }))
    this.#bucketOfHost = bucketOfHost
  }

  /**
   * The Hosts that a signature may cover. All name the same bucket as the request's Host, or none if that names none, so the request means the same
   * whichever one was signed. `isForwarded`: the Host came from a proxy's header. `undefined`: only the Host header as received.
   */
  signedHosts(head: RequestHead, isForwarded: boolean): readonly string[] | undefined {
    if (this.#endpoints.length === 0 && !isForwarded) return undefined
    const received = headerValue(head, 'host') ?? ''
    const bucket = this.#bucketOfHost(head.host)
    const names = this.#endpoints.map(({ host }) => (bucket === undefined ? host : `${bucket}.${host}`))
    const others = [received, ...names].filter((name) => this.#bucketOfHost(name) === bucket)
    return [...new Set([head.host, ...others])]
  }

  /** The URL that the client asked for, without its query. `scheme`: the one that the client used. */
  urlOf({ host, rawPath }: RequestHead, scheme: 'http' | 'https'): string {
    const [first] = this.#endpoints
    if (first === undefined) return `${scheme}://${host}${rawPath}`
    const bucket = this.#bucketOfHost(host)
    const { origin } = this.#endpoints.find((endpoint) => endpoint.host === hostBehind(host, bucket)) ?? first
    if (bucket === undefined) return origin + rawPath
    const inHost = `${bucket}.${new URL(origin).host}`
    if (this.#bucketOfHost(inHost) !== bucket) return `${origin}/${bucket}${rawPath}`
    return origin.replace('://', `://${bucket}.`) + rawPath
  }
}

const hostBehind = (host: string, bucket: string | undefined): string =>
  (bucket === undefined ? host : host.slice(bucket.length + 1)).toLowerCase()
