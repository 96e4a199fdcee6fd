/** The objects under one prefix of a bucket, through the AWS SDK. Only this file sends requests. Every request has a time limit, whatever the endpoint does. */
import { addAbortSignal, Readable } from 'node:stream'
import type { S3Client } from '@aws-sdk/client-s3'
import { limits } from '../../limits.ts'
import { willPassTraces } from '../../spans.ts'
import { DirectRequests } from './direct-requests.ts'
import { endpointFailure, isMissingObject, isPresent, isUnsatisfiableRange, isUnsupported } from './failures.ts'
import { loadSdk, type Sdk } from './sdk.ts'
import { traceRequestsOf } from './traced-request.ts'

/** Where a store of type s3 lies. Credentials come from the SDK's standard chain. */
export interface BucketAddress {
  /** URL, without credentials. */
  endpoint: string
  bucket: string
  /** Empty, or ends with a slash. */
  prefix: string
  region: string
  /** The bucket is named in the path, not in the host. */
  pathStyle: boolean
  /** A profile in the shared configuration and credentials files. Absent: the environment decides. */
  profile?: string | undefined
}

export interface FoundObject {
  /** Without the prefix. */
  key: string
  bytes: number
}

/** A part of an upload, in the form that the completion needs. */
export interface UploadedPart {
  PartNumber: number
  ETag: string | undefined
  ChecksumCRC32: string | undefined
}

/** `absent`: there is no such object. `short`: the object ends before the range begins. */
export type Opened = { body: Readable } | 'absent' | 'short'

const checksums = { ChecksumAlgorithm: 'CRC32' } as const

/** Throws `SdkMissing`. Sends no request. */
export async function openBucket(address: BucketAddress): Promise<ShardBucket> {
  return new ShardBucket(address, await loadSdk())
}

export class ShardBucket {
  readonly #address: BucketAddress
  readonly #sdk: Sdk
  readonly #client: S3Client
  /** Absent: the SDK names the host. */
  readonly #direct: DirectRequests | undefined
  #deletesMany = true
  /** The endpoint has accepted the condition of a PUT without quotes, and not with them. */
  #barePutConditions = false
  /** The controllers of requests that are not answered yet. */
  readonly #underWay = new Set<AbortController>()
  #readers = 0
  #isClosed = false

