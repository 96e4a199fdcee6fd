/** A client of the admin port: signs and sends requests, and reads the answers. Knows no operations. */
import { hash, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { type ClientRequest, request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { connect } from 'node:tls'
import { z } from 'zod'
import { parseScope } from '../../auth/authorization.ts'
import { canonicalRequest, parseQuery } from '../../auth/canonical-request.ts'
import {
  algorithm,
  deriveSigningKey,
  formatTimestamp,
  scopeTerminator,
  signature,
  stringToSign,
} from '../../auth/sigv4.ts'
import { systemClock } from '../../clock.ts'
import type { AccessKey } from '../../config/accounts.ts'
import { S3Error } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { percentEncode } from '../../percent-encode.ts'

/** The server refused the request, or can't be reached. The message says why. */
export class AdminRefused extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'AdminRefused'
  }
}

export interface AdminTarget {
  url: URL
  key: AccessKey
  region: string
  /** PEM file of the exact certificate that the server must show. Absent: the certificates that the system trusts. */
  certificate?: string | undefined
}

export interface AdminRequest {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Unencoded segments of the path. */
  path: readonly string[]
  query?: Readonly<Record<string, string | undefined>>
  /** Sent as JSON. */
  input?: unknown
}

/** Rejects with `AdminRefused`. */
export async function askAdmin<T extends z.ZodType>(
  target: AdminTarget,
  asked: AdminRequest,
  answered: T,
): Promise<z.output<T>> {
  const body = asked.input === undefined ? '' : JSON.stringify(asked.input)
  const { status, text } = await send(target, asked, body)
  const value = parsed(text)
  if (status >= 200 && status < 300) {
    const read = answered.safeParse(value)
    if (read.success) return read.data
  }
  throw new AdminRefused(
    refusalIn(value) ?? `what answers at ${target.url.origin} is no admin port of this version (status ${status})`,
  )
}

function parsed(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch {
    return text
  }
}

const refusal = z.object({ code: z.string(), message: z.string() })

function refusalIn(value: unknown): string | undefined {
  const { data } = refusal.safeParse(value)
  return data && `${data.code}: ${data.message}`
}

async function send(target: AdminTarget, asked: AdminRequest, body: string): Promise<{ status: number; text: string }> {
  try {
    const request = await begin(target, asked, body)
    request.setTimeout(limits.adminAnswerMs, () => request.destroy(new Error('it does not answer')))
    request.end(body)
    const [response]: IncomingMessage[] = await once(request, 'response')
    let text = ''
    for await (const chunk of response?.setEncoding('utf8') ?? []) text += chunk
    return { status: response?.statusCode ?? 0, text }
  } catch (error) {
    if (error instanceof AdminRefused) throw error
    throw new AdminRefused(unreachable(target.url, error))
  }
}

function unreachable({ origin }: URL, error: unknown): string {
  const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error)
  return `no server can be asked at ${origin} (${reason}): start one with \`holdfast serve\`, or name its admin port with --admin-endpoint`
}

async function begin(target: AdminTarget, asked: AdminRequest, body: string): Promise<ClientRequest> {
  const { url, certificate } = target
  const path = `/${asked.path.map(percentEncode).join('/')}`
  const query = Object.entries(asked.query ?? {})
    .flatMap(([name, value]) => (value === undefined ? [] : [`${percentEncode(name)}=${percentEncode(value)}`]))
    .join('&')
  const options: RequestOptions = {
    method: asked.method,
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : url.port,
    path: query === '' ? path : `${path}?${query}`,
    headers: {
      host: url.host,
      'content-length': Buffer.byteLength(body),
      ...signedHeaders(target, asked.method, path, query, body),
    },
    agent: false,
  }
  if (url.protocol !== 'https:') return httpRequest(options)
  if (certificate === undefined) return httpsRequest(options)
  const socket = await connectTo(options, certificate)
  // With an agent, Node would open another connection.
  return httpRequest({ ...options, agent: undefined, createConnection: () => socket })
}

/** Compares the whole certificate and ignores its host names, because a client on the same machine connects by address. */
async function connectTo({ host, port }: RequestOptions, file: string) {
  const expected = new X509Certificate(await readFile(file))
  const socket = connect({ host: host ?? '', port: Number(port), rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  if (socket.getPeerX509Certificate()?.fingerprint256 === expected.fingerprint256) return socket
  socket.destroy()
  throw new AdminRefused(`the server at ${host}:${port} has another certificate than ${file}`)
}

const malformed = (message: string): S3Error => new S3Error('InvalidRequest', { message })

const names = ['host', 'x-amz-content-sha256', 'x-amz-date']

function signedHeaders(
  { url, key, region }: AdminTarget,
  method: string,
  rawPath: string,
  rawQuery: string,
  body: string,
): Record<string, string> {
  const timestamp = formatTimestamp(systemClock.now())
  const date = timestamp.slice(0, 8)
  const payloadHash = hash('sha256', body)
  const scope = parseScope(`${key.accessKeyId}/${date}/${region}/s3/${scopeTerminator}`, malformed)
  const headers = { host: url.host, 'x-amz-content-sha256': payloadHash, 'x-amz-date': timestamp }
  const canonical = canonicalRequest({
    method,
    rawPath,
    query: parseQuery(rawQuery),
    headers: { values: new Map(Object.entries(headers)), vendorNames: [], repeated: [] },
    signedHeaders: names,
    payloadHash,
  })
  const made = signature(deriveSigningKey(key.secretAccessKey, scope), stringToSign(timestamp, scope, canonical ?? ''))
  const authorization = `${algorithm} Credential=${scope.credential}, SignedHeaders=${names.join(';')}, Signature=${made}`
  return { 'x-amz-content-sha256': payloadHash, 'x-amz-date': timestamp, authorization }
}
