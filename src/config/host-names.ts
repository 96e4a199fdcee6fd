/** Checks that the server's host names don't conflict: each Host must mean only one thing. */
import { isIP } from 'node:net'
import { ConfigurationError } from './configuration-error.ts'

interface HostNames {
  domains: readonly string[]
  websiteDomains: readonly string[]
  publicEndpoints: readonly string[]
}

/** Throws `ConfigurationError`, which names both of the conflicting names. */
export function checkHostNames({ domains, websiteDomains, publicEndpoints }: HostNames): void {
  const s3 = ['localhost', ...domains.map((domain) => domain.toLowerCase())]
  const sites = websiteDomains.map((domain) => domain.toLowerCase())
  for (const site of sites) {
    if (isIP(site) !== 0) throw new ConfigurationError(`website domain ${site}: expects a name, not an address`)
    const other = s3.find((domain) => isWithin(site, domain) || isWithin(domain, site))
    if (other !== undefined) {
      throw new ConfigurationError(
        `website domain ${site}: it must not be the S3 domain ${other}, nor lie below or above it, because their hosts could not be told apart`,
      )
    }
  }
  for (const url of publicEndpoints) {
    const { hostname } = new URL(url)
    const site = sites.find((domain) => isWithin(hostname, domain))
    if (site !== undefined) {
      throw new ConfigurationError(`public endpoint ${url}: its host belongs to the website domain ${site}`)
    }
    const above = s3.find((domain) => isWithin(hostname, domain))
    if (above !== undefined && !s3.includes(hostname)) {
      throw new ConfigurationError(
        `public endpoint ${url}: below the domain ${above}, its host means a bucket; make ${hostname} a domain, too`,
      )
    }
  }
}

const isWithin = (name: string, domain: string): boolean => name === domain || name.endsWith(`.${domain}`)
