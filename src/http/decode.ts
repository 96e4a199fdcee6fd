/** Compiles the declarations of an operation's inputs to closures: headers, vendor values and parameters to fields. Bodies are read elsewhere. */
import { checksumFields } from '../checksums/checksums.ts'
import type { InputField } from '../contract/fields.ts'
import type { Operation } from '../contract/operation.ts'
import { asksForGuarantee } from '../contract/vendor-headers.ts'
import { invalidArgument, notImplemented, S3Error } from '../errors.ts'
import { known } from '../known.ts'
import type { QueryParameter } from './address.ts'
import { isTransportName, singleValue, type VendorValue, type VendorValues } from './dialect.ts'
import type { RequestHead } from './request-head.ts'

export type Input = Record<string, unknown>

/** Collects the vendor headers that had no effect, as the client spelled them. */
export interface IgnoredHeaders {
  ignoredHeaders: string[] | undefined
}

/** Throws what the fields' parsers throw, InvalidArgument, InvalidRequest, and NotImplemented for a vendor header that asks for something unsupported. */
export type FieldDecoder = (
  head: RequestHead,
  query: readonly QueryParameter[],
  vendorValues: VendorValues,
  ignored: IgnoredHeaders,
) => Input

interface NamedField {
  /** In the handler's input. */
  key: string
  field: InputField<unknown>
}

/** Headers that a client may split over several lines: RFC 9110 section 5.3. */
const listHeaders: ReadonlySet<string> = new Set([
  'cache-control',
  'content-encoding',
  'content-language',
  'if-match',
  'if-none-match',
])

/** Vendor headers that hold lists: clients may send one item per line. */
const listVendorHeaders: ReadonlySet<string> = new Set(['object-attributes', 'optional-object-attributes'])

/** Vendor names that describe a body which is verified before the handler sees it, or which must be empty. */
const bodyDigests: readonly string[] = [
  'sdk-checksum-algorithm',
  ...Object.values(checksumFields).map(({ header }) => header),
]

export function compileFields<Context>(operation: Operation<Context>): FieldDecoder {
  const named = Object.entries(operation.input).map(([key, field]) => ({ key, field }))
  const headers = fieldsIn(named, 'header', lowerCase)
  // A form has no query: its own fields are passed as parameters.
  const parameters = new Map([...fieldsIn(named, 'query', (name) => name), ...fieldsIn(named, 'form', (name) => name)])
  const vendors = fieldsIn(named, 'vendor', lowerCase)
  const prefixes = named.filter(({ field }) => field.in === 'vendor-prefix')
  const required = named.filter(({ field }) => field.required)
  const accepted = new Set(describesItsBody(operation) ? bodyDigests : [])

  return (head, query, vendorValues, ignored) => {
    const input: Input = {}
    for (const { key } of prefixes) input[key] = Object.create(null)
    decodeHeaders(input, headers, head)
    decodeParameters(input, parameters, query)
    for (const [name, sent] of vendorValues) {
      const named = vendors.get(name)
      if (named !== undefined) {
        const value = listVendorHeaders.has(name) ? sent.value : singleValue(sent)
        input[named.key] = named.field.parse(value, sent.sentName)
      } else if (!isTransportName(name) && !accepted.has(name) && !addPrefixed(input, prefixes, name, sent.value)) {
        if (asksForGuarantee(name)) throw refusedHeader(name, sent)
        ignored.ignoredHeaders ??= []
        ignored.ignoredHeaders.push(sent.sentName)
      }
    }
    for (const missing of required) if (input[missing.key] === undefined) throw missingField(missing.field)
    return input
  }
}

function refusedHeader(name: string, { sentName, value }: VendorValue): S3Error {
  if (name !== 'copy-source') return notImplemented(sentName)
  return invalidArgument(sentName, value, 'You can only specify a copy source header for copy requests.')
}

/** A copy has no body either, but its checksum is the object's. */
function describesItsBody({ method, inputBody }: Pick<Operation<never>, 'method' | 'inputBody'>): boolean {
  return inputBody.kind === 'xml' || (inputBody.kind === 'none' && (method === 'GET' || method === 'HEAD'))
}

const lowerCase = (name: string): string => name.toLowerCase()

function fieldsIn(
  named: readonly NamedField[],
  place: InputField<unknown>['in'],
  nameOf: (name: string) => string,
): ReadonlyMap<string, NamedField> {
  const here = named.filter(({ field }) => field.in === place)
  return new Map(here.map((entry) => [nameOf(entry.field.name), entry]))
}

function decodeHeaders(
  input: Input,
  fields: ReadonlyMap<string, NamedField>,
  { names, rawHeaders }: RequestHead,
): void {
  if (fields.size === 0) return
  let joined: Set<string> | undefined
  for (let i = 0; i < names.length; i++) {
    const name = known(names[i])
    const named = fields.get(name)
    if (named === undefined) continue
    const { key, field } = named
    let value = known(rawHeaders[2 * i + 1])
    if (input[key] !== undefined) {
      if (!listHeaders.has(name))
        throw new S3Error('InvalidRequest', { message: `${field.name} was sent more than once.` })
      // `joined` already holds every line of this header. There may be thousands.
      if (joined?.has(name)) continue
      joined = (joined ?? new Set()).add(name)
      value = names.flatMap((other, at) => (other === name ? [rawHeaders[2 * at + 1]] : [])).join(', ')
    }
    input[key] = field.parse(value, field.name)
  }
}

function decodeParameters(
  input: Input,
  fields: ReadonlyMap<string, NamedField>,
  query: readonly QueryParameter[],
): void {
  for (const { name, value } of query) {
    const named = fields.get(name)
    // A client that names a version means one, so it must not get, or write over, another.
    if (named === undefined && name === 'versionId') {
      throw invalidArgument(name, value, 'This operation does not accept a version-id.')
    }
    if (named === undefined) continue
    const { key, field } = named
    const before = input[key]
    if (before === undefined) input[key] = field.parse(value, name)
    else if (field.repeatable === true && Array.isArray(before)) before.push(value)
    else throw invalidArgument(name, value, `${name} was sent more than once.`)
  }
}

/** Adds the value to the field that takes all names with its prefix. False: there is no such field. */
function addPrefixed(input: Input, prefixes: readonly NamedField[], name: string, value: string): boolean {
  const prefix = prefixes.find(({ field }) => name.startsWith(field.name) && name.length > field.name.length)
  if (prefix === undefined) return false
  const record = input[prefix.key] as Record<string, string>
  record[name.slice(prefix.field.name.length)] = value
  return true
}

function missingField({ in: place, name, missing }: InputField<unknown>): S3Error {
  if (missing !== undefined) return missing()
  if (place === 'query') return invalidArgument(name, '', `The parameter ${name} is required.`)
  return new S3Error('InvalidRequest', { message: `Missing required header for this request: ${name}` })
}
