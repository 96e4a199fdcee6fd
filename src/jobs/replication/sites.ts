/** The sites of the configuration: servers elsewhere that take copies. */
import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../../clock.ts'
import type { ReplicationSite } from '../../commits/backend.ts'
import { Endpoint } from '../../endpoint/endpoint.ts'
import { EndpointRefused } from '../../endpoint/failures.ts'
import { childText, readXml } from '../../endpoint/xml.ts'
import { replicationLimits } from '../../replication-limits.ts'
import type { SiteSettings } from '../../replication-site.ts'
import type { ReplicaBucket } from './replica-bucket.ts'
import { SiteBucket } from './site-bucket.ts'

export interface Site extends ReplicationSite {
  bucket(name: string, signal: AbortSignal): ReplicaBucket
}

export type Sites = ReadonlyMap<string, Site>

/** By name. Each keeps its connections until the process ends. */
export function sitesOf(sites: readonly SiteSettings[], clock: Clock): Sites {
  return new Map(sites.map((site) => [site.name, openSite(site, clock)]))
}

function openSite({ endpoint, region, accessKeyId, secretAccessKey, accounts }: SiteSettings, clock: Clock): Site {
  const url = new URL(endpoint)
  const agentOptions = { keepAlive: true, maxSockets: replicationLimits.connectionsMax }
  const agent = url.protocol === 'https:' ? new HttpsAgent(agentOptions) : new HttpAgent(agentOptions)
  const server = new Endpoint({ url, region, key: { accessKeyId, secretAccessKey }, agent, clock })
  return {
    mayUse: (accountId) => accounts.includes('*') || accounts.includes(accountId),
    fault: (bucket) => withTimeout(faultOf(server, bucket), `${server.name} does not answer`),
    bucket: (name, signal) => new SiteBucket(server, name, signal),
  }
}

/** A silent site must not hold up the request that sets a rule. */
async function withTimeout(answer: Promise<string | undefined>, otherwise: string): Promise<string | undefined> {
  const waiting = new AbortController()
  try {
    return await Promise.race([answer, delay(replicationLimits.checkMs, otherwise, { signal: waiting.signal })])
  } finally {
    waiting.abort()
  }
}

async function faultOf(server: Endpoint, bucket: string): Promise<string | undefined> {
  try {
    const { body } = await server.ask({ method: 'GET', bucket, query: { versioning: '' } })
    const status = childText(readXml(Buffer.concat(await body.toArray()).toString('utf8')), 'Status')
    return status === 'Enabled' ? undefined : 'Destination bucket must have versioning enabled.'
  } catch (error) {
    if (error instanceof EndpointRefused && error.status === 404) return 'Destination bucket must exist.'
    return error instanceof Error ? error.message : String(error)
  }
}
