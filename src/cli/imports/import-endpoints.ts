/** The two ends of an import: their addresses and keys. */
import { readFileSync } from 'node:fs'
import { type Agent, Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import type { SigningKey } from '../../auth/sign-request.ts'
import { systemClock } from '../../clock.ts'
import { ConfigurationError } from '../../config/configuration-error.ts'
import { awsCredentialPair } from '../../config/options.ts'
import type { EndpointSettings } from '../../endpoint/endpoint.ts'
import { urlOf } from '../../opening/listen-address.ts'
import { keyOf } from '../admin/admin-target.ts'
import type { Invocation } from '../command.ts'
import { originUrl } from '../flag-values.ts'
import { PinnedAgent } from '../pinned-agent.ts'

/** Throws `ConfigurationError`. */
export function sourceOf({ environment, extra }: Invocation, url: string, connections: number): EndpointSettings {
  const parsed = originUrl('the server to import from', url)
  return {
    url: parsed,
    region: typeof extra.fromRegion === 'string' ? extra.fromRegion : 'us-east-1',
    key: extra.unsigned === true ? undefined : sourceKey(environment),
    agent: agentFor(parsed, connections),
    clock: systemClock,
  }
}

/** The server of this configuration, or the named one. Throws `ConfigurationError`. */
export async function targetOf({ configuration, extra }: Invocation, connections: number): Promise<EndpointSettings> {
  const { key } = await keyOf(configuration)
  const { region, listen, tls } = configuration
  const common = { region, key, clock: systemClock }
  if (typeof extra.endpoint === 'string') {
    const url = originUrl('--endpoint', extra.endpoint)
    return { ...common, url, agent: agentFor(url, connections) }
  }
  const url = new URL(urlOf(listen.host, listen.port, { secure: tls !== undefined }))
  if (tls === undefined) return { ...common, url, agent: agentFor(url, connections) }
  const pinned = new PinnedAgent(readFileSync(tls.cert, 'utf8'), { keepAlive: true, maxSockets: connections })
  return { ...common, url, agent: pinned }
}

function agentFor({ protocol }: URL, maxSockets: number): Agent {
  const options = { keepAlive: true, maxSockets }
  return protocol === 'https:' ? new HttpsAgent(options) : new HttpAgent(options)
}

const importPair = ['HOLDFAST_IMPORT_ACCESS_KEY_ID', 'HOLDFAST_IMPORT_SECRET_ACCESS_KEY'] as const

function sourceKey(environment: NodeJS.ProcessEnv): SigningKey {
  for (const [idName, secretName] of [importPair, awsCredentialPair]) {
    const accessKeyId = environment[idName]
    const secretAccessKey = environment[secretName]
    if (!accessKeyId || !secretAccessKey) continue
    const token = environment[idName === importPair[0] ? 'HOLDFAST_IMPORT_SESSION_TOKEN' : 'AWS_SESSION_TOKEN']
    return { accessKeyId, secretAccessKey, sessionToken: token || undefined }
  }
  throw new ConfigurationError(
    `no key for the server to import from: set ${importPair.join(' and ')}, or ${awsCredentialPair.join(' and ')}; for a public bucket, say --unsigned`,
  )
}
