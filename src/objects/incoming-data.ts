/** Incoming bytes: writes them as a blob, and keeps the blob only if they match what the client said about them. */

import type { Manifest } from '../blobs/blobs.ts'
import type { ByteSink, ByteSource, ClaimedSource } from '../byte-source.ts'
import {
  type ChecksumAlgorithm,
  checksumFields,
  createDigest,
  digestingSource,
  digestOf,
  digestsReady,
  isBase64Of,
} from '../checksums/checksums.ts'
import { md5InCompany } from '../checksums/md5-company.ts'
import type { Backend } from '../commits/backend.ts'
import type { BlobEncryption } from '../commits/encryption.ts'
import { encrypting } from '../encryption/segments.ts'
import { S3Error } from '../errors.ts'
import { limits } from '../limits.ts'
import { descriptionBytes } from '../records/description-bytes.ts'
import type { BlobDescription, Digested } from '../records/descriptions.ts'
import { StoreFull, StoreOut, StoreReadOnly, StoreUnreachable } from '../stores/shard-store.ts'
import type { WorkOrder } from '../threads/byte-work.ts'
import { checkedSource, type WorkedSource, workedSource } from '../threads/worked-source.ts'

/** A checksum to compute over the data. */
export interface ChecksumDemand {
  algorithm: ChecksumAlgorithm
  /** The client's value, in base64; `undefined` when it sent none. Called after the data has been read, because the value can follow the data. */
  expected(): string | undefined
}

export interface IncomingData {
  body: ClaimedSource
  /** Base64. */
  contentMd5?: string | undefined
  checksum?: ChecksumDemand | undefined
}

/** What is known about a body when all of it has been read and verified. */
export interface Received extends Digested {
  /** When its last byte had arrived, in milliseconds since the epoch. */
  receivedMs: number
}

/** A body as its blob stores it: verified against what the client said about it, sealed if it is encrypted. It has its digests when it has been read. */
export class DigestedPayload implements ByteSource {
  readonly size: number
  readonly #backend: Backend
  readonly #data: IncomingData
  readonly #encryption: BlobEncryption | undefined
  readonly #worked: WorkedSource
  #received: Received | undefined

  constructor(backend: Backend, sent: IncomingData, encryption: BlobEncryption | undefined) {
    this.#backend = backend
    this.#data = {
      body: sent.body,
      contentMd5: sent.contentMd5,
      checksum: sent.checksum ?? defaultDemand(backend),
    }
    this.#encryption = encryption
    this.#worked = digestingAndSealing(backend, this.#data, encryption?.key)
    this.size = this.#worked.size
  }

  /** Throws until all bytes have been read. */
  get received(): Received {
    if (this.#received === undefined) throw new Error('digests were asked for before the payload had been read')
    return this.#received
  }

  /** Rejects with BadDigest, InvalidRequest, and what the body rejects with. */
  async drain(sink: ByteSink): Promise<void> {
    await this.#worked.drain(sink)
    this.#received = this.#verified()
  }

  async read(): Promise<Buffer> {
    const bytes = await this.#worked.read()
    this.#received = this.#verified()
    return bytes
  }

  cancel(): void {
    this.#worked.cancel()
  }

  #verified(): Received {
    const { contentMd5, checksum: demand } = this.#claimed()
    const [md5, other] = this.#worked.digests()
    if (md5 === undefined) throw new Error('the MD5 was not computed')
    checkContentMd5(contentMd5, md5.toString('base64'))
    const plainEtag = md5.toString('hex')
    const etag = this.#encryption?.etagOf(plainEtag) ?? plainEtag
    const checksum = demand && verifiedChecksum(demand, demand.algorithm === 'MD5' ? md5 : other)
    return { etag, checksum, receivedMs: this.#backend.clock.now() }
  }

  /** What these bytes must match. A body that had another size than it said has nothing to match yet: `writeObject` writes it again, and checks it then. */
  #claimed(): IncomingData {
    const data = this.#data
    if (data.body.settledSize?.() === undefined) return data
    const checksum = data.checksum && { ...data.checksum, expected: () => undefined }
    return { ...data, contentMd5: undefined, checksum }
  }
}

/**
 * Writes a blob. `describe` must be pure: it is called for any number of shards, when all bytes have been read and verified.
 * Throws what the payload rejects with, and ServiceUnavailable when the stores are full, read-only or out of service. Keeps nothing when it throws.
 */
export async function writeBlob(
  backend: Backend,
  location: string,
  payload: DigestedPayload,
  describe: (received: Received) => BlobDescription,
): Promise<Manifest> {
  try {
    return await backend.blobs.write(location, {
      payload,
      describe: () => descriptionBytes(describe(payload.received)),
    })
  } catch (error) {
    const message = refusalOf(error)
    throw message === undefined ? error : new S3Error('ServiceUnavailable', { message, cause: error })
  }
}

