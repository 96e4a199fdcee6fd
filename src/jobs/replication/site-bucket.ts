/** A destination on another S3-compatible server: copies are written to it over HTTP. */
import { hash } from 'node:crypto'
import { PassThrough } from 'node:stream'
import type { ByteSource } from '../../byte-source.ts'
import { checksumFields } from '../../checksums/checksums.ts'
import { eachOf } from '../../each-of.ts'
import { completeUpload } from '../../endpoint/complete-upload.ts'
import type { Endpoint, EndpointRequest, ReadAnswer, StreamedBody } from '../../endpoint/endpoint.ts'
import { EndpointRefused, isTransient, TransferFailed } from '../../endpoint/failures.ts'
import { childText, readXml } from '../../endpoint/xml.ts'
import { percentEncode } from '../../percent-encode.ts'
import type { ObjectAttributes } from '../../records/object-attributes.ts'
import type { Checksum, PartRecord } from '../../records/records.ts'
import { originalTimeHeader, replicaHeader } from '../../replica-header.ts'
import { replicationLimits } from '../../replication-limits.ts'
import {
  CopyRefused,
  DestinationAway,
  type OriginalMarker,
  type OriginalVersion,
  type ReplicaBucket,
} from './replica-bucket.ts'

type Headers = Record<string, string>

export class SiteBucket implements ReplicaBucket {
  readonly #site: Endpoint
  readonly #bucket: string
  readonly #signal: AbortSignal

  /** `signal` aborts requests under way. */
  constructor(site: Endpoint, bucket: string, signal: AbortSignal) {
    this.#site = site
    this.#bucket = bucket
    this.#signal = signal
  }

  async newestCopyOf(key: string, of: string): Promise<string | undefined> {
    try {
      const { headers } = await this.#ask({ method: 'HEAD', key })
      return headers[replicaHeader] === of ? versionIdOf(headers) : undefined
    } catch (error) {
      // There is no such key, or a delete marker is on top of it.
      if (error instanceof CopyRefused) return undefined
      throw error
    }
  }

  async write(original: OriginalVersion): Promise<string> {
    const parts = await original.parts()
    return parts.length === 0 ? this.#writeWhole(original) : this.#writeParts(original, parts)
  }

  async hide(key: string, marker: OriginalMarker): Promise<void> {
    await this.#ask({ method: 'DELETE', key, headers: copyHeaders(marker) })
  }

  async change(key: string, copy: string, { tags, retention, legalHold }: ObjectAttributes): Promise<void> {
    const at = (what: string) => ({ key, query: { [what]: '', versionId: copy } })
    const put = (what: string, document: string, more: Headers = {}) => {
      const { body, headers } = withMd5(Buffer.from(document))
      return this.#ask({ method: 'PUT', ...at(what), headers: { ...headers, ...more }, body })
    }
    try {
      if (tags.length === 0) await this.#ask({ method: 'DELETE', ...at('tagging') })
      else await put('tagging', `<Tagging><TagSet>${tags.map(tagElement).join('')}</TagSet></Tagging>`)
      if (retention !== undefined) {
        const until = new Date(retention.untilMs).toISOString()
        const document = `<Mode>${retention.mode}</Mode><RetainUntilDate>${until}</RetainUntilDate>`
        const retain = (headers: Headers = {}) => put('retention', `<Retention>${document}</Retention>`, headers)
        // Whoever weakened the lock of the original was allowed to. The key of the site may not be, and need not be as long as locks grow.
        await retain().catch((error: unknown) => {
          if (!isForbidden(error)) throw error
          return retain({ 'x-amz-bypass-governance-retention': 'true' })
        })
      }
      if (legalHold !== undefined) {
        await put('legal-hold', `<LegalHold><Status>${legalHold ? 'ON' : 'OFF'}</Status></LegalHold>`)
      }
    } catch (error) {
      if (!(error instanceof CopyRefused && error.cause instanceof EndpointRefused && isGone(error.cause))) throw error
    }
  }

