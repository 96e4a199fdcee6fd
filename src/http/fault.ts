/** Turns whatever was thrown into the answer for the client: S3's code and error document. Details of an unexpected error stay in the server. */
import { ProcessEnding, S3Error } from '../errors.ts'
import { limits } from '../limits.ts'
import type { Dialect } from './dialect.ts'
import { escapeXml, xmlDeclaration } from './xml/xml-write.ts'

/** The error as the client may see it. */
export function faultOf(error: unknown): S3Error {
  if (error instanceof S3Error) return error
  if (error instanceof ProcessEnding) return new S3Error('ServiceUnavailable', { cause: error, reason: error.message })
  return new S3Error('InternalError', { cause: error })
}

export interface FaultContext {
  /** The requested path, without its query. */
  resource: string
  requestId: string
  hostId: string
  dialect: Pick<Dialect, 'prefix'>
  /** Absent: the request could not be read. */
  request?: { readonly method?: string | undefined }
  /** The request is S3 Control's, whose clients find an error only inside another element. */
  isOfControl?: boolean
}

/** More than the signed text of the longest head, escapes included. Only a document can be longer, and an error does not repeat all of it. */
const detailCharsMax = 4 * limits.headerSectionBytesMax

const detail = (text: string): string => escapeXml(text.slice(0, detailCharsMax))

/** Quotes need no escape in an element, and S3 leaves them in messages, where clients look for the condition of a policy that failed. */
const message = (text: string): string => detail(text).replaceAll('&quot;', '"')

/** The element without the XML declaration, because a slow answer has already sent that. */
export function faultElement(fault: S3Error, context: FaultContext): string {
  const { resource, requestId, hostId, dialect, isOfControl = false } = context
  let xml = `<Code>${fault.code}</Code><Message>${message(fault.messageFor(dialect.prefix))}</Message>`
  xml += refusedMethod(fault, context)
  for (const [name, value] of Object.entries(fault.vendorDetails)) xml += `<${name}>${dialect.prefix}${value}</${name}>`
  for (const [name, value] of Object.entries(fault.details)) xml += `<${name}>${detail(value)}</${name}>`
  xml += `<Resource>${escapeXml(resource)}</Resource>`
  const ids = `<RequestId>${requestId}</RequestId><HostId>${escapeXml(hostId)}</HostId>`
  return isOfControl ? `<ErrorResponse><Error>${xml}</Error>${ids}</ErrorResponse>` : `<Error>${xml}${ids}</Error>`
}

/** S3 names the method that a delete marker refuses, which is not known where the marker is found. */
function refusedMethod({ code, details }: S3Error, { request }: FaultContext): string {
  if (code !== 'MethodNotAllowed' || details.Method !== undefined || request?.method === undefined) return ''
  return `<Method>${request.method}</Method>`
}

export function faultDocument(fault: S3Error, context: FaultContext): Buffer {
  return Buffer.from(xmlDeclaration + faultElement(fault, context))
}

/** How a port writes its errors. */
export interface FaultFormat {
  contentType: string
  document(fault: S3Error, context: FaultContext): Buffer
}

export const faultsInXml: FaultFormat = { contentType: 'application/xml', document: faultDocument }

/** The error's own headers, and Retry-After where a retry can help. */
export function faultHeaders(fault: S3Error): string[] {
  const headers = Object.entries(fault.headers).flat()
  if (fault.status === 503) headers.push('Retry-After', String(limits.retryAfterSeconds))
  return headers
}
