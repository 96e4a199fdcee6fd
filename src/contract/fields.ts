/** Builders of an operation's input and output fields: where each is in a request or an answer, and how it is parsed. */
import type { ByteSource, ClaimedSource } from '../byte-source.ts'
import { type ErrorCode, notImplemented, S3Error } from '../errors.ts'
import type { Infer, Shape } from './shapes.ts'
import { type Support, works } from './support.ts'
import type { Parser } from './values.ts'

/**
 * Where a field is.
 * - header: a plain HTTP header.
 * - vendor: a header that carries the dialect's prefix; a presigned URL can carry it in the query instead.
 * - vendor-prefix: all vendor headers whose name starts with this; decoded to a record by the rest of the name.
 * - query: a query parameter.
 * - form: a field that only form posts have. In an operation that is authenticated by its form, the headers are form fields too.
 */
export interface FieldPlace {
  in: 'header' | 'vendor' | 'vendor-prefix' | 'query' | 'form'
  /** The documented name; vendor names without prefix. Case matters only in the query. */
  name: string
}

export interface InputField<T> extends FieldPlace {
  support: Support
  required: boolean
  /** The answer to a request without a required field, where S3 has words of its own for it. */
  missing?: () => S3Error
  /** It may be sent many times, and its values are arrays, which are joined. */
  repeatable?: true
  /** Permissions that a request needs in addition to the operation's own if it sends this field with any value but `false`. */
  permissions?: readonly string[]
  parse: Parser<T>
}

export function header<T>(name: string, parse: Parser<T>): InputField<T | undefined> {
  return { in: 'header', name, parse, required: false, support: works }
}

export function vendor<T>(name: string, parse: Parser<T>): InputField<T | undefined> {
  return { in: 'vendor', name, parse, required: false, support: works }
}

export function query<T>(name: string, parse: Parser<T>): InputField<T | undefined> {
  return { in: 'query', name, parse, required: false, support: works }
}

/** A parameter that is sent once for each item of a list. */
export function queryList(name: string): InputField<readonly string[] | undefined> {
  return { ...query(name, (raw) => [raw]), repeatable: true }
}

export function formField<T>(name: string, parse: Parser<T>): InputField<T | undefined> {
  return { in: 'form', name, parse, required: false, support: works }
}

/** All vendor headers that start with `name`, as a record; empty when there are none. */
export function vendorPrefix(name: string): InputField<Record<string, string>> {
  return {
    in: 'vendor-prefix',
    name,
    required: false,
    support: works,
    // The decoder gathers a prefix field itself; a single value never reaches a parser.
    parse: (raw) => ({ [name]: raw }),
  }
}

/** A field that must be present. Without it: `missing`, or InvalidArgument for the query and InvalidRequest for a header. */
export function required<T>(field: InputField<T | undefined>, missing?: () => S3Error): InputField<T> {
  const { parse } = field
  return {
    ...field,
    required: true,
    ...(missing === undefined ? {} : { missing }),
    parse: (raw, name) => {
      const value = parse(raw, name)
      if (value === undefined) throw notImplemented(name)
      return value
    },
  }
}

/** A field that S3 knows and this server refuses (promise 4): by name, or with S3's own error for it. */
export function refused(
  place: 'header' | 'vendor' | 'query',
  name: string,
  refusal: ErrorCode = 'NotImplemented',
): InputField<undefined> {
  return {
    in: place,
    name,
    required: false,
    support: { here: 'refused', refusal },
    parse: (_raw, sentName) => {
      throw refusal === 'NotImplemented' ? notImplemented(sentName) : new S3Error(refusal)
    },
  }
}

/** Adds documentation of the values that work, and of the error with which the parser refuses others. */
export function worksOnly<T>(
  field: InputField<T>,
  only: string,
  refusal: ErrorCode = 'InvalidArgument',
): InputField<T> {
  return { ...field, support: { ...field.support, only, refusal } }
}

/** Adds permissions that a request with this field needs. */
export function needs<T>(field: InputField<T>, ...permissions: string[]): InputField<T> {
  return { ...field, permissions }
}

