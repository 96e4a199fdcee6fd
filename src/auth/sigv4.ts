/**
 * AWS Signature Version 4: scopes, signing keys, signatures of requests, chunks and trailers. Pure; both dialects share it.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-authenticating-requests.html
 */
import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import { HmacKey, sha256OfText } from './hmac-key.ts'

export const algorithm = 'AWS4-HMAC-SHA256'
/** `sts` is the service of requests for temporary keys. */
export const scopeServices = ['s3', 'sts'] as const
export type ScopeService = (typeof scopeServices)[number]
export const scopeTerminator = 'aws4_request'

/** What a signing key is valid for. */
export interface Scope {
  accessKeyId: string
  /** yyyymmdd. */
  date: string
  region: string
  service: ScopeService
  /** The signed form: `date/region/s3/aws4_request`. */
  text: string
  /** The form that clients send: the access key's id, a slash, and `text`. */
  credential: string
}

export function deriveSigningKey(secretAccessKey: string, scope: Scope): HmacKey {
  const steps = [scope.date, scope.region, scope.service, scopeTerminator]
  const start = Buffer.from(`AWS4${secretAccessKey}`)
  return new HmacKey(steps.reduce((key, step) => createHmac('sha256', key).update(step).digest(), start))
}

export function stringToSign(timestamp: string, scope: Scope, canonicalRequest: string): string {
  return `${algorithm}\n${timestamp}\n${scope.text}\n${sha256OfText(canonicalRequest)}`
}

/** `text` is ASCII. */
export function signature(key: HmacKey, text: string): string {
  return key.sign(text)
}

/** Compares in constant time for signatures of the same length. */
export function sameSignature(expected: string, claimed: string): boolean {
  if (expected.length !== signatureChars || claimed.length !== signatureChars) return false
  expectedBytes.write(expected, 'latin1')
  claimedBytes.write(claimed, 'latin1')
  return timingSafeEqual(expectedBytes, claimedBytes)
}

const signatureChars = 64
const expectedBytes = Buffer.alloc(signatureChars)
const claimedBytes = Buffer.alloc(signatureChars)

const emptyHash = hash('sha256', '')

/** The signatures of a body sent in chunks. Each covers the previous one, and the first covers the request's own. */
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

/** Milliseconds since the epoch of `yyyymmddThhmmssZ`. `undefined`: the text has another form. */
export function parseTimestamp(text: string): number | undefined {
  if (text.length !== 16 || text[8] !== 'T' || text[15] !== 'Z') return undefined
  const [month, day] = [digits(text, 4, 6), digits(text, 6, 8)]
  const [hour, minute, second] = [digits(text, 9, 11), digits(text, 11, 13), digits(text, 13, 15)]
  if (!(month >= 1 && month <= 12 && day >= 1 && day <= 31 && hour <= 23 && minute <= 59 && second <= 59)) {
    return undefined
  }
  const ms = Date.UTC(digits(text, 0, 4), month - 1, day, hour, minute, second)
  return Number.isNaN(ms) ? undefined : ms
}

/** NaN when a character is not a digit. */
function digits(text: string, from: number, to: number): number {
  let value = 0
  for (let at = from; at < to; at++) {
    const digit = text.charCodeAt(at) - 0x30
    value = digit >= 0 && digit <= 9 ? value * 10 + digit : Number.NaN
  }
  return value
}

/** `ms` as `yyyymmddThhmmssZ`. */
export function formatTimestamp(ms: number): string {
  return new Date(ms).toISOString().replace(/[-:]|\.\d{3}/g, '')
}
