/**
 * What a trusted proxy says about the client behind it: `X-Forwarded-*`, or `Forwarded` (RFC 7239). Neither is read from any other peer.
 * Reasons: docs/adr/0040-proxies-and-websites.md
 */
import { isIP } from 'node:net'
import { type AddressRange, isInAddressRanges, readAddressRange } from '../address-range.ts'
import { known } from '../known.ts'
import type { RequestHead } from './request-head.ts'

/** A client that a trusted proxy vouches for. A field is `undefined` when the proxy does not send it, or it can't be read. */
export interface ForwardedClient {
  readonly address: string | undefined
  /** Whether the request reached the proxy over TLS. */
  readonly secure: boolean | undefined
  /** The Host that the client sent to the proxy. */
  readonly host: string | undefined
}

/** `undefined`: the peer is the client. */
export type ForwardedReader = (peer: string | undefined, head: RequestHead) => ForwardedClient | undefined

/** What one proxy recorded about the sender of the request. */
interface Hop {
  readonly client: string | undefined
  readonly proto: string | undefined
  readonly host: string | undefined
}

/** `trusted`: addresses and ranges of proxies, as `readAddressRange` reads them. `undefined`: no proxy is trusted. */
export function compileForwarded(trusted: readonly string[]): ForwardedReader | undefined {
  if (trusted.length === 0) return undefined
  const ranges = trusted.map((text) => known(readAddressRange(text)))
  return (peer, head) => (isTrusted(peer ?? '', ranges) ? clientOf(head, ranges) : undefined)
}

/** An address as clients and policies write it: IPv4 addresses without their IPv6 form, IPv6 addresses without their zone. */
export function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '')
}

const isTrusted = (address: string, ranges: readonly AddressRange[]): boolean =>
  isInAddressRanges(plainAddress(address), ranges)

/** Most proxies set one of the two and pass on the other as the client sent it, so they are never mixed. */
function clientOf(head: RequestHead, ranges: readonly AddressRange[]): ForwardedClient | undefined {
  if (head.names.some((name) => xNames.has(name))) return ofHops(xForwardedHops(head), ranges)
  const value = joined(head, 'forwarded')
  return value === undefined ? undefined : ofHops(forwardedHops(value), ranges)
}

/** `hops`: nearest to this server first. The first one that is not a trusted proxy is the client. */
function ofHops(hops: Iterable<Hop | undefined>, ranges: readonly AddressRange[]): ForwardedClient | undefined {
  let client: ForwardedClient | undefined
  for (const hop of hops) {
    if (hop === undefined) return undefined
    const address = hop.client === undefined ? undefined : nodeAddress(hop.client)
    if (hop.client !== undefined && address === undefined) return undefined
    client = { address, secure: isSecure(hop.proto), host: hostOf(hop.host) }
    if (address === undefined || !isTrusted(address, ranges)) break
  }
  return client
}

const xNames: ReadonlySet<string> = new Set(['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host'])

/** A list shorter than the list of clients was set only by the outermost proxy, so its first value applies to all further hops. */
function* xForwardedHops(head: RequestHead): Generator<Hop> {
  const [clients, protos, hosts] = ['for', 'proto', 'host'].map((name) => listFromRight(head, `x-forwarded-${name}`))
  const hops = Math.max(clients?.length ?? 0, 1)
  for (let i = 0; i < hops; i++) yield { client: clients?.[i], proto: atOrLast(protos, i), host: atOrLast(hosts, i) }
}

const atOrLast = (list: readonly string[] | undefined, i: number): string | undefined => list?.[i] ?? list?.at(-1)

function listFromRight(head: RequestHead, name: string): readonly string[] | undefined {
  return joined(head, name)
    ?.split(',')
    .map((text) => text.trim())
    .reverse()
}

/** A header that was sent several times is one list. */
function joined({ names, rawHeaders }: RequestHead, name: string): string | undefined {
  const values = names.flatMap((sent, i) => (sent === name ? [known(rawHeaders[2 * i + 1])] : []))
  return values.length === 0 ? undefined : values.join(',')
}

const token = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]+"
const parameter = new RegExp(`^[ \\t]*(${token})=(?:(${token})|"([^"\\\\]*)")[ \\t]*$`)

/** `undefined` in place of a hop that can't be read. */
function* forwardedHops(value: string): Generator<Hop | undefined> {
  for (const element of splitFromRight(value, ',')) {
    const parameters = new Map<string, string>()
    for (const text of splitFromRight(element, ';')) {
      const [, name, plain, quoted] = parameter.exec(text) ?? []
      // A parameter that comes twice is ambiguous.
      if (name === undefined || parameters.has(name.toLowerCase())) return yield undefined
      parameters.set(name.toLowerCase(), plain ?? quoted ?? '')
    }
    yield { client: parameters.get('for'), proto: parameters.get('proto'), host: parameters.get('host') }
  }
}

/** Splits from the right, where proxies append, so that a quote the client left open can't swallow what they added. */
function* splitFromRight(text: string, separator: string): Generator<string> {
  let end = text.length
  let isQuoted = false
  for (let i = text.length - 1; i >= 0; i--) {
    if (text[i] === '"') isQuoted = !isQuoted
    else if (text[i] === separator && !isQuoted) {
      yield text.slice(i + 1, end)
      end = i
    }
  }
  yield text.slice(0, end)
}

const withPort = /^(?:\[([^\]]*)\]|(\d+\.\d+\.\d+\.\d+))(?::\d{1,5})?$/

/** Reads an address with or without a port, IPv6 in brackets or not. `undefined`: a name, or unreadable. */
function nodeAddress(text: string): string | undefined {
  const [, bracketed, v4] = withPort.exec(text) ?? []
  const address = plainAddress(bracketed ?? v4 ?? text)
  return isIP(address) === 0 ? undefined : address
}

function isSecure(proto: string | undefined): boolean | undefined {
  const lower = proto?.toLowerCase()
  return lower === 'https' ? true : lower === 'http' ? false : undefined
}

const host = /^(?:\[[0-9a-f:.]{2,45}\]|[a-z0-9._-]{1,255})(?::\d{1,5})?$/i

const hostOf = (text: string | undefined): string | undefined =>
  text !== undefined && host.test(text) ? text : undefined