/**
 * Removes a blob whose commit failed with `error`, if that was a decision against the commit. After any other failure the commit may have happened, so the
 * blob stays; if it is an orphan, reclaim finds it.
 */
export async function removeIfRefused(backend: Backend, manifest: Manifest, error: unknown): Promise<void> {
  if (error instanceof S3Error) await backend.blobs.remove([manifest])
}

function defaultDemand({ defaultChecksum: algorithm }: Backend): ChecksumDemand | undefined {
  return algorithm && { algorithm, expected: () => undefined }
}

/** The message for a client when the storage refuses its data; `undefined` for any other error. */
function refusalOf(error: unknown): string | undefined {
  if (error instanceof StoreFull) return 'The storage has no room left for new data. Deleting still works.'
  if (error instanceof StoreReadOnly || error instanceof StoreOut || error instanceof StoreUnreachable)
    return 'The storage takes no new data now.'
  return undefined
}

/**
 * Its digests are the MD5, then the demanded checksum if it is another one. Small bodies are processed on this thread, because handing them over costs more.
 * For a large body, the worker thread also computes the SHA-256 that the request claims.
 */
function digestingAndSealing(
  { threads }: Backend,
  { body, checksum }: IncomingData,
  key: Buffer | undefined,
): WorkedSource {
  const md5Alone = checksum === undefined || checksum.algorithm === 'MD5'
  const digests: WorkOrder['digests'] = md5Alone ? ['MD5'] : ['MD5', checksum.algorithm]
  if (body.size > limits.workInlineBytesMax) {
    const order = { digests, cipher: key && { kind: 'seal' as const, key, size: body.size } }
    return body.unchecked === undefined
      ? workedSource(threads, body, order)
      : checkedSource(threads, body.unchecked, order)
  }
  const digesting = new DigestedBody(body, digests)
  if (key === undefined) return digesting
  const sealed = encrypting(digesting, key)
  return {
    size: sealed.size,
    drain: (sink) => sealed.drain(sink),
    read: () => sealed.read(),
    cancel: () => sealed.cancel(),
    digests: () => digesting.digests(),
  }
}

/** A small body. It is nearly always read in one piece. */
class DigestedBody implements WorkedSource {
  readonly size: number
  readonly #body: ByteSource
  readonly #algorithms: WorkOrder['digests']
  #digests: readonly Buffer[] = []

  constructor(body: ByteSource, algorithms: WorkOrder['digests']) {
    this.size = body.size
    this.#body = body
    this.#algorithms = algorithms
  }

  digests(): readonly Buffer[] {
    return this.#digests
  }

  async drain(sink: ByteSink): Promise<void> {
    const loading = digestsReady(this.#algorithms)
    if (loading !== undefined) await loading
    const digests = this.#algorithms.map(createDigest)
    await digestingSource(this.#body, digests).drain(sink)
    this.#digests = digests.map((digest) => digest.digest())
  }

  async read(): Promise<Buffer> {
    const bytes = await this.#body.read()
    const loading = digestsReady(this.#algorithms)
    if (loading !== undefined) await loading
    const md5 = await md5InCompany(bytes)
    this.#digests = this.#algorithms.map((algorithm) => (algorithm === 'MD5' ? md5 : digestOf(algorithm, bytes)))
    return bytes
  }

  cancel(): void {
    this.#body.cancel()
  }
}

/** S3 names the digest that it expected of an object in hexadecimal digits, and the one that it calculated as the header has it. */
function checkContentMd5(expected: string | undefined, calculated: string): void {
  if (expected === undefined || expected === calculated) return
  const expectedHex = Buffer.from(expected, 'base64').toString('hex')
  throw new S3Error('BadDigest', { details: { ExpectedDigest: expectedHex, CalculatedDigest: calculated } })
}

function verifiedChecksum(demand: ChecksumDemand, computed: Buffer | undefined): Digested['checksum'] {
  const { algorithm } = demand
  if (computed === undefined) throw new Error(`the ${algorithm} was not computed`)
  const value = computed.toString('base64')
  checkExpected(algorithm, demand.expected(), value)
  return { algorithm, value }
}

function checkExpected(algorithm: ChecksumAlgorithm, expected: string | undefined, computed: string): void {
  if (expected === undefined || expected === computed) return
  const { header, bytes } = checksumFields[algorithm]
  if (!isBase64Of(bytes, expected)) {
    // A header was judged before the data was read, so this was a trailer.
    throw new S3Error('InvalidRequest', {
      vendorMessage: (prefixed) => `Value for ${prefixed(header)} trailing header is invalid.`,
    })
  }
  throw new S3Error('BadDigest', {
    message: `The ${algorithm} you specified did not match the calculated checksum.`,
  })
}
