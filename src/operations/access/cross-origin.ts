/**
 * The CORS rules of a bucket, applied to a request. Preflight requests are unsigned, so the answer is the same for a missing bucket and for one without rules
 * of its own.
 */
import type { Backend } from '../../commits/backend.ts'
import type { BucketScope } from '../../commits/scope.ts'
import { findBucketIfAny } from '../../objects/buckets.ts'
import type { CorsRule } from '../../records/bucket-record.ts'
import { type CrossOriginRequest, corsHeaders, corsMethods } from '../../rules/cors.ts'

export { corsMethods }

/** What an answer tells a page of another origin. */
export interface CrossOriginAnswer {
  /** Whether any rule holds for the bucket. */
  enabled: boolean
  /** Names and values alternate. `undefined`: no rule admits the request. */
  headers: readonly string[] | undefined
  /** Whether the page can read every header of the answer. */
  exposesAll: boolean
}

export class CrossOrigin {
  readonly #backend: Backend
  /** The rules of buckets that have none of their own. */
  readonly #standard: readonly CorsRule[] | undefined
  readonly #consoleOrigins: () => readonly string[]

  /**
   * `allowedOrigins`: their pages may use every bucket that has no rules of its own. `consoleOrigins`: exact origins, whose pages may use every bucket. Rules limit what
   * pages may do with what a browser sends by itself, and no browser signs by itself.
   */
  constructor(backend: Backend, allowedOrigins: readonly string[], consoleOrigins: () => readonly string[] = () => []) {
    this.#backend = backend
    this.#consoleOrigins = consoleOrigins
    this.#standard = allowedOrigins.length === 0 ? undefined : [standardRule(allowedOrigins)]
  }

  /** `bucket` is empty for the service. Rejects when the metadata can't be read. */
  async answerTo(bucket: string, request: CrossOriginRequest): Promise<CrossOriginAnswer> {
    if (this.#consoleOrigins().includes(request.origin)) {
      return { enabled: true, headers: corsHeaders([standardRule([request.origin])], request), exposesAll: true }
    }
    const own = await this.#rulesOf(bucket)
    const rules = own ?? this.#standard
    return {
      enabled: rules !== undefined,
      headers: rules && corsHeaders(rules, request),
      exposesAll: own === undefined,
    }
  }

  async #rulesOf(bucket: string): Promise<readonly CorsRule[] | undefined> {
    return (await findBucketIfAny(this.#backend, withoutPermission(bucket)))?.cors
  }
}

/** Needs no permission, because only the bucket's rules are read. */
const withoutPermission = (name: string): BucketScope => ({ name, admit: () => {} })

const standardRule = (allowedOrigins: readonly string[]): CorsRule => ({
  allowedOrigins,
  allowedMethods: corsMethods,
  allowedHeaders: ['*'],
  exposeHeaders: [],
})
