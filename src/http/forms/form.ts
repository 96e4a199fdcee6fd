/** A form post as the request that it stands for: who signed it, which object it addresses, and its fields in place of headers. */
import { checkFormPolicy, type FormFields, parseFormPolicy } from '../../auth/form-policy.ts'
import { nobody, type Principal } from '../../auth/principal.ts'
import { type FormRules, verifyForm } from '../../auth/verify-form.ts'
import type { Infer } from '../../contract/shapes.ts'
import { invalidArgument, S3Error } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { objectInputs } from '../../operations/objects/put-object.ts'
import { objectTags, sentTaggingShape } from '../../operations/objects/tagging-document.ts'
import { type Address, checkAddress, checkHeaderName, headerBytes, type QueryParameter } from '../address.ts'
import { addVendorValue, amzDialect, type Dialect, dialectOfName, storeDialect, type VendorValues } from '../dialect.ts'
import type { RequestHead } from '../request-head.ts'
import { compileXmlReader } from '../xml/xml-read.ts'
import type { FormBody, FormField } from './form-body.ts'
import type { FileBounds } from './form-file.ts'

export interface FormRequest {
  principal: Principal
  /** The policy's bounds for the file's size. */
  bounds: FileBounds
  address: Address
  /** The form's own fields. */
  parameters: readonly QueryParameter[]
  vendorValues: VendorValues
  /** The head of a PutObject with the form's fields as its headers. */
  head: RequestHead
}

/** The dialect in which a form is signed; `otherwise` when nothing in the form tells. */
export function dialectOfForm(fields: readonly FormField[], otherwise: Dialect): Dialect {
  const names = fields.map(({ name }) => name.toLowerCase())
  for (const dialect of [amzDialect, storeDialect]) if (names.includes(`${dialect.prefix}signature`)) return dialect
  if (names.includes('awsaccesskeyid')) return amzDialect
  return names.map(dialectOfName).find((dialect) => dialect !== undefined) ?? otherwise
}

/**
 * Throws the S3Error for a signature that can't be verified, AccessDenied when the policy does not allow the form, and the errors of malformed fields.
 */
export function readForm(form: FormBody, head: RequestHead, bucket: string, rules: FormRules): FormRequest {
  const fields = withFilename(onceEach(form.fields), form.filename)
  const values: FormFields = new Map([...fields].map(([name, { value }]) => [name, value]))
  const principal = verifyForm(values, rules)
  const key = keyOf(values)
  return {
    principal,
    bounds: principal === nobody ? unbound : boundsByPolicy(values, bucket, rules),
    address: checkAddress({ target: 'object', bucket, key }),
    parameters: [...values].map(([name, value]) => ({ name, value })),
    vendorValues: vendorValuesOf(fields, head.dialect),
    head: headOf(fields, head, key),
  }
}

/** Throws InvalidArgument. */
function keyOf(values: FormFields): string {
  const key = values.get('key')
  if (key === undefined) {
    const order = 'If it is specified, please check the order of the fields.'
    throw invalidArgument('key', '', `Bucket POST must contain a field named 'key'.  ${order}`)
  }
  if (key === '') throw invalidArgument('key', '', 'User key must have a length greater than 0.')
  return key
}

/** For an unsigned form, which has no policy: the bucket alone decides. */
const unbound: FileBounds = { fileBytesMin: 0, fileBytesMax: limits.putBytesMax }

/** Throws AccessDenied where the policy does not allow the form. */
function boundsByPolicy(values: FormFields, bucket: string, { nowMs }: FormRules): FileBounds {
  const policy = parseFormPolicy(values.get('policy') ?? '')
  checkFormPolicy(policy, values, bucket, nowMs)
  const { fileBytesMin, fileBytesMax } = policy
  return { fileBytesMin, fileBytesMax: Math.min(fileBytesMax, limits.putBytesMax) }
}

type Fields = ReadonlyMap<string, FormField>

/** Fields by lower-case name. Throws InvalidArgument for a field that came twice: S3 and a proxy could each take a different one. */
function onceEach(sent: readonly FormField[]): Fields {
  const fields = new Map<string, FormField>()
  for (const field of sent) {
    const name = field.name.toLowerCase()
    if (fields.has(name) && name.startsWith('x-ignore-')) continue
    if (fields.has(name)) throw invalidArgument(field.name, field.value, `${field.name} was sent more than once.`)
    fields.set(name, field)
  }
  return fields
}

const filenameMark = '${' + 'filename}'

/** Replaces `${filename}` in every field, as S3 does. It stays where the file has no name. */
function withFilename(fields: Fields, filename: string | undefined): Fields {
  const replaced = new Map<string, FormField>()
  let bytes = 0
  for (const [lowerName, { name, value }] of fields) {
    const pieces = filename === undefined ? [value] : value.split(filenameMark)
    bytes += value.length + (pieces.length - 1) * (filename?.length ?? 0)
    if (bytes > limits.formFieldsBytesMax) throw new S3Error('MaxPostPreDataLengthExceeded')
    replaced.set(lowerName, { name, value: pieces.join(filename) })
  }
  return replaced
}

/** Collects vendor values. Some fields have no prefix in a form, though their headers have one. */
function vendorValuesOf(fields: Fields, dialect: Dialect): VendorValues {
  const vendorValues: VendorValues = new Map()
  for (const [lowerName, { name, value }] of fields) {
    const spoken = dialectOfName(lowerName)
    if (spoken !== undefined) addVendorValue(vendorValues, spoken, checkHeaderName(name), headerBytes(name, value))
  }
  const add = (name: string, value: string): void => {
    addVendorValue(vendorValues, dialect, dialect.prefix + name, value)
  }
  const acl = fields.get('acl')
  if (acl !== undefined) add('acl', headerBytes('acl', acl.value))
  const tagging = fields.get('tagging')
  if (tagging !== undefined) add('tagging', taggingHeader(tagging.value))
  return vendorValues
}

const readTagging = compileXmlReader('Tagging', sentTaggingShape)

/** Turns a form's tagging field, which holds the document of PutObjectTagging, into the header's syntax. Throws MalformedXML, and what `checkTags` throws. */
function taggingHeader(document: string): string {
  const tags = objectTags(readTagging(Buffer.from(document)) as Infer<typeof sentTaggingShape>)
  return tags.map(({ key, value }) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`).join('&')
}

const headerNames: ReadonlySet<string> = new Set(
  Object.values(objectInputs).flatMap(({ in: place, name }) => (place === 'header' ? [name.toLowerCase()] : [])),
)

function headOf(fields: Fields, head: RequestHead, key: string): RequestHead {
  const names: string[] = []
  const rawHeaders: string[] = []
  for (const [lowerName, { name, value }] of fields) {
    if (!headerNames.has(lowerName)) continue
    names.push(lowerName)
    rawHeaders.push(name, headerBytes(name, value))
  }
  const folder = head.rawPath.endsWith('/') ? head.rawPath : `${head.rawPath}/`
  const rawPath = folder + key.split('/').map(encodeURIComponent).join('/')
  return { ...head, names, rawHeaders, rawPath }
}
