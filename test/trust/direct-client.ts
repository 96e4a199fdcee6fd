/** Calls operations in process, as the protocol layer does once a request is verified and decoded: no socket, so that a thousand sequences take seconds. */
import { createHash } from 'node:crypto'
import type { Principal } from '../../src/auth/principal.ts'
import { type ByteSource, bytesSource } from '../../src/byte-source.ts'
import type { Backend } from '../../src/commits/backend.ts'
import type { RequestBody } from '../../src/contract/fields.ts'
import type { Answer, Operation } from '../../src/contract/operation.ts'
import { type ErrorCode, S3Error } from '../../src/errors.ts'
import type { OperationContext } from '../../src/operations/context.ts'
import { run } from '../../src/operations/run.ts'
import { operations } from '../../src/operations/table.ts'
import type { Retention } from '../../src/records/object-attributes.ts'

export type Code = 'ok' | ErrorCode

export interface Outcome {
  code: Code
  /** Empty after an error. */
  answer: Answer
  /** Headers of an error, by unprefixed vendor name. */
  vendorHeaders: Readonly<Record<string, string>>
}

export interface Lock {
  retention?: Retention | undefined
  hold?: boolean | undefined
}

export const owner: Principal = { accountId: 'main', displayName: 'Main', accessKeyId: 'key' }

const byName = new Map(operations.map((operation) => [operation.name, operation]))

/** An operation of the table. */
function operation(name: string): Operation<OperationContext> {
  const found = byName.get(name)
  if (found === undefined) throw new Error(`no operation ${name}`)
  return found
}

export interface Call {
  bucket?: string
  key?: string
  as?: Principal
  expectedBucketOwner?: string
}

/** One caller of one store. */
export class DirectClient {
  readonly #backend: Backend
  readonly #bucket: string
  readonly #watch: (name: string, outcome: Outcome) => void

  /** `watch` is told of every answer. */
  constructor(backend: Backend, bucket: string, watch: (name: string, outcome: Outcome) => void = () => {}) {
    this.#backend = backend
    this.#bucket = bucket
    this.#watch = watch
  }

  /** Anything but an answer or an error of the table is a bug, and rejects. */
  async ask(name: string, call: Call = {}, input: Record<string, unknown> = {}): Promise<Outcome> {
    const outcome = await this.#run(name, call, input)
    this.#watch(name, outcome)
    return outcome
  }

  async #run(name: string, call: Call, input: Record<string, unknown>): Promise<Outcome> {
    const { bucket = this.#bucket, key = '', as: principal = owner, expectedBucketOwner } = call
    const request = {
      backend: this.#backend,
      principal,
      conditionValue: () => undefined,
      accountName: (id: string) => id,
      isAccount: () => false,
      requestId: 'request',
      presigned: false,
      bucket,
      key,
      expectedBucketOwner,
      resourceUrl: `http://localhost/${bucket}/${key}`,
      region: 'us-east-1',
      customerKeysMayTravel: true,
    }
    try {
      const answer = await run(operation(name), request, { metadata: {}, ...input })
      return { code: 'ok', answer, vendorHeaders: {} }
    } catch (error) {
      if (!(error instanceof S3Error)) throw error
      return { code: error.code, answer: {}, vendorHeaders: error.vendorHeaders }
    }
  }

  /** For what only prepares: throws unless it succeeds. */
  async must(name: string, call: Call = {}, input: Record<string, unknown> = {}): Promise<Answer> {
    const { code, answer } = await this.ask(name, call, input)
    if (code !== 'ok') throw new Error(`${name} was answered ${code}`)
    return answer
  }

  /** An upload of one part, up to but without its completion: the inputs of CompleteMultipartUpload. */
  async upload(key: string, bytes: Buffer, lock: Lock = {}, tagging?: string): Promise<Record<string, unknown>> {
    const begun = await this.must('CreateMultipartUpload', { key }, { ...lockInputs(lock), tagging })
    const { UploadId: uploadId } = begun.body as { UploadId: string }
    const { etag } = await this.must('UploadPart', { key }, { uploadId, partNumber: 1, ...putInputs(bytes) })
    return { uploadId, body: { Part: [{ PartNumber: 1, ETag: etag }] } }
  }
}

/** The inputs that make a PutObject. */
export function putInputs(bytes: Buffer, lock: Lock = {}): Record<string, unknown> {
  return { ...digested(bytes), ...lockInputs(lock) }
}

/** Data with the digest that S3 asks for where it is to be locked. */
const digested = (bytes: Buffer): Record<string, unknown> => ({
  body: dataOf(bytes),
  contentMd5: createHash('md5').update(bytes).digest('base64'),
})

export function lockInputs({ retention, hold }: Lock): Record<string, unknown> {
  return {
    objectLockMode: retention?.mode,
    objectLockRetainUntilDate: retention?.untilMs,
    objectLockLegalHold: hold === undefined ? undefined : hold ? 'ON' : 'OFF',
  }
}

export function dataOf(bytes: Buffer): RequestBody {
  return { ...bytesSource(bytes), trailerNames: [], trailer: () => undefined }
}

export function bytesOf({ body }: Answer): Promise<Buffer> {
  return (body as ByteSource).read()
}
