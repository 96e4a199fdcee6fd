/** Reads the input of an admin operation from its request: a JSON body whose hash is signed, or a query. */
import { isUtf8 } from 'node:buffer'
import type { Payload } from '../auth/verify.ts'
import { S3Error } from '../errors.ts'
import type { Exchange } from '../http/exchange.ts'
import { percentDecodeQuery } from '../http/percent.ts'
import { openBody } from '../http/request-body.ts'
import { announcesBody, type RequestHead } from '../http/request-head.ts'
import { limits } from '../limits.ts'

/** Throws InvalidRequest, EntityTooLarge, MissingContentLength, XAmzContentSHA256Mismatch, and what reading the body throws. */
export async function readInput(exchange: Exchange, head: RequestHead, payload: Payload): Promise<unknown> {
  const body = await readBody(exchange, head, payload)
  if (head.method === 'GET') {
    if (body.length > 0) throw refused('A GET has no body.')
    return readQuery(head.rawQuery)
  }
  if (head.rawQuery !== '') throw refused('Only a GET takes a query.')
  return body.length === 0 ? {} : parseJson(body)
}

const refused = (message: string): S3Error => new S3Error('InvalidRequest', { message })

async function readBody(exchange: Exchange, head: RequestHead, payload: Payload): Promise<Buffer> {
  if (payload.kind !== 'sha256') throw refused('The signature must cover the SHA-256 of the body, in hex.')
  if (head.contentLength !== undefined && head.contentLength > limits.adminBodyBytesMax) {
    throw new S3Error('EntityTooLarge', { message: `A body has at most ${limits.adminBodyBytesMax} bytes.` })
  }
  const announced = announcesBody(head) ? head : { ...head, contentLength: 0 }
  return openBody(exchange, announced, new Map(), payload).read()
}

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
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    throw refused('The body is not JSON.')
  }
}
