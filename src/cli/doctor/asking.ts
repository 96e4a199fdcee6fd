/** Single requests to an S3 port, through whatever lies before it, and all that came back. */
import { hash } from 'node:crypto'
import { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from 'node:http'
import { type Agent, request as requestHttps } from 'node:https'
import { type SigningKey, signedForm } from '../../auth/sign-request.ts'
import { systemClock } from '../../clock.ts'
import { connectionFailure } from '../../connection-failure.ts'
import { childText, readXml, type XmlElement } from '../../endpoint/xml.ts'

export interface Patient {
  /** Without a path. */
  url: URL
  key: SigningKey
  region: string
  /** Absent: the system's certificates count. */
  agent: Agent | undefined
}

export interface Question {
  method: 'GET' | 'HEAD' | 'PUT'
  /** As it is sent, with its query behind a question mark. */
  target: string
  headers?: Readonly<Record<string, string>>
  /** Of the body. Absent: there is none. */
  payloadHash?: string
  body?: Buffer
  /** Waits for `100 Continue`, and then sends no more than the beginning of the body. */
  awaitsContinue?: boolean
  /** Absent: that of the URL. */
  host?: string
  /** The target is signed already. */
  isSigned?: boolean
}

export interface Reply {
  status: number
  headers: IncomingHttpHeaders
  text: string
  /** The S3 error. `undefined`: the answer is not an S3 error. */
  error: XmlElement | undefined
  code: string
  /** The canonical request, as it was signed. */
  canonical: string
}

/** The server can't be reached, or does not answer. */
export class NoReply extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'NoReply'
  }
}

/** Something on the way takes the body before the server has seen the request. */
export class TookBody extends Error {
  constructor() {
    super('100 Continue')
    this.name = 'TookBody'
  }
}

const answerMs = 15_000
const tookBodyMs = 3_000
const someOfBodyBytes = 64 * 1024
const answerBytesMax = 1024 * 1024

/** Rejects with `NoReply` and `TookBody`. */
export async function ask(patient: Patient, question: Question): Promise<Reply> {
  const { headers, canonical } = headersOf(patient, question)
  const answer = await send(patient, question, headers)
  const text = await textOf(answer)
  const root = readXml(text)
  const error = root?.name === 'Error' ? root : undefined
  const code = childText(error, 'Code') ?? ''
  return { status: answer.statusCode ?? 0, headers: answer.headers, text, error, code, canonical }
}

function headersOf({ url, key, region }: Patient, question: Question) {
  const { method, target, headers = {}, body, host = url.host, isSigned = false } = question
  const sent = { ...headers, ...(body === undefined ? {} : { 'content-length': String(body.length) }) }
  if (isSigned) return { headers: { ...sent, host }, canonical: '' }
  const [rawPath = '', rawQuery = ''] = target.split('?')
  const payloadHash = question.payloadHash ?? hash('sha256', body ?? '')
  const unsigned = { method, rawPath, rawQuery, host, headers: sent, payloadHash }
  return signedForm(unsigned, key, { region, nowMs: systemClock.now() })
}

function send(
  { url, agent }: Patient,
  { method, target, body, host = url.host, awaitsContinue = false }: Question,
  headers: Readonly<Record<string, string>>,
): Promise<IncomingMessage> {
  const { hostname, port } = new URL(`${url.protocol}//${host}`)
  const address = { method, host: hostname.replace(/^\[|\]$/g, ''), port, path: target, headers }
  return new Promise((resolve, reject) => {
    const request: ClientRequest =
      url.protocol === 'https:' ? requestHttps({ ...address, agent }) : requestHttp(address)
    request.on('response', resolve)
    request.on('error', (error) =>
      reject(new NoReply(connectionFailure(error, { isSecure: url.protocol === 'https:' }))),
    )
    request.setTimeout(answerMs, () => request.destroy(new Error(`no answer within ${answerMs / 1000} s`)))
    if (!awaitsContinue) return void request.end(body)
    request.on('continue', () => {
      // Many proxies say so by themselves. Those that pass bodies on as they come have an answer soon.
      request.write(Buffer.alloc(someOfBodyBytes))
      setTimeout(() => {
        reject(new TookBody())
        request.destroy()
      }, tookBodyMs).unref()
    })
    request.flushHeaders()
  })
}

async function textOf(answer: IncomingMessage): Promise<string> {
  let text = ''
  try {
    for await (const piece of answer.setEncoding('utf8')) {
      text += piece
      if (text.length > answerBytesMax) break
    }
  } catch (error) {
    throw new NoReply(`the answer broke off (${error instanceof Error ? error.message : String(error)})`)
  }
  answer.destroy()
  return text
}
