/** Receivers of JSON that the operator has named, and how it is posted to them. */
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { withDeadline } from './deadline.ts'

export interface JsonReceiver {
  url: string
  /** Sent as a bearer token. */
  token?: string | undefined
}

/** A receiver of events, which buckets name. */
export interface Webhook extends JsonReceiver {
  /** In lower case. */
  name: string
}

export interface PostOptions {
  /** How long the receiver may take to answer. */
  answerMs: number
  signal?: AbortSignal
}

/** What is read of an answer's body, and for how long, to use its connection again. */
const answerBytesMax = 64 * 1024
const answerBodyMs = 1_000

/**
 * The status of the answer. `undefined`: there was none. Resolves when the connection is free or closed, so that posts in turn need no second one. Follows no
 * redirect: the JSON goes only where the operator wants it. Uses node:http, because `fetch` made a third as many posts a second.
 */
export function postJson(
  receiver: JsonReceiver,
  body: string,
  { answerMs, signal }: PostOptions,
): Promise<number | undefined> {
  return withDeadline(answerMs, signal, (ending) => post(receiver, body, ending))
}

function post(receiver: JsonReceiver, body: string, signal: AbortSignal): Promise<number | undefined> {
  const { url, token } = receiver
  return new Promise((resolve) => {
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    }
    const request = url.startsWith('https:') ? requestHttps : requestHttp
    let status: number | undefined
    let isStale = false
    const sent = request(url, { method: 'POST', headers, signal }, (answer) => {
      status = answer.statusCode
      drain(answer)
    })
    sent.on('error', () => {
      isStale = status === undefined && sent.reusedSocket && !signal.aborted
    })
    // It comes in every case, also after an answer that is none, such as 101.
    sent.on('close', () => {
      // The receiver may have closed an idle connection just then. It gets the JSON again, on another.
      resolve(isStale ? post(receiver, body, signal) : status)
    })
    sent.end(body)
  })
}

function drain(answer: IncomingMessage): void {
  let left = answerBytesMax
  const timer = setTimeout(() => answer.destroy(), answerBodyMs)
  answer.on('data', (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) answer.destroy()
  })
  answer.on('error', () => {})
  answer.on('close', () => clearTimeout(timer))
}

export const isTaken = (status: number | undefined): boolean => status !== undefined && status >= 200 && status < 300