  async #writeWhole(original: OriginalVersion): Promise<string> {
    const { key, record } = original
    const headers = { ...writeHeaders(original), ...checksumHeader(record.checksum) }
    const answer = await this.#send({ method: 'PUT', key, headers }, await original.open())
    return versionIdOf(answer.headers)
  }

  async #writeParts(original: OriginalVersion, parts: readonly PartRecord[]): Promise<string> {
    const { key, id, record } = original
    const headers = { ...writeHeaders(original), ...checksumKind(record.checksum) }
    const begun = await this.#ask({ method: 'POST', key, query: { uploads: '' }, headers })
    const uploadId = childText(readXml(begun.content.toString('utf8')), 'UploadId') ?? ''
    try {
      const isComposite = record.checksum?.type === 'COMPOSITE'
      await eachOf(parts, replicationLimits.partsAtOnce, async ({ number, checksum }) => {
        const part = { key, query: { partNumber: `${number}`, uploadId } }
        const sent = isComposite ? checksumHeader(checksum) : {}
        await this.#send({ method: 'PUT', ...part, headers: sent }, await original.open(number))
      })
      // Sending the parts took a while, and an earlier attempt may have got through since.
      const made = await this.newestCopyOf(key, id)
      if (made === undefined) return await this.#complete(key, uploadId, parts, isComposite)
      await this.#abort(key, uploadId)
      return made
    } catch (error) {
      await this.#abort(key, uploadId)
      throw error
    }
  }

  async #abort(key: string, uploadId: string): Promise<void> {
    await this.#ask({ method: 'DELETE', key, query: { uploadId } }).catch(() => {
      // It stays open until it expires.
    })
  }

  async #complete(key: string, uploadId: string, parts: readonly PartRecord[], isComposite: boolean): Promise<string> {
    const upload = { bucket: this.#bucket, key, uploadId, signal: this.#signal }
    const sent = parts.map(({ number, etag, checksum }) => ({
      number,
      etag,
      checksum: isComposite ? checksumElement(checksum) : '',
    }))
    const { versionId = nullVersionId } = await asCopy(() => completeUpload(this.#site, upload, sent))
    return versionId
  }

  /** Small bodies are read at once, so that their digest can be signed. */
  async #send(asked: Omit<EndpointRequest, 'bucket' | 'body'>, source: ByteSource): Promise<ReadAnswer> {
    if (source.size <= replicationLimits.bufferedBytesMax) {
      const { body, headers } = withMd5(await source.read())
      return this.#ask({ ...asked, headers: { ...headers, ...asked.headers }, body })
    }
    const hasDigest = Object.keys(asked.headers ?? {}).some((name) => name.startsWith('x-amz-checksum-'))
    const reading = streamOf(source)
    const body: StreamedBody = { stream: reading.stream, size: source.size, digested: !hasDigest }
    try {
      return await this.#ask({ ...asked, body })
    } catch (error) {
      // Where reading failed, that is the reason, whatever the other server answered.
      throw reading.failure() ?? error
    } finally {
      reading.stream.destroy()
    }
  }

  async #ask(asked: Omit<EndpointRequest, 'bucket'>): Promise<ReadAnswer> {
    return asCopy(() => this.#site.read({ ...asked, bucket: this.#bucket, signal: this.#signal }))
  }
}

async function asCopy<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof TransferFailed ? asFailedCopy(error) : error
  }
}

/** Whether a failure at a site concerns this copy or the destination as a whole. */
function asFailedCopy(error: TransferFailed): DestinationAway | CopyRefused {
  if (!(error instanceof EndpointRefused) || isTransient(error) || failsEveryCopy(error)) {
    return new DestinationAway(error.message)
  }
  const refused = new CopyRefused(
    error.message,
    [401, 403, 404].includes(error.status) ? 'if others are taken' : 'always',
  )
  refused.cause = error
  return refused
}

/** Whether every other copy would fail in the same way. */
const failsEveryCopy = ({ status, code }: EndpointRefused): boolean =>
  code === 'NoSuchBucket' || code === 'InvalidAccessKeyId' || code === 'SignatureDoesNotMatch' || status < 400

const isForbidden = (error: unknown): boolean =>
  error instanceof CopyRefused && error.cause instanceof EndpointRefused && error.cause.status === 403

const isGone = ({ status }: EndpointRefused): boolean => status === 404 || status === 405

/** Servers without versions name no version. */
const nullVersionId = 'null'

