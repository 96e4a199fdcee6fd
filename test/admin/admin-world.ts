/** An admin port over identities in memory, and what asks it: signed by a signer that is not the server's. */
import { request as httpRequest } from 'node:http'
import { Writable } from 'node:stream'
import { pino } from 'pino'
import { type AuditEntry, type AuditTarget, auditLogOver } from '../../src/audit/audit-log.ts'
import type { Account } from '../../src/auth/credentials.ts'
import type { Backend } from '../../src/commits/backend.ts'
import { initialSettings } from '../../src/config/configuration.ts'
import { ownPlacement } from '../../src/config/locations.ts'
import { LocalRequests } from '../../src/http/telemetry/request-feed.ts'
import { Traffic } from '../../src/http/telemetry/traffic.ts'
import type { ServedIdentities } from '../../src/identities/identities.ts'
import { openIdentities } from '../../src/identities/open-identities.ts'
import { onlyThisProcess } from '../../src/opening/admin/s3-processes.ts'
import { openAdminEndpoint } from '../../src/opening/admin-endpoint.ts'
import { openServedMemory } from '../../src/opening/open-served-data.ts'
import type { OidcProvider } from '../../src/sts/oidc/provider-settings.ts'
import { presign, type RequestToSign, type SigningKey, type SignOptions, sign } from '../support/signer.ts'

export const rootKey = { accessKeyId: 'root-key', secretAccessKey: 'canary-secret-of-root' }
/** Of the main account, narrowed by the configuration. */
export const narrowedKey = { accessKeyId: 'narrowed-key', secretAccessKey: 'canary-secret-narrowed' }

const accounts: readonly Account[] = [
  { id: 'main', name: 'Main', keys: [rootKey, { ...narrowedKey, permissions: ['s3:*'] }] },
]

/** What is to be asked: signed by a key, by nobody, by a URL, or wrongly. */
export interface Asked extends Partial<RequestToSign> {
  method: string
  path: string
  by?: SigningKey | 'nobody'
  how?: 'presigned' | Partial<SignOptions>
  /** Headers of a request that nobody signs. */
  plain?: Record<string, string>
  /** The path with its query, as an unsigned request sends it. */
  target?: string
  /** Sent as JSON. */
  input?: unknown
}

export interface Reply {
  status: number
  headers: NodeJS.Dict<string | string[]>
  text: string
  /** `{}` where the answer has no body. */
  json: Record<string, unknown>
}

interface WorldOptions {
  oidc?: readonly OidcProvider[]
  trustedProxies?: readonly string[]
  /** Absent: any. */
  port?: number
}

export interface AdminWorld {
  port: number
  backend: Backend
  identities: ServedIdentities
  /** All that was logged so far. */
  log(): string
  /** Time passes for keys that expire, and for no signature. */
  advance(ms: number): void
  /** What the audit log holds. */
  audited: AuditEntry[]
  breakAudit(isBroken: boolean): void
  /** Counts of requests to the S3 port, as its own. */
  traffic: Traffic
  /** The requests that the S3 port would have served. */
  requests: LocalRequests
  ask(asked: Asked): Promise<Reply>
  /** The same for answers that are not JSON. */
  raw(asked: Asked): Promise<Omit<Reply, 'json'>>
  close(): Promise<void>
}

export async function openAdminWorld({
  oidc = [],
  trustedProxies = [],
  port: wanted = 0,
}: WorldOptions = {}): Promise<AdminWorld> {
  let logged = ''
  const sink = new Writable({
    write: (chunk, _, done) => {
      logged += String(chunk)
      done()
    },
  })
  const log = pino({ level: 'debug' }, sink)
  const { backend: opened, close: closeStore } = await openServedMemory([], initialSettings('/'), log)
  let aheadMs = 0
  const backend = { ...opened, clock: { ...opened.clock, now: () => opened.clock.now() + aheadMs } }
  const identities = await openIdentities({ backend, accounts, warn: (message) => log.warn(message) })
  const traffic = new Traffic()
  const entries: AuditEntry[] = []
  let isAuditBroken = false
  const audited: AuditTarget = {
    ready: async () => {
      if (isAuditBroken) throw new Error('no room left')
    },
    write: async (line) => void entries.push(JSON.parse(line)),
    close: async () => {},
  }
  const requests = new LocalRequests(() => backend.clock.now())
  const endpoint = await openAdminEndpoint({
    listen: { host: '127.0.0.1', port: wanted },
    backend,
    identities,
    blockPublic: false,
    oidc,
    region: 'us-east-1',
    keyPair: undefined,
    audit: auditLogOver([audited], () => {}),
    adminMetricsToken: 'a-token-of-the-tests',
    adminPublicEndpoints: ['https://console.example'],
    publicEndpoints: [],
    trustedProxies,
    placement: ownPlacement,
    sites: [],
    dataPath: undefined,
    member: undefined,
    settings: () => [],
    processes: onlyThisProcess(requests, traffic),
    metadataAnswers: () => true,
    serving: () => ({ version: '1.2.3', workers: 2, startedMs: 0, endpoint: 'http://s3.example' }),
    log,
  })
  const port = Number(new URL(endpoint.url).port)
  return {
    port,
    backend,
    identities,
    log: () => logged,
    requests,
    traffic,
    advance: (ms) => {
      aheadMs += ms
    },
    ask: async (asked) => withJson(await ask(port, asked)),
    raw: (asked) => ask(port, asked),
    audited: entries,
    breakAudit: (isBroken) => {
      isAuditBroken = isBroken
    },
    close: async () => {
      await endpoint.close()
      await identities.close()
      await closeStore()
    },
  }
}

type Answered = Omit<Reply, 'json'>

const withJson = (answered: Answered): Reply => ({
  ...answered,
  json: answered.text === '' ? {} : JSON.parse(answered.text),
})

function ask(port: number, { by = rootKey, how = {}, input, plain = {}, target, ...rest }: Asked): Promise<Answered> {
  const body = input === undefined ? rest.body : JSON.stringify(input)
  const request = { host: `127.0.0.1:${port}`, ...rest, ...(body === undefined ? {} : { body }) }
  if (by === 'nobody') {
    const headers = { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...plain }
    return send(port, request.method, target ?? request.path, headers, Buffer.from(body ?? ''))
  }
  const signed = how === 'presigned' ? presign(request, { key: by }) : sign(request, { key: by, ...how })
  return send(port, signed.method, signed.target, Object.fromEntries(signed.headers), signed.body)
}

function send(
  port: number,
  method: string,
  path: string,
  headers: Record<string, string>,
  body: Buffer,
): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest({ host: '127.0.0.1', port, method, path, headers, agent: false }, (response) => {
      let text = ''
      const { statusCode: status = 0 } = response
      // A stream has no end. That it begins is its answer.
      if (response.headers['content-type'] === 'text/event-stream') {
        sent.destroy()
        return resolve({ status, headers: response.headers, text })
      }
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk
      })
      response.on('end', () => resolve({ status, headers: response.headers, text }))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
