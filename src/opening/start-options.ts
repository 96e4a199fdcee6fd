/** Checks the options of `startServer`. Messages name the option and its value, because there is no command line that shows them. */
import { ConfigurationError } from '../config/configuration-error.ts'
import { checkHostNames } from '../config/host-names.ts'
import { addressRanges, domains, endpointUrls, type Kind, keyNames, origins, region } from '../config/kinds.ts'
import { didYouMean } from '../config/suggestion.ts'
import { checkBucketName } from '../operations/bucket-name.ts'

interface CheckedOptions {
  buckets?: readonly string[] | undefined
  domains?: readonly string[] | undefined
  region?: string | undefined
  corsAllowOrigin?: readonly string[] | undefined
  trustedProxies?: readonly string[] | undefined
  publicEndpoints?: readonly string[] | undefined
  websiteDomains?: readonly string[] | undefined
  kmsKeys?: readonly string[] | undefined
  port?: number | undefined
  data?: string | undefined
  tls?: { cert: string; key: string } | undefined
}

/** `known`: the names of all options. Throws `ConfigurationError`. */
export function checkStartOptions(options: CheckedOptions, known: readonly string[]): void {
  const unknown = Object.keys(options).find((name) => !known.includes(name))
  if (unknown !== undefined) {
    throw new ConfigurationError(`${unknown}: there is no such option${didYouMean(unknown, known)}`)
  }
  for (const [i, name] of listed('buckets', options.buckets).entries()) checkBucket(`buckets[${i}]`, name)
  checkTexts('domains', listed('domains', options.domains), domains)
  checkTexts('corsAllowOrigin', listed('corsAllowOrigin', options.corsAllowOrigin), origins)
  checkTexts('trustedProxies', listed('trustedProxies', options.trustedProxies), addressRanges)
  checkTexts('publicEndpoints', listed('publicEndpoints', options.publicEndpoints), endpointUrls)
  checkTexts('websiteDomains', listed('websiteDomains', options.websiteDomains), domains)
  const { domains: s3 = [], websiteDomains = [], publicEndpoints = [] } = options
  checkHostNames({ domains: s3, websiteDomains, publicEndpoints })
  checkTexts('kmsKeys', listed('kmsKeys', options.kmsKeys), keyNames)
  if (options.region !== undefined) checkTexts('region', [text('region', options.region)], region)
  if (options.data !== undefined) text('data', options.data)
  if (options.tls !== undefined) {
    text('tls.cert', options.tls.cert)
    text('tls.key', options.tls.key)
  }
  const { port = 0 } = options
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new ConfigurationError(`port: expects a whole number from 0 to 65535, not ${shown(port)}`)
  }
}

function listed(name: string, value: readonly string[] = []): readonly string[] {
  if (Array.isArray(value) && value.every((text) => typeof text === 'string')) return value
  throw new ConfigurationError(`${name}: expects a list of texts, not ${shown(value)}`)
}

/** Plain JavaScript can give anything. */
function text(name: string, value: string): string {
  if (typeof value === 'string') return value
  throw new ConfigurationError(`${name}: expects a text, not ${shown(value)}`)
}

function checkTexts(name: string, texts: readonly string[], kind: Kind<unknown>): void {
  try {
    kind.parse(texts, '')
  } catch (error) {
    throw error instanceof ConfigurationError ? new ConfigurationError(`${name}: ${error.message}`) : error
  }
}

function checkBucket(source: string, name: string): void {
  try {
    checkBucketName(name)
  } catch {
    throw new ConfigurationError(
      `${source}: ${shown(name)} can't be the name of a bucket: 3 to 63 small letters, digits, hyphens and dots, as S3 allows them`,
    )
  }
}

const shown = (value: unknown): string => JSON.stringify(value) ?? String(value)
