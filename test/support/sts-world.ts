/** A server over memory with identities, temporary keys and a clock that a test can put forward; and a client of STS that signs as AWS documents it. */
import { Agent } from 'node:http'
import type { Account } from '../../src/auth/credentials.ts'
import { type Clock, systemClock } from '../../src/clock.ts'
import type { RequestLog } from '../../src/http/request-log.ts'
import { createHttpServer } from '../../src/http/server.ts'
import type { ServedIdentities } from '../../src/identities/identities.ts'
import { openIdentities } from '../../src/identities/open-identities.ts'
import { openMemoryData } from '../../src/opening/open-data.ts'
import { openTemporaryKeys } from '../../src/opening/temporary-keys.ts'
import { operations } from '../../src/operations/table.ts'
import type { OidcProvider } from '../../src/sts/oidc/provider-settings.ts'
import { presign, type SigningKey, type SignOptions, sign } from './signer.ts'
import { exchange, openWire, type Reply, type Wire, withoutAuthorization } from './wire-client.ts'
import { mainKey, otherKey } from './wire-server.ts'

export { mainKey, otherKey } from './wire-server.ts'

/** Of the account `main`: it may read. */
export const readingKey = { accessKeyId: 'AKREADING', secretAccessKey: 'reading-secret-of-the-sts-tests' }

const accounts: readonly Account[] = [
  { id: 'main', name: 'Main', keys: [mainKey, { ...readingKey, permissions: ['s3:GetObject'] }] },
  { id: 'other', name: 'Other', keys: [otherKey] },
]

export interface TemporaryKey extends SigningKey {
  sessionToken: string
}

export interface StsReply extends Reply {
  /** The text of the first element of this name. */
  text(element: string): string
  /** What the answer's `Credentials` hold. */
  key(): TemporaryKey
}

export interface StsAsk extends Partial<Omit<SignOptions, 'unsigned'>> {
  token?: string | undefined
  /** Nobody signs it. */
  unsigned?: boolean
  /** Parameters in the query instead of the body. */
  byGet?: boolean
  presigned?: boolean
}

export interface StsWorld {
  port: number
  identities: ServedIdentities
  wire: Wire
  lines: RequestLog[]
  sts(parameters: Record<string, string>, ask?: StsAsk): Promise<StsReply>
  /** Throws unless there are some. */
  keysOf(parameters: Record<string, string>, ask?: StsAsk): Promise<TemporaryKey>
  putForward(ms: number): void
  now(): number
  close(): Promise<void>
}

export async function openStsWorld({ oidc = [] }: { oidc?: readonly OidcProvider[] } = {}): Promise<StsWorld> {
  let aheadMs = 0
  const now = (): number => Date.now() + aheadMs
  const clock: Clock = { ...systemClock, now }
  const memory = openMemoryData()
  const backend = { ...memory.backend, clock }
  const identities = await openIdentities({ backend, accounts, warn: () => {} })
  const { credentials } = identities
  const lines: RequestLog[] = []
  const server = createHttpServer({
    operations,
    backend,
    credentials,
    sts: openTemporaryKeys({ ring: backend.keys, credentials, oidc, clock }),
    domains: [],
    region: 'us-east-1',
    corsAllowOrigin: [],
    sigv2: 'all',
    clock,
    ready: () => true,
    bounds: { lingerMs: 200, refusalCostMs: 0 },
    log: (line) => lines.push(line),
  })
  const { port } = await server.listen('127.0.0.1', 0)
  const agent = new Agent({ keepAlive: true })
  const wire = openWire(port, { prefix: 'x-amz-', hosting: 'path' })
  const sts: StsWorld['sts'] = async (parameters, ask = {}) =>
    read(await exchange(agent, port, signedForSts(port, parameters, { nowMs: now(), ...ask })))
  return {
    port,
    identities,
    wire,
    lines,
    sts,
    keysOf: async (parameters, ask) => {
      const reply = await sts(parameters, ask)
      if (reply.status !== 200) throw new Error(`${reply.status}: ${reply.body.toString()}`)
      return reply.key()
    },
    putForward: (ms) => {
      aheadMs += ms
    },
    now,
    close: async () => {
      agent.destroy()
      wire.close()
      await server.close()
      await identities.close()
      await memory.close()
    },
  }
}

function signedForSts(port: number, parameters: Record<string, string>, ask: StsAsk) {
  const { token, unsigned = false, byGet = false, presigned = false, key = mainKey, ...options } = ask
  const all = { Version: '2011-06-15', ...parameters }
  const prefix = options.prefix ?? 'x-amz-'
  const tokenPair: [string, string][] = token === undefined ? [] : [[`${prefix}security-token`, token]]
  const body = new URLSearchParams(all).toString()
  const request = byGet
    ? { method: 'GET', path: '/', host: `127.0.0.1:${port}`, query: Object.entries(all) }
    : { method: 'POST', path: '/', host: `127.0.0.1:${port}`, body }
  const headers: [string, string][] = byGet
    ? []
    : [['Content-Type', 'application/x-www-form-urlencoded; charset=utf-8']]
  const signOptions = { service: 'sts', ...options, key }
  if (presigned) {
    const query = [...Object.entries(all), ...tokenPair]
    return presign({ ...request, query }, { payloadHash: sha256OfNothing, ...signOptions })
  }
  const signed = sign({ ...request, headers: [...headers, ...tokenPair] }, signOptions)
  return unsigned ? withoutAuthorization(signed) : signed
}

const sha256OfNothing = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

function read(reply: Reply): StsReply {
  const text = (element: string): string =>
    new RegExp(`<${element}>([^<]*)</${element}>`).exec(reply.body.toString())?.[1] ?? ''
  return {
    ...reply,
    text,
    key: () => ({
      accessKeyId: text('AccessKeyId'),
      secretAccessKey: text('SecretAccessKey'),
      sessionToken: text('SessionToken'),
    }),
  }
}
