/** Opens the sites of the configuration. */
import type { Clock } from '../clock.ts'
import type { Sites } from '../jobs/replication/sites.ts'
import type { SiteSettings } from '../replication-site.ts'

interface Opened {
  clock: Clock
  sites: Promise<Sites>
}

/** By settings: the S3 port, the admin port and the jobs of a process each ask for the sites, and share their connections. */
const opened = new WeakMap<readonly SiteSettings[], Opened>()

/** Loads what talks to other servers only where there are any. Gives the same sites for the same settings and clock. */
export function openSites(settings: readonly SiteSettings[], clock: Clock): Promise<Sites> {
  const before = opened.get(settings)
  if (before?.clock === clock) return before.sites
  const sites = loadSites(settings, clock)
  opened.set(settings, { clock, sites })
  return sites
}

async function loadSites(settings: readonly SiteSettings[], clock: Clock): Promise<Sites> {
  if (settings.length === 0) return new Map()
  const { sitesOf } = await import('../jobs/replication/sites.ts')
  return sitesOf(settings, clock)
}
