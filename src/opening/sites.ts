/** Opens the sites of the configuration. */
import type { Clock } from '../clock.ts'
import type { Sites } from '../jobs/replication/sites.ts'
import type { SiteSettings } from '../replication-site.ts'

/** Loads what talks to other servers only where there are any. */
export async function openSites(settings: readonly SiteSettings[], clock: Clock): Promise<Sites> {
  if (settings.length === 0) return new Map()
  const { sitesOf } = await import('../jobs/replication/sites.ts')
  return sitesOf(settings, clock)
}
