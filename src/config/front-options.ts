/** Options about what is between clients and the server: proxies, host names, and public access. Part of the table in `options.ts`. */
import { addressRanges, domains, endpointUrls, onOrOff } from './kinds.ts'

export interface FrontSettings {
  trustedProxies: string[]
  publicEndpoints: string[]
  websiteDomains: string[]
  blockPublic: boolean
}

export const frontOptions = {
  trustedProxies: {
    flag: 'trusted-proxy',
    environment: ['HOLDFAST_TRUSTED_PROXIES'],
    toml: 'trustedProxies',
    kind: addressRanges,
    initial: [],
    summary:
      'Address, or range of addresses, of proxies in front of this server. Only from them are `X-Forwarded-*` and `Forwarded` believed.',
  },
  publicEndpoints: {
    flag: 'public-endpoint',
    environment: ['HOLDFAST_PUBLIC_ENDPOINTS'],
    toml: 'publicEndpoints',
    kind: endpointUrls,
    initial: [],
    summary:
      'URL under which clients reach this server through a proxy that changes the Host header. Signatures may be made for it, and answers name the first.',
  },
  websiteDomains: {
    flag: 'website-domain',
    environment: ['HOLDFAST_WEBSITE_DOMAINS'],
    toml: 'websiteDomains',
    kind: domains,
    initial: [],
    summary:
      'Domain of websites: `<bucket>.<domain>` is the website of a bucket, and the domain itself that of the bucket with its name. It cannot lie below or above an S3 domain.',
  },
  blockPublic: {
    flag: 'block-public',
    environment: ['HOLDFAST_BLOCK_PUBLIC'],
    toml: 'access.blockPublic',
    kind: onOrOff,
    initial: ['false'],
    summary:
      'Keep all buckets closed to the public, whatever their policies and access control lists say, unless their account says otherwise by a public access block of its own.',
  },
}
