/**
 * AWS Signature Version 4: scopes, signing keys, signatures of requests, chunks and trailers. Pure; both dialects share it.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-authenticating-requests.html
 */
import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import { HmacKey } from './hmac-key.ts'

export const algorithm = 'AWS4-HMAC-SHA256'
export const scopeService = 's3'
export const scopeTerminator = 'aws4_request'

/** For what a signing key is good. */
export interface Scope {
  accessKeyId: string
  /** yyyymmdd. */
  date: string
  region: string
  /** As signed: `date/region/s3/aws4_request`. */
  text: string
}

export function deriveSigningKey(secretAccessKey: string, scope: Scope): HmacKey {
  const steps = [scope.date, scope.region, scopeService, scopeTerminator]
  const start = Buffer.from(`AWS4${secretAccessKey}`)
  return new HmacKey(steps.reduce((key, step) => createHmac('sha256', key).update(step).digest(), start))
}

export function stringToSign(timestamp: string, scope: Scope, canonicalRequest: string): string {
  return `${algorithm}\n${timestamp}\n${scope.text}\n${hash('sha256', Buffer.from(canonicalRequest, 'latin1'))}`
}

/** `text` is ASCII. */
export function signature(key: HmacKey, text: string): string {
  return key.sign(text)
}

/** Takes the same time wherever two signatures of one length differ. */
export function sameSignature(expected: string, claimed: string): boolean {
  return (
    expected.length === claimed.length &&
    timingSafeEqual(Buffer.from(expected, 'latin1'), Buffer.from(claimed, 'latin1'))
  )
}

const emptyHash = hash('sha256', '')

/** The signatures of a body sent in chunks: each covers the one before it, the first the request's own. */
export class ChunkSignatures {
  readonly #key: HmacKey
  readonly #context: string
  #previous: string

  constructor(key: HmacKey, timestamp: string, scope: Scope, seed: string) {
    this.#key = key
    this.#context = `${timestamp}\n${scope.text}`
    this.#previous = seed
  }

  /** Whether `claimed` signs the next chunk, whose data has this SHA-256 in hex. */
  acceptChunk(sha256: string, claimed: string): boolean {
    return this.#accept(
      `AWS4-HMAC-SHA256-PAYLOAD\n${this.#context}\n${this.#previous}\n${emptyHash}\n${sha256}`,
      claimed,
    )
  }

  /** Whether `claimed` signs the trailers, whose canonical form has this SHA-256 in hex. */
  acceptTrailer(sha256: string, claimed: string): boolean {
    return this.#accept(`AWS4-HMAC-SHA256-TRAILER\n${this.#context}\n${this.#previous}\n${sha256}`, claimed)
  }

  #accept(text: string, claimed: string): boolean {
    const expected = signature(this.#key, text)
    if (!sameSignature(expected, claimed)) return false
    this.#previous = expected
    return true
  }
}

/** Milliseconds since the epoch of `yyyymmddThhmmssZ`, or `undefined` when it is not that. */
export function parseTimestamp(text: string): number | undefined {
  if (!/^\d{8}T\d{6}Z$/.test(text)) return undefined
  const [month, day] = [Number(text.slice(4, 6)), Number(text.slice(6, 8))]
  const [hour, minute, second] = [Number(text.slice(9, 11)), Number(text.slice(11, 13)), Number(text.slice(13, 15))]
  if (month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 59) return undefined
  return Date.UTC(Number(text.slice(0, 4)), month - 1, day, hour, minute, second)
}

/** `ms` as `yyyymmddThhmmssZ`. */
export function formatTimestamp(ms: number): string {
  return new Date(ms).toISOString().replace(/[-:]|\.\d{3}/g, '')
}
