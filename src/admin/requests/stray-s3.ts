/** Answers clients of S3 that ask the admin port. They could not read its JSON, and would show an error that says nothing. */
import { S3Error } from '../../errors.ts'
import { sendBytes } from '../../http/answer.ts'
import { storeDialect } from '../../http/dialect.ts'
import type { Exchange } from '../../http/exchange.ts'
import { faultsInXml } from '../../http/fault.ts'
import { headerValue, type RequestHead } from '../../http/request-head.ts'
import { LogInRefused } from '../../logins/log-in-refused.ts'
import { guardHeaders } from './answer.ts'

/** False: the request is none of S3. `s3Endpoint` may throw `LogInRefused`, where the port is asked under a strange name. */
export function answerStrayS3(exchange: Exchange, head: RequestHead, s3Endpoint: () => string): boolean {
  const isSigned = headerValue(head, 'authorization')?.startsWith('AWS') === true
  if (!isSigned || head.rawPath.startsWith('/v1/')) return false
  const fault = new S3Error('InvalidRequest', { message: `This is the admin port. ${whereS3Is(s3Endpoint)}` })
  const { requestId, hostId } = exchange
  const context = { resource: head.rawPath, requestId, hostId, dialect: storeDialect }
  exchange.code = fault.code
  const headers = [...guardHeaders(), 'Content-Type', faultsInXml.contentType]
  sendBytes(exchange, head, fault.status, headers, faultsInXml.document(fault, context))
  return true
}

function whereS3Is(s3Endpoint: () => string): string {
  try {
    return `S3 is at ${s3Endpoint()}.`
  } catch (error) {
    if (error instanceof LogInRefused) return 'S3 is at another port.'
    throw error
  }
}
