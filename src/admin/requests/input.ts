/** Reads the input of an admin operation from its request: a JSON body, or a query. */
import { isUtf8 } from 'node:buffer'
import type { Payload } from '../../auth/verify.ts'
import { S3Error } from '../../errors.ts'
import { openBody } from '../../http/bodies/request-body.ts'
import type { Exchange } from '../../http/exchange.ts'
import { percentDecodeQuery } from '../../http/percent.ts'
import { announcesBody, headerValue, type RequestHead } from '../../http/request-head.ts'
import { limits } from '../../limits.ts'

/**
 * `sender`: who vouches for the body. A signature must cover its hash; a page must say that it is JSON, which no form of another origin can. Throws InvalidRequest,
 * EntityTooLarge, MissingContentLength, XAmzContentSHA256Mismatch, and what reading the body throws.
 */
export async function readInput(
  exchange: Exchange,
  head: RequestHead,
  { payload, bodyBytesMax }: { payload: Payload | 'of a page'; bodyBytesMax: number },
): Promise<unknown> {
  const body = await readBody(exchange, head, payload, bodyBytesMax)
  if (head.method === 'GET') {
    if (body.length > 0) throw refused('A GET has no body.')
    return readQuery(head.rawQuery)
  }
  if (head.rawQuery !== '') throw refused('Only a GET takes a query.')
  return body.length === 0 ? {} : parseJson(body)
}

const refused = (message: string): S3Error => new S3Error('InvalidRequest', { message })

async function readBody(
  exchange: Exchange,
  head: RequestHead,
  payload: Payload | 'of a page',
  bodyBytesMax: number,
): Promise<Buffer> {
  if (payload === 'of a page') {
    if (announcesBody(head) && !isJson(head)) throw refused('The body must be of type application/json.')
  } else if (payload.kind !== 'sha256') throw refused('The signature must cover the SHA-256 of the body, in hex.')
  if (head.contentLength !== undefined && head.contentLength > bodyBytesMax) {
    throw new S3Error('EntityTooLarge', { message: `A body has at most ${bodyBytesMax} bytes.` })
  }
  const announced = announcesBody(head) ? head : { ...head, contentLength: 0 }
  return openBody(exchange, announced, new Map(), payload === 'of a page' ? { kind: 'unsigned' } : payload).read()
}

const isJson = (head: RequestHead): boolean =>
  /^application\/json\s*(?:;|$)/i.test(headerValue(head, 'content-type') ?? '')

function readQuery(rawQuery: string): Record<string, string> {
  const values = new Map<string, string>()
  for (const pair of rawQuery === '' ? [] : rawQuery.split('&')) {
    const [name = '', ...rest] = pair.split('=')
    const key = percentDecodeQuery(name)
    if (values.has(key)) throw refused('A parameter of the query is given twice.')
    values.set(key, percentDecodeQuery(rest.join('=')))
  }
  return Object.fromEntries(values)
}

function parseJson(body: Buffer): unknown {
  if (!isUtf8(body)) throw refused('The body is not UTF-8.')
  const value = jsonIn(body.toString('utf8'))
  checkNesting(value)
  return value
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw refused('The body is not JSON.')
  }
}

/** Half of a character, which JSON can escape: no name in the metadata can hold it. */
const lone = /[\ud800-\udfff]/u

/** Whoever walks the value by calling itself must not run out of stack. Throws InvalidRequest. */
function checkNesting(value: unknown): void {
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > limits.adminInputDepthMax) throw refused('The body is nested too deeply.')
    if (level.some((each) => typeof each === 'string' && lone.test(each))) {
      throw refused('The body holds half a character.')
    }
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? Object.entries(each).flat() : []))
  }
}
