/** Sends one request to the S3 port with the keys of the session, and turns its refusals into errors. */
import { accessToS3 } from '../model/session.ts'
import { Refusal } from './refusal.ts'
import { checksumOf, percentEncode, presign, signHeaders } from './sigv4.ts'
import { parseXml, textOf } from './xml.ts'

export type Query = Readonly<Record<string, string | number | undefined>>

export interface Ask {
  method?: string
  bucket?: string
  key?: string
  query?: Query
  headers?: Readonly<Record<string, string>>
  /** Text is sent as XML, unless the headers say otherwise. */
  body?: string
  signal?: AbortSignal
}

/** Throws `Refusal`, and `TypeError` when the server can't be reached. */
export async function askS3({ method = 'GET', body, headers, signal, ...address }: Ask): Promise<Response> {
  const access = await accessToS3()
  const url = addressOf(access.endpoint, address)
  const bytes = new TextEncoder().encode(body ?? '')
  // The checksum header of a completion is for the object, not for the document.
  const isCompletion = address.query?.uploadId !== undefined
  const checksum = isCompletion ? {} : { 'x-amz-checksum-sha256': checksumOf(bytes) }
  const ofBody = { 'content-type': 'application/xml', ...checksum }
  const sent = { ...(body === undefined ? {} : ofBody), ...headers }
  const signed = signHeaders({ method, url, headers: sent, body: bytes }, { ...access, now: new Date() })
  const answer = await fetch(url, {
    method,
    headers: signed,
    ...(body === undefined ? {} : { body: bytes }),
    ...(signal === undefined ? {} : { signal }),
    cache: 'no-store',
    credentials: 'omit',
  })
  if (!answer.ok) throw refusalOf(answer.status, await answer.text())
  return answer
}

/** Resolves with the document in the answer. */
export async function askForXml(ask: Ask): Promise<Element> {
  return parseXml(await (await askS3(ask)).text())
}

/** Resolves with `undefined` when the server refuses with one of the codes, which say that the bucket or object has none. */
export async function askUnlessAbsent(ask: Ask, ...codes: readonly string[]): Promise<Element | undefined> {
  try {
    return await askForXml(ask)
  } catch (error) {
    if (error instanceof Refusal && codes.includes(error.code)) return undefined
    throw error
  }
}

export interface Presigned extends Pick<Ask, 'method' | 'bucket' | 'key' | 'query'> {
  expiresSeconds: number
}

export async function presignedUrl({ method = 'GET', expiresSeconds, ...address }: Presigned): Promise<string> {
  const access = await accessToS3()
  return presign(method, addressOf(access.endpoint, address), { ...access, now: new Date() }, expiresSeconds).href
}

/** `text`: the answer's body. It is XML unless something in front of the server answered. */
export function refusalOf(status: number, text: string): Refusal {
  if (!text.trimStart().startsWith('<')) return new Refusal(status, undefined, undefined)
  const xml = parseXml(text)
  return new Refusal(status, textOf(xml, 'Code'), textOf(xml, 'Message'))
}

function addressOf(endpoint: string, { bucket, key, query = {} }: Pick<Ask, 'bucket' | 'key' | 'query'>): URL {
  const path = [bucket, ...(key?.split('/') ?? [])].filter((part) => part !== undefined).map(percentEncode)
  const url = new URL(`${endpoint}/${path.join('/')}`)
  url.search = Object.entries(query)
    .flatMap(([name, value]) => (value === undefined ? [] : [`${percentEncode(name)}=${percentEncode(String(value))}`]))
    .join('&')
  return url
}

/** Browsers resolve `.` and `..` before they send a request, so a page can't address these keys. */
export const isOutOfReach = (key: string): boolean => key.split('/').some((part) => part === '.' || part === '..')