  constructor(address: BucketAddress, sdk: Sdk) {
    this.#address = address
    this.#sdk = sdk
    const sockets = { keepAlive: true, maxSockets: limits.remoteSocketsMax }
    this.#client = new sdk.S3Client({
      endpoint: address.endpoint,
      region: address.region,
      forcePathStyle: address.pathStyle,
      ...(address.profile === undefined ? {} : { profile: address.profile }),
      // One retry, for a connection that the endpoint closes just as it is reused. Callers have other stores to try, so more retries are not needed.
      maxAttempts: 2,
      // Our own checksums verify reads. The checksums in each request verify writes.
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestChecksumCalculation: 'WHEN_REQUIRED',
      requestHandler: { connectionTimeout: limits.remoteConnectMs, httpAgent: sockets, httpsAgent: sockets },
    })
    willPassTraces()
    traceRequestsOf(this.#client)
    const { endpoint, bucket, prefix, pathStyle } = address
    if (pathStyle) this.#direct = new DirectRequests(this.#client, endpoint, `${bucket}/${prefix}`)
  }

  /** For messages. */
  get name(): string {
    return `${this.#address.endpoint} ${this.#address.bucket}/${this.#address.prefix}`
  }

  /** Resolves when the endpoint has the object, verified by its checksum. */
  async put(key: string, body: Buffer, withinMs?: number): Promise<void> {
    await this.#send(async (signal) => {
      if (await this.#direct?.put(key, body, signal.abortSignal)) return
      const command = new this.#sdk.PutObjectCommand({ ...this.#object(key), ...checksums, Body: body })
      await this.#client.send(command, signal)
    }, withinMs)
  }

  /** Does not replace an existing object, except at an endpoint without conditional writes. Callers therefore check for one first. */
  async putAbsent(key: string, body: Buffer): Promise<void> {
    if ((await this.#putIf(key, body, { IfNoneMatch: '*' })) === 'unsupported') await this.put(key, body)
  }

  /** Opens the bytes from `start` up to `end`, or to the end of the object. The stream reads on demand; destroy it to abandon the rest. */
  async open(key: string, start: number, end?: number): Promise<Opened> {
    const range = start === 0 && end === undefined ? undefined : `bytes=${start}-${end === undefined ? '' : end - 1}`
    try {
      // After the answer begins, the reader decides how long to wait.
      const body = await this.#ask(async (signal) => {
        return (await this.#direct?.get(key, range, signal.abortSignal)) ?? this.#get(key, range, signal)
      })
      this.#readers++
      body.once('close', () => this.#endReader())
      return { body }
    } catch (error) {
      if (isMissingObject(error)) return 'absent'
      if (isUnsatisfiableRange(error)) return 'short'
      throw endpointFailure(error)
    }
  }

  /**
   * Replaces the object that has this ETag. Resolves with false when another object is there by now; an endpoint without conditional writes replaces any.
   * Ceph compares the condition of a PUT with the ETag without its quotes, so the standard form never holds there.
   */
  async replace(key: string, body: Buffer, etag: string | undefined): Promise<boolean> {
    const bare = etag?.replaceAll('"', '')
    if (!this.#barePutConditions) {
      const done = await this.#putIf(key, body, { IfMatch: etag })
      if (done === 'unsupported') await this.put(key, body)
      if (done !== false) return true
      if (bare === etag || (await this.find(key, limits.remoteProbeMs))?.etag !== etag) return false
    }
    const done = (await this.#putIf(key, body, { IfMatch: bare })) === true
    this.#barePutConditions ||= done
    return done
  }

  /** Reads a small object whole; `undefined` when there is none. */
  async find(
    key: string,
    withinMs: number = limits.remoteAnswerMs,
  ): Promise<{ bytes: Buffer; etag: string | undefined } | undefined> {
    const command = new this.#sdk.GetObjectCommand(this.#object(key))
    try {
      return await this.#ask(async (signal) => {
        const { Body, ETag: etag } = await this.#client.send(command, signal)
        if (!(Body instanceof Readable)) throw new Error('the answer has no body')
        return { bytes: Buffer.concat(await addAbortSignal(signal.abortSignal, Body).toArray()), etag }
      }, withinMs)
    } catch (error) {
      if (isMissingObject(error)) return undefined
      throw endpointFailure(error)
    }
  }

  async startUpload(key: string): Promise<string> {
    const command = new this.#sdk.CreateMultipartUploadCommand({ ...this.#object(key), ...checksums })
    const { UploadId } = await this.#send((signal) => this.#client.send(command, signal))
    if (UploadId === undefined) throw new Error('the endpoint began an upload without a name')
    return UploadId
  }

  async putPart(key: string, upload: string, PartNumber: number, body: Buffer): Promise<UploadedPart> {
    const request = { ...this.#object(key), ...checksums, UploadId: upload, PartNumber, Body: body }
    const command = new this.#sdk.UploadPartCommand(request)
    const { ETag, ChecksumCRC32 } = await this.#send((signal) => this.#client.send(command, signal))
    return { PartNumber, ETag, ChecksumCRC32 }
  }

  async completeUpload(key: string, upload: string, parts: UploadedPart[]): Promise<void> {
    const request = { ...this.#object(key), UploadId: upload, MultipartUpload: { Parts: parts } }
    const command = new this.#sdk.CompleteMultipartUploadCommand(request)
    await this.#send((signal) => this.#client.send(command, signal))
  }

  async abortUpload(key: string, upload: string): Promise<void> {
    const command = new this.#sdk.AbortMultipartUploadCommand({ ...this.#object(key), UploadId: upload })
    await this.#send((signal) => this.#client.send(command, signal), limits.remoteProbeMs)
  }

  /** Aborts uploads that will never be completed. At an endpoint that can't list uploads, they stay. */
  async abortUploads(under: string): Promise<void> {
    const { bucket, prefix } = this.#address
    let marker: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } = {}
    for (;;) {
      const command = new this.#sdk.ListMultipartUploadsCommand({ Bucket: bucket, Prefix: prefix + under, ...marker })
      const page = await this.#ask((signal) => this.#client.send(command, signal)).catch((error: unknown) => {
        if (!isUnsupported(error)) throw endpointFailure(error)
        return undefined
      })
      for (const { Key, UploadId } of page?.Uploads ?? []) {
        if (Key?.startsWith(prefix + under) && UploadId !== undefined) {
          await this.abortUpload(Key.slice(prefix.length), UploadId)
        }
      }
      if (page?.IsTruncated !== true) return
      marker = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker }
    }
  }

  /** Idempotent. */
  async delete(keys: readonly string[]): Promise<void> {
    for (let at = 0; at < keys.length; at += limits.deleteObjectsMax) {
      const some = keys.slice(at, at + limits.deleteObjectsMax)
      if (some.length > 1 && this.#deletesMany) this.#deletesMany = await this.#deleteMany(some)
      if (some.length > 1 && this.#deletesMany) continue
      for (let i = 0; i < some.length; i += limits.remoteRequestsAtOnce) {
        await Promise.all(some.slice(i, i + limits.remoteRequestsAtOnce).map((key) => this.#deleteOne(key)))
      }
    }
  }

  /** In the order of their keys. */
  async *list(under: string): AsyncGenerator<FoundObject> {
    for await (const page of this.pages(under)) yield* page
  }

  /** The same, page by page. */
  async *pages(under: string): AsyncGenerator<FoundObject[]> {
    const { bucket, prefix } = this.#address
    let token: string | undefined
    do {
      const request = { Bucket: bucket, Prefix: prefix + under, ContinuationToken: token }
      const page = await this.#send((signal) => this.#client.send(new this.#sdk.ListObjectsV2Command(request), signal))
      yield (page.Contents ?? []).flatMap(({ Key, Size }) =>
        Key?.startsWith(prefix + under) ? [{ key: Key.slice(prefix.length), bytes: Size ?? 0 }] : [],
      )
      token = page.IsTruncated === true ? page.NextContinuationToken : undefined
    } while (token !== undefined)
  }

  /** Fails all unanswered requests, because the endpoint is known to be unreachable and callers can go on without it. */
  giveUp(): void {
    for (const request of this.#underWay) request.abort()
  }

  /** Open streams can still be read to their end. */
  close(): void {
    this.#isClosed = true
    if (this.#readers === 0) this.#client.destroy()
  }

  #endReader(): void {
    this.#readers--
    if (this.#isClosed && this.#readers === 0) this.#client.destroy()
  }

  async #get(key: string, Range: string | undefined, signal: Signal): Promise<Readable> {
    const command = new this.#sdk.GetObjectCommand({ ...this.#object(key), Range })
    const { Body, ContentRange } = await this.#client.send(command, signal)
    if (!(Body instanceof Readable)) throw new Error('the answer has no body')
    if (Range === undefined || ContentRange !== undefined) return Body
    Body.on('error', () => {}).destroy()
    throw new Error('the endpoint ignores that a range is asked for')
  }

  #object(key: string): { Bucket: string; Key: string } {
    return { Bucket: this.#address.bucket, Key: this.#address.prefix + key }
  }

  /** Resolves with whether the condition held. */
  async #putIf(key: string, body: Buffer, condition: PutCondition): Promise<boolean | 'unsupported'> {
    const command = new this.#sdk.PutObjectCommand({ ...this.#object(key), ...checksums, ...condition, Body: body })
    try {
      await this.#ask((signal) => this.#client.send(command, signal))
      return true
    } catch (error) {
      if (isPresent(error)) return false
      if (isUnsupported(error)) return 'unsupported'
      throw endpointFailure(error)
    }
  }

  async #deleteOne(key: string): Promise<void> {
    const command = new this.#sdk.DeleteObjectCommand(this.#object(key))
    await this.#ask((signal) => this.#client.send(command, signal), limits.remoteProbeMs).catch((error: unknown) => {
      if (!isMissingObject(error)) throw endpointFailure(error)
    })
  }

  /** Resolves with whether the endpoint supports it. */
  async #deleteMany(keys: readonly string[]): Promise<boolean> {
    const Delete = { Objects: keys.map((key) => ({ Key: this.#address.prefix + key })), Quiet: true }
    const command = new this.#sdk.DeleteObjectsCommand({ Bucket: this.#address.bucket, Delete, ...checksums })
    const answer = await this.#ask((signal) => this.#client.send(command, signal)).catch((error: unknown) => {
      if (!isUnsupported(error)) throw endpointFailure(error)
      return undefined
    })
    const failed = answer?.Errors?.find(({ Code }) => Code !== 'NoSuchKey')
    if (failed !== undefined) throw new Error(`the endpoint did not delete an object: ${failed.Code} ${failed.Message}`)
    return answer !== undefined
  }

  async #send<T>(request: (signal: Signal) => Promise<T>, withinMs?: number): Promise<T> {
    return this.#ask(request, withinMs).catch((error: unknown) => {
      throw endpointFailure(error)
    })
  }

  /** Rejects with what the SDK rejects with. */
  async #ask<T>(request: (signal: Signal) => Promise<T>, ms: number = limits.remoteAnswerMs): Promise<T> {
    const abort = new AbortController()
    const timer = setTimeout(() => abort.abort(), ms)
    this.#underWay.add(abort)
    try {
      return await request({ abortSignal: abort.signal })
    } finally {
      clearTimeout(timer)
      this.#underWay.delete(abort)
    }
  }
}

interface PutCondition {
  IfMatch?: string | undefined
  IfNoneMatch?: string
}

interface Signal {
  abortSignal: AbortSignal
}
