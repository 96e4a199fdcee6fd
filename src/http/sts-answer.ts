/** Answers and errors of the API for temporary keys, as documents of AWS STS. */
import type { StsResult } from '../sts/action.ts'
import { StsError } from '../sts/sts-error.ts'
import { faultOf } from './fault.ts'
import { escapeXml } from './xml/xml-write.ts'

const namespace = 'https://sts.amazonaws.com/doc/2011-06-15/'

export function stsAnswer(action: string, result: StsResult, requestId: string): Buffer {
  const metadata = `<ResponseMetadata><RequestId>${requestId}</RequestId></ResponseMetadata>`
  const answer = `<${action}Result>${elements(result)}</${action}Result>`
  return Buffer.from(`<${action}Response xmlns="${namespace}">${answer}${metadata}</${action}Response>`)
}

function elements(result: StsResult): string {
  return Object.entries(result)
    .map(([name, value]) => `<${name}>${typeof value === 'string' ? escapeXml(value) : elements(value)}</${name}>`)
    .join('')
}

export interface StsFault {
  code: string
  status: number
  message: string
  reason: string | undefined
}

export function stsFault({ code, status, message }: StsFault, requestId: string): Buffer {
  const type = status < 500 ? 'Sender' : 'Receiver'
  const error = `<Error><Type>${type}</Type><Code>${code}</Code><Message>${escapeXml(message)}</Message></Error>`
  return Buffer.from(`<ErrorResponse xmlns="${namespace}">${error}<RequestId>${requestId}</RequestId></ErrorResponse>`)
}

/** Errors about signatures that STS names differently from S3. Clients act on the names. */
const stsNames: ReadonlyMap<string, readonly [code: string, status: number, message?: string]> = new Map([
  ['AuthorizationHeaderMalformed', ['IncompleteSignature', 400]],
  ['AuthorizationQueryParametersError', ['IncompleteSignature', 400]],
  ['ExpiredToken', ['ExpiredToken', 403, 'The security token included in the request is expired']],
  ['InternalError', ['InternalFailure', 500]],
  ['InvalidAccessKeyId', ['InvalidClientTokenId', 403, 'The security token included in the request is invalid.']],
  ['InvalidToken', ['InvalidClientTokenId', 403, 'The security token included in the request is invalid.']],
])

export function stsFaultOf(error: unknown): StsFault {
  if (error instanceof StsError) return error
  const { code, status, message, reason } = faultOf(error)
  const named = stsNames.get(code)
  if (named === undefined) return { code, status, message, reason }
  return { code: named[0], status: named[1], message: named[2] ?? message, reason }
}
