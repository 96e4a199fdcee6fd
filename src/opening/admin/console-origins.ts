/** The origins of the console's pages. The S3 port answers them as it answers pages of its own origin. */
import { hostname, networkInterfaces } from 'node:os'
import type { Configuration } from '../../config/configuration.ts'

/** `adminUrl`: the URL of the open admin port. Absent: there is no admin port, and so no console. */
export function consoleOriginsOf(
  { adminListen, adminPublicEndpoints, tls }: Pick<Configuration, 'adminListen' | 'adminPublicEndpoints' | 'tls'>,
  adminUrl: string | undefined,
): string[] {
  if (adminListen === undefined || adminUrl === undefined) return []
  const { port } = new URL(adminUrl)
  const { host } = adminListen
  const isWildcard = ['', '0.0.0.0', '::'].includes(host)
  const names = isWildcard ? ['localhost', hostname(), ...addresses()] : namesOf(host)
  const scheme = tls === undefined ? 'http' : 'https'
  // Browsers leave out the default port of the scheme.
  const origins = names.map((name) => new URL(`${scheme}://${name.includes(':') ? `[${name}]` : name}:${port}`).origin)
  return [...new Set([...adminPublicEndpoints, ...origins])]
}

const namesOf = (host: string): string[] =>
  /^(?:127\.\d+\.\d+\.\d+|::1|localhost)$/.test(host) ? [host, 'localhost'] : [host]

/** The addresses of this machine, without zones. */
function addresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((found = []) =>
    found.map(({ address }) => address.split('%')[0] ?? ''),
  )
}
