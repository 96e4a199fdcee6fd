/** Receivers of JSON that the operator has named, and how it is posted to them. */
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'

export interface JsonReceiver {
  url: string
  /** Sent as a bearer token. */
  token?: string | undefined
}

/** A receiver of events, which buckets name. */
export interface Webhook extends JsonReceiver {
  name: string
}

/** What is read of an answer's body, to use its connection again. A longer one costs the connection. */
const answerBytesMax = 64 * 1024

/**
 * The status of the answer. `undefined`: there was none. Follows no redirect: the JSON goes only where the operator wants it. It uses node:http, because `fetch`
 * makes half as many posts with the same CPU time.
 */
export function postJson(receiver: JsonReceiver, body: string, signal: AbortSignal): Promise<number | undefined> {
  const { url, token } = receiver
  return new Promise((resolve) => {
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    }
    const request = url.startsWith('https:') ? requestHttps : requestHttp
    const sent = request(url, { method: 'POST', headers, signal }, (answer) => {
      resolve(answer.statusCode)
      drain(answer)
    })
    sent.on('error', () => {
      // The receiver may have closed an idle connection just then. It gets the JSON again, on another.
      if (sent.reusedSocket && !signal.aborted) resolve(postJson(receiver, body, signal))
      else resolve(undefined)
    })
    sent.end(body)
  })
}

function drain(answer: IncomingMessage): void {
  let left = answerBytesMax
  answer.on('data', (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) answer.destroy()
  })
  answer.on('error', () => {})
}

export const isTaken = (status: number | undefined): boolean => status !== undefined && status >= 200 && status < 300
