/** A server over memory with identities, temporary keys and a clock that a test can put forward; and a client of STS that signs as AWS documents it. */
import { Agent } from 'node:http'
import type { AccountKey } from '../../src/auth/credentials.ts'
import { systemClock } from '../../src/clock.ts'
import type { OidcProvider } from '../../src/sts/oidc/provider-settings.ts'
import { presign, type SigningKey, type SignOptions, sign } from './signer.ts'
import { exchange, openWire, type Reply, type Wire, withoutAuthorization } from './wire-client.ts'
import { mainKey, startWireServer, type WireServer, type WireServerOptions } from './wire-server.ts'

export { mainKey, otherKey } from './wire-server.ts'

/** A key of the account `main` that may read. */
export const readingKey = { accessKeyId: 'AKREADING', secretAccessKey: 'reading-secret-of-the-sts-tests' }

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

export interface StsWorld extends WireServer {
  wire: Wire
  sts(parameters: Record<string, string>, ask?: StsAsk): Promise<StsReply>
  /** Throws unless there are some. */
  keysOf(parameters: Record<string, string>, ask?: StsAsk): Promise<TemporaryKey>
  putForward(ms: number): void
  now(): number
}

interface StsWorldOptions {
  oidc?: readonly OidcProvider[]
  /** Further keys of the main account. */
  keys?: readonly AccountKey[]
  over?: WireServerOptions['over']
}

export async function openStsWorld({ oidc = [], keys = [], over }: StsWorldOptions = {}): Promise<StsWorld> {
  // It stands still, so that a slow machine changes nothing.
  let nowMs = Date.now()
  const now = (): number => nowMs
  const server = await startWireServer({
    clock: { ...systemClock, now },
    sigv2: 'all',
    keys: [{ ...readingKey, permissions: ['s3:GetObject'] }, ...keys],
    oidc,
    ...(over === undefined ? {} : { over }),
  })
  const { port } = server
  const agent = new Agent({ keepAlive: true })
  const wire = openWire(port, { prefix: 'x-amz-', hosting: 'path' })
  const sts: StsWorld['sts'] = async (parameters, ask = {}) =>
    readSts(await exchange(agent, port, signedForSts(port, parameters, { nowMs: now(), ...ask })))
  return {
    ...server,
    wire,
    sts,
    keysOf: async (parameters, ask) => {
      const reply = await sts(parameters, ask)
      if (reply.status !== 200) throw new Error(`${reply.status}: ${reply.body.toString()}`)
      return reply.key()
    },
    putForward: (ms) => {
      nowMs += ms
    },
    now,
    close: async () => {
      agent.destroy()
      wire.close()
      await server.close()
    },
  }
}

/** A request for temporary keys, as it goes over the wire. */
export function signedForSts(port: number, parameters: Record<string, string>, ask: StsAsk) {
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

export function readSts(reply: Reply): StsReply {
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