function versionIdOf(headers: ReadAnswer['headers']): string {
  const id = headers['x-amz-version-id']
  return typeof id === 'string' ? id : nullVersionId
}

const copyHeaders = ({ id, modifiedMs }: OriginalMarker): Headers => ({
  [replicaHeader]: id,
  [originalTimeHeader]: new Date(modifiedMs).toISOString(),
})

/** The headers of a write that describe the copy. */
function writeHeaders({ id, record, destination }: OriginalVersion): Headers {
  const { attributes, encryption } = record
  const { headers, metadata, tags, retention, legalHold, websiteRedirectLocation } = attributes
  const storageClass = destination.storageClass ?? attributes.storageClass
  const named: Record<string, string | undefined> = {
    'content-type': headers.contentType,
    'content-encoding': headers.contentEncoding,
    'content-language': headers.contentLanguage,
    'content-disposition': headers.contentDisposition,
    'cache-control': headers.cacheControl,
    expires: headers.expires,
    ...Object.fromEntries(Object.entries(metadata).map(([name, value]) => [`x-amz-meta-${name}`, value])),
    'x-amz-tagging': tags.length === 0 ? undefined : tags.map(tagPair).join('&'),
    'x-amz-storage-class': storageClass === 'STANDARD' ? undefined : storageClass,
    'x-amz-website-redirect-location': websiteRedirectLocation,
    'x-amz-object-lock-mode': retention?.mode,
    'x-amz-object-lock-retain-until-date': retention && new Date(retention.untilMs).toISOString(),
    'x-amz-object-lock-legal-hold': legalHold ? 'ON' : undefined,
    'x-amz-server-side-encryption': encryption && (encryption.by === 'kms' ? 'aws:kms' : 'AES256'),
    'x-amz-server-side-encryption-aws-kms-key-id': encryption?.by === 'kms' ? destination.kmsKeyId : undefined,
    ...copyHeaders({ id, modifiedMs: record.modifiedMs }),
  }
  return Object.fromEntries(
    Object.entries(named).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}

const tagPair = ({ key, value }: { key: string; value: string }): string =>
  `${percentEncode(key)}=${percentEncode(value)}`

const escaped = (text: string): string => text.replace(/[<>&"']/g, (char) => `&#${char.charCodeAt(0)};`)

const tagElement = ({ key, value }: { key: string; value: string }): string =>
  `<Tag><Key>${escaped(key)}</Key><Value>${escaped(value)}</Value></Tag>`

/** With the digest that S3 demands of writes with locks, and of some documents. */
const withMd5 = (body: Buffer): { body: Buffer; headers: Headers } => ({
  body,
  headers: { 'content-md5': hash('md5', body, 'base64') },
})

/** Only a checksum of the whole body can go with it. A composite one is made of those of the parts. */
function checksumHeader(checksum: Checksum | undefined): Headers {
  if (checksum === undefined || checksum.type === 'COMPOSITE') return {}
  return { [`x-amz-${checksumFields[checksum.algorithm].header}`]: checksum.value }
}

function checksumKind(checksum: Checksum | undefined): Headers {
  if (checksum === undefined) return {}
  return { 'x-amz-checksum-algorithm': checksum.algorithm, 'x-amz-checksum-type': checksum.type }
}

function checksumElement(checksum: Checksum | undefined): string {
  if (checksum === undefined) return ''
  const name = checksumFields[checksum.algorithm].element
  return `<${name}>${checksum.value}</${name}>`
}

/** The source gives its chunks as fast as the stream takes them. */
function streamOf(source: ByteSource): { stream: PassThrough; failure(): unknown } {
  const stream = new PassThrough()
  let failed: unknown
  const taken = async (chunk: Buffer): Promise<void> => {
    if (stream.destroyed) throw new Error('the request has ended')
    // The source reuses the chunk's memory.
    if (!stream.write(Buffer.from(chunk))) {
      await new Promise<void>((resolve) => stream.once('drain', resolve).once('close', resolve))
    }
  }
  source.drain(taken).then(
    () => stream.end(),
    (error: unknown) => {
      if (!stream.destroyed) failed = error
      stream.destroy(error instanceof Error ? error : new Error(String(error)))
    },
  )
  return { stream, failure: () => failed }
}
