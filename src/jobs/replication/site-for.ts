/** Decides whether a site of the configuration takes copies of an account's buckets. Pure. */
import type { ReplicationSite } from '../../commits/backend.ts'

/** The site, or why there is none. */
export function siteFor<S extends ReplicationSite>(
  sites: ReadonlyMap<string, S>,
  name: string,
  owner: string,
): S | string {
  const site = sites.get(name)
  if (site === undefined) return `the configuration has no site ${name}`
  return site.mayUse(owner) ? site : `the site ${name} is not open to the account ${owner}`
}
