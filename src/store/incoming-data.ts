/** Bytes on their way in: writes them as a blob, and keeps them only if they are what the client said they are. */
import type { ByteSink, ByteSource, ClaimedSource } from '../byte-source.ts'
import {
  type ChecksumAlgorithm,
  checksumFields,
  createDigest,
  digestingSource,
  digestOf,
  isBase64Of,
} from '../checksums/checksums.ts'
import { encrypting } from '../encryption/segments.ts'
import { S3Error } from '../errors.ts'
import { limits } from '../limits.ts'
import type { Manifest } from '../shards/blobs.ts'
import { StoreFull, StoreOut, StoreReadOnly } from '../shards/shard-store.ts'
import type { WorkOrder } from '../threads/byte-work.ts'
import { checkedSource, type WorkedSource, workedSource } from '../threads/worked-source.ts'
import type { Store } from './store.ts'

/** A checksum to compute over the data. */
export interface ChecksumDemand {
  algorithm: ChecksumAlgorithm
  /** What the client says it is, in base64; asked once the data has been read, as it may follow the data. `undefined`: it didn't say. */
  expected(): string | undefined
}

export interface IncomingData {
  body: ClaimedSource
  /** Base64. */
  contentMd5?: string | undefined
  checksum?: ChecksumDemand | undefined
}

/** How a blob is to be encrypted. */
export interface BlobEncryption {
  /** Of this blob alone. */
  key: Buffer
  /** What stands for the MD5 where that must not be told. Both in hex. */
  etagOf(md5: string): string
}

export interface Digested {
  /** MD5 in hex, or what stands for it: the entity tag of an object or part that was sent in one request. */
  etag: string
  /** Base64. */
  checksum: { algorithm: ChecksumAlgorithm; value: string } | undefined
}

/**
 * Writes a blob. `describe` is called with its digests when all bytes have been read and verified.
 * Throws BadDigest, InvalidDigest, what the body rejects with, and ServiceUnavailable when the stores are full; nothing is kept then.
 */
export async function writeBlob(
  store: Store,
  location: string,
  data: IncomingData,
  encryption: BlobEncryption | undefined,
  describe: (digested: Digested) => Buffer,
): Promise<{ manifest: Manifest; digested: Digested }> {
  const worked = digestingAndSealing(store, data, encryption?.key)

  let digested: Digested | undefined
  const verify = (): void => {
    const [md5, checksum] = worked.digests()
    if (md5 === undefined) throw new Error('the MD5 was not computed')
    if (data.contentMd5 !== undefined && md5.toString('base64') !== data.contentMd5) throw new S3Error('BadDigest')
    const etag = md5.toString('hex')
    digested = { etag: encryption?.etagOf(etag) ?? etag, checksum: undefined }
    if (checksum === undefined || data.checksum === undefined) return
    const { algorithm } = data.checksum
    const value = checksum.toString('base64')
    checkExpected(algorithm, data.checksum.expected(), value)
    digested.checksum = { algorithm, value }
  }
  const verified: ByteSource = {
    size: worked.size,
    drain: (sink) => worked.drain(sink).then(verify),
    read: () =>
      worked.read().then((bytes) => {
        verify()
        return bytes
      }),
    cancel: () => worked.cancel(),
  }
  const digestedOrThrow = (): Digested => {
    if (digested === undefined) throw new Error('the store asked for a description before it had read the payload')
    return digested
  }

  try {
    const manifest = await store.blobs.write(location, {
      payload: verified,
      describe: () => describe(digestedOrThrow()),
    })
    return { manifest, digested: digestedOrThrow() }
  } catch (error) {
    const message = refusalOf(error)
    throw message === undefined ? error : new S3Error('ServiceUnavailable', { message, cause: error })
  }
}

/** What a client is told whose data the storage does not take; `undefined` of any other error. */
function refusalOf(error: unknown): string | undefined {
  if (error instanceof StoreFull) return 'The storage has no room left for new data. Deleting still works.'
  if (error instanceof StoreReadOnly || error instanceof StoreOut) return 'The storage takes no new data now.'
  return undefined
}

/**
 * Gives the MD5, then what is demanded, as digests. Small bodies are worked on here: to hand them over to a thread would cost more. With a
 * large one the thread also computes the SHA-256 that was claimed of it.
 */
function digestingAndSealing(
  { threads }: Store,
  { body, checksum }: IncomingData,
  key: Buffer | undefined,
): WorkedSource {
  const digests: WorkOrder['digests'] = checksum === undefined ? ['MD5'] : ['MD5', checksum.algorithm]
  if (body.size > limits.workInlineBytesMax) {
    const order = { digests, cipher: key && { kind: 'seal' as const, key, size: body.size } }
    return body.unchecked === undefined
      ? workedSource(threads, body, order)
      : checkedSource(threads, body.unchecked, order)
  }
  const digesting = new DigestedBody(body, digests)
  const sealed = key === undefined ? digesting : encrypting(digesting, key)
  return {
    size: sealed.size,
    drain: (sink) => sealed.drain(sink),
    read: () => sealed.read(),
    cancel: () => sealed.cancel(),
    digests: () => digesting.digests(),
  }
}

/** A small body: read in one piece nearly always. */
class DigestedBody implements ByteSource {
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
    const digests = this.#algorithms.map(createDigest)
    await digestingSource(this.#body, digests).drain(sink)
    this.#digests = digests.map((digest) => digest.digest())
  }

  async read(): Promise<Buffer> {
    const bytes = await this.#body.read()
    this.#digests = this.#algorithms.map((algorithm) => digestOf(algorithm, bytes))
    return bytes
  }

  cancel(): void {
    this.#body.cancel()
  }
}

function checkExpected(algorithm: ChecksumAlgorithm, expected: string | undefined, computed: string): void {
  if (expected === undefined || expected === computed) return
  const { header, bytes } = checksumFields[algorithm]
  if (!isBase64Of(bytes, expected)) {
    throw new S3Error('InvalidRequest', { message: `Value for ${header} header is invalid.` })
  }
  throw new S3Error('BadDigest', {
    message: `The ${algorithm} you specified did not match the calculated checksum.`,
  })
}
