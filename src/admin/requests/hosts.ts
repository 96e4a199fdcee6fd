/**
 * The names under which browsers may reach the admin port. A page of a hostile site can make its own name point to this server (DNS rebinding), and would then count as
 * a page of this origin. Pure.
 */
import { isIP } from 'node:net'
import { S3Error } from '../../errors.ts'
import { LogInRefused } from '../../logins/log-in-refused.ts'

export interface AdminHosts {
  /** Whether the port speaks TLS. */
  readonly secure: boolean
  /** The origin that a Host header stands for. Throws `LogInRefused` for names that the server does not know. */
  originOf(host: string): string
  /** The origin of a signed request, whose Host can be any. Throws BadRequest for one that no URL has. */
  originOfSigned(host: string): string
  /** Whether pages of this origin are the server's own. */
  isOwn(origin: string, host: string): boolean
}

export interface AdminNames {
  /** Origins that the configuration names. */
  endpoints: readonly string[]
  /** Names of this machine, without port. */
  names: readonly string[]
  /** Whether the port speaks TLS. */
  secure: boolean
}

const hostPattern = /^(?:\[(?<ipv6>[0-9a-f:.]+)\]|(?<name>[a-z0-9._-]+))(?::\d{1,5})?$/

export function compileAdminHosts({ endpoints, names, secure }: AdminNames): AdminHosts {
  const configured = new Map(endpoints.map((endpoint) => [new URL(endpoint).host, endpoint]))
  const known = new Set(['localhost', ...names.map((name) => name.toLowerCase())])
  const scheme = secure ? 'https' : 'http'
  const originOf = (given: string): string => {
    const host = given.toLowerCase()
    const endpoint = configured.get(host)
    if (endpoint !== undefined) return endpoint
    const { ipv6, name = '' } = hostPattern.exec(host)?.groups ?? {}
    // No name server can make an address lead elsewhere.
    const isKnown = ipv6 !== undefined ? isIP(ipv6) === 6 : isIP(name) === 4 || known.has(name)
    // A port can have five digits and be none.
    if (isKnown && URL.canParse(`${scheme}://${host}`)) return `${scheme}://${host}`
    throw new LogInRefused(
      'UnknownHost',
      'The admin port is not known under this name. If browsers should use it, name it in adminPublicEndpoints.',
    )
  }
  const originOfSigned = (host: string): string => {
    const origin = `http://${host}`
    if (URL.canParse(origin)) return origin
    throw new S3Error('BadRequest', { message: 'The Host header names no host.' })
  }
  return { secure, originOf, originOfSigned, isOwn: (origin, host) => origin.toLowerCase() === originOf(host) }
}