export type InputFields = Record<string, InputField<unknown>>

/** What a handler gets: the decoded value of every field. */
export type DecodedFields<F extends InputFields> = { [K in keyof F]: F[K] extends InputField<infer T> ? T : never }

/** The body of a request: raw data, decoded from aws-chunked and verified against the signature while it is read. */
export interface RequestBody extends ClaimedSource {
  /** Names of trailers announced after the data, without vendor prefix: `checksum-crc32`. */
  readonly trailerNames: readonly string[]
  /** The value of an announced trailer. Known when the body has been drained or read. */
  trailer(name: string): string | undefined
}

export type InputBody =
  | { kind: 'none' }
  /** Raw data, given to the handler as `body: RequestBody`. Its length must be announced: MissingContentLength otherwise. */
  | { kind: 'stream' }
  /**
   * An XML document, given to the handler decoded as `body`; `undefined` when absent and not required (required and absent: MissingRequestBodyError).
   * Content-MD5 and checksum headers are verified against it; with `digestRequired`, one of them must be there (InvalidRequest).
   * `by AWS`: only in AWS's dialect, because the interface document says of the other that Content-MD5 is not supported.
   */
  | {
      kind: 'xml'
      root: string
      shape: Shape
      required: boolean
      digestRequired: boolean | 'by AWS'
      bytesMax: number
      /** What the checksum headers describe: the body, unless stated otherwise. The handler verifies those of an object. */
      checksumsOf?: 'body' | 'object'
    }
  /** A JSON document, given to the handler as text: `body: string`, empty where there is none. Its digests are verified like those of XML. */
  | { kind: 'json'; bytesMax: number }

export type DecodedBody<B extends InputBody> = B extends { kind: 'stream' }
  ? { body: RequestBody }
  : B extends { kind: 'json' }
    ? { body: string }
    : B extends { kind: 'xml'; shape: infer S; required: infer R }
      ? { body: S extends Shape ? (R extends true ? Infer<S> : Infer<S> | undefined) : never }
      : unknown

export interface OutputField<T> extends FieldPlace {
  support: Support
  print: (value: T) => string
}

const asIs = (value: string): string => value

/** A response header. A value of `undefined` sends none. */
export function outHeader(name: string): OutputField<string> {
  return { in: 'header', name, support: works, print: asIs }
}

export function outVendor(name: string): OutputField<string> {
  return { in: 'vendor', name, support: works, print: asIs }
}

/** A header that S3 sends in cases that no bucket here has. It is declared so that the support table can say why it is absent, and can't get a value. */
export function absentUnless(name: string, when: string): OutputField<never> {
  return { in: 'vendor', name, support: { here: 'works', absentUnless: when }, print: asIs }
}

/** A record that is sent as one vendor header per entry. Values are sent as the bytes that the client sent. */
export function outVendorPrefix(name: string): OutputField<Record<string, string>> {
  return { in: 'vendor-prefix', name, support: works, print: () => '' }
}

export type OutputFields = Record<
  string,
  OutputField<never> | OutputField<string> | OutputField<Record<string, string>>
>

export type EncodedFields<F extends OutputFields> = {
  [K in keyof F]?: (F[K] extends OutputField<infer T> ? T : never) | undefined
}

export type OutputBody =
  /** `contentType`: what a document would be, for answers that have none. */
  | { kind: 'none'; contentType?: 'application/xml' }
  /** `body: ByteSource`. Content-Length is its size. */
  | { kind: 'stream' }
  /** `body`: the value of the shape. If `optional`, `undefined` sends no document. */
  | { kind: 'xml'; root: string; shape: Shape; optional?: boolean }
  /** `body: string`, sent unchanged. */
  | { kind: 'json' }

export type EncodedBody<B extends OutputBody> = B extends { kind: 'stream' }
  ? { body: ByteSource }
  : B extends { kind: 'json' }
    ? { body: string }
    : B extends { kind: 'xml'; shape: infer S }
      ? { body: S extends Shape ? Infer<S> | (B extends { optional: true } ? undefined : never) : never }
      : unknown
