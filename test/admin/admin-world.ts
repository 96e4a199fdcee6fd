/** An admin port over identities in memory, and what asks it: signed by a signer that is not the server's. */
import { request as httpRequest } from 'node:http'
import { Writable } from 'node:stream'
import { pino } from 'pino'
import type { Account } from '../../src/auth/credentials.ts'
import type { Backend } from '../../src/commits/backend.ts'
import { initialSettings } from '../../src/config/configuration.ts'
import type { ServedIdentities } from '../../src/identities/identities.ts'
import { openIdentities } from '../../src/identities/open-identities.ts'
import { openAdminEndpoint } from '../../src/opening/admin-endpoint.ts'
import { openServedMemory } from '../../src/opening/open-served-data.ts'
import { presign, type RequestToSign, type SigningKey, type SignOptions, sign } from '../support/signer.ts'

export const rootKey = { accessKeyId: 'root-key', secretAccessKey: 'canary-secret-of-root' }
/** Of the main account, narrowed by the configuration. */
export const narrowedKey = { accessKeyId: 'narrowed-key', secretAccessKey: 'canary-secret-narrowed' }

const accounts: readonly Account[] = [
  { id: 'main', name: 'Main', keys: [rootKey, { ...narrowedKey, permissions: ['s3:*'] }] },
]

/** What is to be asked: signed by a key, by nobody, by a URL, or wrongly. */
export interface Asked extends Partial<Omit<RequestToSign, 'host'>> {
  method: string
  path: string
  by?: SigningKey | 'nobody'
  how?: 'presigned' | Partial<SignOptions>
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

export interface AdminWorld {
  port: number
  backend: Backend
  identities: ServedIdentities
  /** All that was logged so far. */
  log(): string
  /** Time passes for keys that expire, and for no signature. */
  advance(ms: number): void
  ask(asked: Asked): Promise<Reply>
  close(): Promise<void>
}

export async function openAdminWorld(): Promise<AdminWorld> {
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
  const endpoint = await openAdminEndpoint({
    listen: { host: '127.0.0.1', port: 0 },
    backend,
    identities,
    blockPublic: false,
    oidc: [],
    region: 'us-east-1',
    keyPair: undefined,
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
    advance: (ms) => {
      aheadMs += ms
    },
    ask: (asked) => ask(port, asked),
    close: async () => {
      await endpoint.close()
      await identities.close()
      await closeStore()
    },
  }
}

function ask(port: number, { by = rootKey, how = {}, input, ...rest }: Asked): Promise<Reply> {
  const body = input === undefined ? rest.body : JSON.stringify(input)
  const request = { ...rest, host: `127.0.0.1:${port}`, ...(body === undefined ? {} : { body }) }
  if (by === 'nobody') return send(port, request.method, request.path, {}, Buffer.from(body ?? ''))
  const signed = how === 'presigned' ? presign(request, { key: by }) : sign(request, { key: by, ...how })
  return send(port, signed.method, signed.target, Object.fromEntries(signed.headers), signed.body)
}

function send(
  port: number,
  method: string,
  path: string,
  headers: Record<string, string>,
  body: Buffer,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest({ host: '127.0.0.1', port, method, path, headers, agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk
      })
      response.on('end', () => {
        const json = text === '' ? {} : JSON.parse(text)
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json })
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
