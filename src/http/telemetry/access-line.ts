/** A line of an access log, in S3's format: fields between spaces, `-` where there is nothing to say, three of them in quotes. Pure. */
import { accessLogLimits } from '../../access-log-limits.ts'
import { decodedBytes } from '../../auth/canonical-request.ts'
import { nobody } from '../../auth/principal.ts'
import { percentEncode } from '../../percent-encode.ts'
import { arnOf } from '../../sts/session-parts.ts'
import { httpDate } from '../../time-text.ts'
import type { Exchange } from '../exchange.ts'
import type { Access, LoggedDeletion } from './access.ts'

export interface RequestTimes {
  /** Milliseconds since the epoch. */
  receivedMs: number
  durationMs: number
  /** Until the head of the answer. 0: there was none. */
  firstByteMs: number
}

/** `owner`: account id of the bucket's owner. */
export function accessLine(
  exchange: Exchange,
  access: Access & { words: string },
  owner: string,
  times: RequestTimes,
): string {
  const { request, status, code, bytesOut } = exchange
  const { headers } = request
  return line(exchange, access, owner, times, {
    operation: access.words,
    key: access.key,
    uri: quoted(`${request.method} ${withoutSecrets(request.url ?? '')} HTTP/${request.httpVersion}`),
    status: status === 0 ? '-' : String(status),
    code,
    bytesSent: String(bytesOut || '-'),
    objectSize: String(objectSize(access) ?? '-'),
    totalMs: String(Math.round(times.durationMs)),
    turnaroundMs: times.firstByteMs === 0 ? '-' : String(Math.round(times.firstByteMs)),
    referer: quoted(utf8(headers.referer)),
    userAgent: quoted(utf8(headers['user-agent'])),
    versionId: textOf(access.input?.versionId),
  })
}

/** The line of one object that a DeleteObjects named. It says nothing of the request itself, which has a line of its own. */
export function deletionLine(
  exchange: Exchange,
  access: Access,
  owner: string,
  times: RequestTimes,
  { key, versionId, code, status }: LoggedDeletion,
): string {
  return line(exchange, access, owner, times, {
    operation: 'BATCH.DELETE.OBJECT',
    key,
    uri: '-',
    status: String(status),
    code,
    bytesSent: '-',
    objectSize: '-',
    totalMs: '-',
    turnaroundMs: '-',
    referer: '-',
    userAgent: '-',
    versionId,
  })
}

interface Fields {
  operation: string
  key: string
  uri: string
  status: string
  code: string
  bytesSent: string
  objectSize: string
  totalMs: string
  turnaroundMs: string
  referer: string
  userAgent: string
  versionId: string | undefined
}

function line(
  { requestId, hostId, clientAddress, request: { socket, headers } }: Exchange,
  { bucket, request: asked }: Access,
  owner: string,
  { receivedMs }: RequestTimes,
  fields: Fields,
): string {
  const signature = signatureOf(asked)
  const tls = textOf(asked?.conditionValue('s3:TlsVersion'))
  return [
    owner,
    bucket,
    bracketed(receivedMs),
    bare(clientAddress),
    bare(requesterOf(asked)),
    bare(requestId),
    fields.operation,
    fields.key === '' ? '-' : percentEncode(fields.key).replaceAll('%2F', '/'),
    fields.uri,
    fields.status,
    bare(fields.code),
    fields.bytesSent,
    fields.objectSize,
    fields.totalMs,
    fields.turnaroundMs,
    fields.referer,
    fields.userAgent,
    bare(fields.versionId),
    hostId,
    signature.version,
    'getCipher' in socket && typeof socket.getCipher === 'function' ? bare(socket.getCipher()?.name) : '-',
    signature.form,
    bare(utf8(headers.host)),
    tls === undefined ? '-' : `TLSv${tls}`,
    // No access points, and whether a list of grants was needed is not noted. The region is the server's.
    '-',
    '-',
    bare(asked?.region),
  ].join(' ')
}

/** As S3 says it: the account's id for a key of the account itself, the ARN for a user. */
function requesterOf(request: Access['request']): string | undefined {
  const principal = request?.principal
  if (principal === undefined || principal === nobody) return undefined
  return principal.user === undefined ? principal.accountId : arnOf(principal)
}

function signatureOf(request: Access['request']): { version: string; form: string } {
  const version = request?.conditionValue('s3:signatureversion')
  const form = request?.conditionValue('s3:authType')
  return {
    version: version === undefined ? '-' : version === 'AWS' ? 'SigV2' : 'SigV4',
    form: form === 'REST-HEADER' ? 'AuthHeader' : form === 'REST-QUERY-STRING' ? 'QueryString' : '-',
  }
}

const writers: ReadonlySet<string> = new Set(['PutObject', 'PostObject', 'UploadPart'])

/** Of the object that was read or written, in bytes. */
function objectSize({ operation, input, answer }: Access): number | undefined {
  if (answer === undefined) return undefined
  const { contentRange, contentLength } = answer
  const whole = typeof contentRange === 'string' ? contentRange.split('/')[1] : contentLength
  if (whole !== undefined) return Number(whole)
  if (!writers.has(operation?.name ?? '')) return undefined
  const { size }: { size?: unknown } = Object(input?.body)
  return typeof size === 'number' ? size : undefined
}

/** `[27/Nov/2026:01:02:03 +0000]` */
function bracketed(ms: number): string {
  const [, day, month, year, time] = httpDate(ms).split(' ')
  return `[${day}/${month}/${year}:${time} +0000]`
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/** Node gives a header's bytes as one character each. */
const utf8 = (header: string | undefined): string | undefined =>
  header === undefined ? undefined : Buffer.from(header, 'latin1').toString()

/** A field that holds neither spaces nor quotes. */
const bare = (text: string | undefined): string => (text === undefined || text === '' ? '-' : escaped(text, /[\s"]/g))

const quoted = (text: string | undefined): string =>
  `"${text === undefined || text === '' ? '-' : escaped(text, /"/g)}"`

/** Nothing that a client sends can end a field or a line. */
function escaped(text: string, special: RegExp): string {
  const kept = text.slice(0, accessLogLimits.fieldCharsMax)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  return kept.replace(special, percentEncode).replace(/[\x00-\x1f\x7f]/g, percentEncode)
}

/** Parameters that would let a reader of the log repeat the request, or read what it encrypted. */
const secret = /(?:^|-)(?:signature|security-token|customer-key)$/

/** The URL as it was sent, without the values of secrets. */
function withoutSecrets(url: string): string {
  const mark = url.indexOf('?')
  if (mark === -1) return url
  const parameters = url
    .slice(mark + 1)
    .split('&')
    .map((parameter) => {
      const [name = ''] = parameter.split('=', 1)
      return secret.test(decodedBytes(name).toLowerCase()) ? `${name}=-` : parameter
    })
  return `${url.slice(0, mark)}?${parameters.join('&')}`
}
