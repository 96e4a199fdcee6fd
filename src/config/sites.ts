/** Validates the configuration's sites: servers elsewhere to which buckets can be replicated. */
import { lazySchema } from '../lazy-schema.ts'
import type { SiteSettings } from '../replication-site.ts'
import { rootAccount } from './accounts.ts'
import { ConfigurationError } from './configuration-error.ts'
import { endpointUrls } from './kinds.ts'
import { parseWith } from './parse-with.ts'
import { refuseRepeated } from './refuse-repeated.ts'

const keys = ['endpoint', 'region', 'accessKeyId', 'secretAccessKey', 'accounts']

const schemas = lazySchema((z) => {
  const name = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, _ or -')
  const keyText = z.string().regex(/^[\x21-\x7e]{1,1024}$/, 'must be printable characters of ASCII without spaces')
  const site = z.strictObject({
    endpoint: z.string().refine(isOrigin, 'expects http://HOST or https://HOST, without a path or credentials in it'),
    region: z.string().min(1).optional(),
    accessKeyId: keyText,
    secretAccessKey: keyText,
    accounts: z.array(z.string().min(1)).min(1, 'must name accounts, or "*" for all').optional(),
  })
  return { sites: z.record(name, site) }
})

/** `value`: tables by name. Throws `ConfigurationError`. */
export function parseSites(value: unknown, where = 'sites'): SiteSettings[] {
  if (value === undefined) return []
  const tables = parseWith(schemas().sites, value, where, keys)
  const sites = Object.entries(tables).map(
    ([name, { region = 'us-east-1', accounts = [rootAccount.id], ...site }]) => ({
      ...site,
      name: name.toLowerCase(),
      region,
      accounts,
    }),
  )
  // ARNs do not distinguish them.
  refuseRepeated(
    where,
    'the name',
    sites.map(({ name }) => name),
  )
  return sites
}

function isOrigin(text: string): boolean {
  try {
    endpointUrls.parse([text], '')
    return true
  } catch (error) {
    if (error instanceof ConfigurationError) return false
    throw error
  }
}
