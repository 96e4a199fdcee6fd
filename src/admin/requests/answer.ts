/** Answers of the admin port: JSON, also for errors, with the headers that keep browsers from misusing them. */
import type { S3Error } from '../../errors.ts'
import { ClientGone, sendBytes } from '../../http/answer.ts'
import type { Exchange } from '../../http/exchange.ts'
import { note } from '../../http/failure.ts'
import { type FaultFormat, faultHeaders, faultOf } from '../../http/fault.ts'
import { sendableValue } from '../../http/header-text.ts'
import type { RequestHead } from '../../http/request-head.ts'
import { IdentityRefused } from '../../identities/refusal.ts'
import { LogInRefused } from '../../logins/log-in-refused.ts'
import { AdminRefused } from './refusal.ts'

/**
 * Every answer has these. `policy`: the Content-Security-Policy. The default is for data: load nothing, run nothing. No answer may be cached, because some hold a secret.
 */
export const guardHeaders = (policy = "default-src 'none'; frame-ancestors 'none'"): string[] => [
  'Content-Security-Policy',
  policy,
  'X-Frame-Options',
  'DENY',
  'X-Content-Type-Options',
  'nosniff',
  'Referrer-Policy',
  'no-referrer',
  'Cross-Origin-Resource-Policy',
  'same-origin',
  'Cache-Control',
  'no-store',
]

export function sendJson(
  exchange: Exchange,
  head: RequestHead | undefined,
  status: number,
  value: unknown,
  further: readonly string[] = [],
): void {
  const headers = [...guardHeaders(), ...further]
  if (value !== undefined) headers.push('Content-Type', 'application/json')
  const body = value === undefined ? undefined : Buffer.from(`${JSON.stringify(value)}\n`)
  sendBytes(exchange, head, status, headers, body)
}

type NamedRefusal = IdentityRefused | LogInRefused | AdminRefused

const isNamedRefusal = (error: unknown): error is NamedRefusal =>
  error instanceof IdentityRefused || error instanceof LogInRefused || error instanceof AdminRefused

/** Answers the error, or cuts off the answer that has begun. */
export function failInJson(exchange: Exchange, head: RequestHead | undefined, error: unknown): void {
  const { response, requestId } = exchange
  const fault = faultOf(error)
  note(exchange, error, fault)
  if (isNamedRefusal(error)) {
    exchange.code = error.code
    exchange.unexpected = undefined
    if (error instanceof LogInRefused) exchange.reason = error.reason
  }
  if (response.headersSent || response.destroyed || error instanceof ClientGone) return void response.destroy()
  const { code, status, message } = isNamedRefusal(error) ? error : fault
  const headers = [...(isNamedRefusal(error) ? retryHeaders(error) : faultHeaders(fault).map(sendableValue))]
  headers.push('Content-Type', 'application/json', ...guardHeaders())
  sendBytes(exchange, head, status, headers, jsonFault({ code, message, requestId }))
}

function retryHeaders(error: NamedRefusal): string[] {
  const seconds = error instanceof LogInRefused ? error.retryAfterSeconds : undefined
  return seconds === undefined ? [] : ['Retry-After', String(seconds)]
}

const jsonFault = (fault: { code: string; message: string; requestId: string }): Buffer =>
  Buffer.from(`${JSON.stringify(fault)}\n`)

/** For bytes that aren't a request. */
export const faultsInJson: FaultFormat = {
  contentType: 'application/json',
  document: ({ code, message }: S3Error, { requestId }) => jsonFault({ code, message, requestId }),
}
