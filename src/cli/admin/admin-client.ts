/** A client of the admin port: signs and sends requests, and reads the answers. Knows no operations. */
import { hash } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { type ClientRequest, request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { z } from 'zod'
import { signRequest } from '../../auth/sign-request.ts'
import { systemClock } from '../../clock.ts'
import type { AccessKey } from '../../config/accounts.ts'
import { connectionFailure } from '../../connection-failure.ts'
import { limits } from '../../limits.ts'
import { percentEncode, percentEncodeQuery } from '../../percent-encode.ts'
import { PinnedAgent, WrongCertificate } from '../pinned-agent.ts'

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
    refusalIn(value, target.key) ??
      `what answers at ${target.url.origin} is no admin port of this version (status ${status})`,
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

const aboutKey: ReadonlySet<string> = new Set(['InvalidAccessKeyId', 'SignatureDoesNotMatch'])
const setClock = ' Set the clock of this machine, or that of the server.'

function refusalIn(value: unknown, { accessKeyId }: AccessKey): string | undefined {
  const { data } = refusal.safeParse(value)
  if (data === undefined) return undefined
  const setKey = ` The request was signed with the key '${accessKeyId}': set HOLDFAST_ACCESS_KEY_ID and HOLDFAST_SECRET_ACCESS_KEY to a key of that server, or name its --config or --data.`
  const advice = aboutKey.has(data.code) ? setKey : data.code === 'RequestTimeTooSkewed' ? setClock : ''
  return `${data.code}: ${data.message}${advice}`
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
    if (error instanceof WrongCertificate) {
      throw new AdminRefused(`the server at ${target.url.host} has another certificate than ${target.certificate}`)
    }
    throw new AdminRefused(unreachable(target.url, error))
  }
}

function unreachable({ origin, protocol }: URL, error: unknown): string {
  const reason = connectionFailure(error, { isSecure: protocol === 'https:' })
  return `no server can be asked at ${origin}: ${reason}. Start one with \`holdfast serve\`, or name its admin port with --admin-endpoint`
}

async function begin(target: AdminTarget, asked: AdminRequest, body: string): Promise<ClientRequest> {
  const { url, key, region, certificate } = target
  const { method } = asked
  const rawPath = `/${asked.path.map(percentEncode).join('/')}`
  const rawQuery = percentEncodeQuery(asked.query ?? {})
  const request = { method, rawPath, rawQuery, host: url.host, headers: {}, payloadHash: hash('sha256', body) }
  const options: RequestOptions = {
    method,
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port,
    path: rawQuery === '' ? rawPath : `${rawPath}?${rawQuery}`,
    headers: {
      'content-length': Buffer.byteLength(body),
      ...signRequest(request, key, { region, nowMs: systemClock.now() }),
    },
    agent: false,
  }
  if (url.protocol !== 'https:') return httpRequest(options)
  if (certificate === undefined) return httpsRequest(options)
  return httpsRequest({ ...options, agent: new PinnedAgent(await readFile(certificate, 'utf8')) })
}
