/** Answers of the admin port: JSON, errors too. */
import type { S3Error } from '../errors.ts'
import { ClientGone, sendBytes } from '../http/answer.ts'
import type { Exchange } from '../http/exchange.ts'
import { note } from '../http/failure.ts'
import { type FaultFormat, faultHeaders, faultOf } from '../http/fault.ts'
import { sendableValue } from '../http/header-text.ts'
import type { RequestHead } from '../http/request-head.ts'
import { IdentityRefused } from '../identities/refusal.ts'

export function sendJson(exchange: Exchange, head: RequestHead | undefined, status: number, value: unknown): void {
  // No caching, because some answers hold a secret.
  const headers = ['Cache-Control', 'no-store', 'X-Content-Type-Options', 'nosniff']
  if (value !== undefined) headers.push('Content-Type', 'application/json')
  const body = value === undefined ? undefined : Buffer.from(`${JSON.stringify(value)}\n`)
  sendBytes(exchange, head, status, headers, body)
}

/** Answers the error, or cuts off the answer that has begun. */
export function failInJson(exchange: Exchange, head: RequestHead | undefined, error: unknown): void {
  const { response, requestId } = exchange
  const fault = faultOf(error)
  note(exchange, error, fault)
  if (error instanceof IdentityRefused) {
    exchange.code = error.code
    exchange.unexpected = undefined
  }
  if (response.headersSent || response.destroyed || error instanceof ClientGone) return void response.destroy()
  const { code, status, message } = error instanceof IdentityRefused ? error : fault
  const headers = faultHeaders(fault).map(sendableValue)
  headers.push('Content-Type', 'application/json', 'Cache-Control', 'no-store')
  sendBytes(exchange, head, status, headers, jsonFault({ code, message, requestId }))
}

const jsonFault = (fault: { code: string; message: string; requestId: string }): Buffer =>
  Buffer.from(`${JSON.stringify(fault)}\n`)

/** For bytes that aren't a request. */
export const faultsInJson: FaultFormat = {
  contentType: 'application/json',
  document: ({ code, message }: S3Error, { requestId }) => jsonFault({ code, message, requestId }),
}
