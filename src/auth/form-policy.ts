/**
 * The policy of a form post: what its document says, and whether it allows a form. Pure.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-HTTPPOSTConstructPolicy.html
 */
import { S3Error } from '../errors.ts'

/** Fields of a form by their lower-case names. Names of form fields mean the same in any case. */
export type FormFields = ReadonlyMap<string, string>

export interface FormPolicy {
  expiresMs: number
  conditions: readonly FieldCondition[]
  /** How long the file may be, inclusive. */
  fileBytesMin: number
  fileBytesMax: number
}

export interface FieldCondition {
  operator: 'eq' | 'starts-with'
  /** The field's name as the policy spells it, without the dollar sign. */
  field: string
  value: string
}

const invalid = (what: string): S3Error => new S3Error('InvalidPolicyDocument', { message: `Invalid Policy: ${what}` })

const wrongNumber = (of: string): S3Error => invalid(`Invalid ${of}: wrong number of arguments.`)

/** `encoded`: the form's `policy` field. Throws InvalidPolicyDocument. */
export function parseFormPolicy(encoded: string): FormPolicy {
  const document = parseObject(encoded)
  for (const name of Object.keys(document)) {
    if (name !== 'expiration' && name !== 'conditions') throw invalid(`Unexpected: '${name}'.`)
  }
  const policy = {
    expiresMs: parseExpiration(document.expiration),
    conditions: [] as FieldCondition[],
    fileBytesMin: 0,
    fileBytesMax: Number.POSITIVE_INFINITY,
  }
  const { conditions } = document
  if (conditions === undefined) throw invalid('Policy is missing conditions.')
  if (!Array.isArray(conditions)) throw invalid("Invalid 'conditions' value: must be a List.")
  if (conditions.length === 0) throw invalid('Policy is missing conditions.')
  for (const condition of conditions as unknown[]) {
    const range = lengthRange(condition)
    if (range === undefined) {
      policy.conditions.push(fieldCondition(condition))
    } else {
      policy.fileBytesMin = Math.max(policy.fileBytesMin, range.min)
      policy.fileBytesMax = Math.min(policy.fileBytesMax, range.max)
    }
  }
  return policy
}

function parseObject(encoded: string): Record<string, unknown> {
  // Some clients wrap the base64, and sign the line ends with it.
  const text = encoded.replace(/[\r\n]/g, '')
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text)) throw invalid('Invalid Base64 Encoding.')
  let document: unknown
  try {
    document = JSON.parse(withoutFormEscapes(Buffer.from(text, 'base64').toString('utf8')))
  } catch {
    throw invalid('Invalid JSON.')
  }
  if (isObject(document)) return document
  throw invalid('Invalid JSON.')
}

/** S3 documents two escapes that JSON does not have: `\$` and `\v`. */
function withoutFormEscapes(json: string): string {
  return json.replace(/\\./g, (found) => (found === '\\$' ? '$' : found === '\\v' ? '\\u000b' : found))
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const instant = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?Z$/

function parseExpiration(value: unknown): number {
  if (value === undefined) throw invalid('Policy is missing expiration.')
  const ms = typeof value === 'string' && instant.test(value) ? Date.parse(value) : Number.NaN
  if (!Number.isNaN(ms)) return ms
  throw invalid(`Invalid 'expiration' value: '${typeof value === 'string' ? value : JSON.stringify(value)}'`)
}

/** `undefined`: the condition is about a field. */
function lengthRange(condition: unknown): { min: number; max: number } | undefined {
  if (!Array.isArray(condition)) return undefined
  const [name, ...bounds] = condition as unknown[]
  if (typeof name !== 'string' || name.toLowerCase() !== 'content-length-range') return undefined
  if (bounds.length !== 2) throw wrongNumber('content-length-range')
  const [min, max] = bounds.map(byteCount)
  if (min === undefined || max === undefined || min > max) {
    throw invalid(`Invalid content-length-range: ${written(condition)}`)
  }
  return { min, max }
}

/** Some clients write numbers as text. */
function byteCount(value: unknown): number | undefined {
  const count = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value
  return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count : undefined
}

function fieldCondition(condition: unknown): FieldCondition {
  if (Array.isArray(condition)) return listedCondition(condition)
  if (!isObject(condition)) throw invalid('Invalid condition test: must be a List or Object.')
  const [entry, ...others] = Object.entries(condition)
  if (entry === undefined || others.length > 0) {
    throw invalid('Invalid Simple-Condition: Simple-Conditions must have exactly one property specified.')
  }
  const [field, value] = entry
  if (typeof value !== 'string') throw invalid('Invalid Simple-Condition: value must be a string.')
  return { operator: 'eq', field, value }
}

function listedCondition(condition: readonly unknown[]): FieldCondition {
  const [name, field, value] = condition
  const operator = typeof name === 'string' ? name.toLowerCase() : ''
  if (operator !== 'eq' && operator !== 'starts-with')
    throw invalid(`Invalid Condition: unknown operation '${typeof name === 'string' ? name : JSON.stringify(name)}'.`)
  if (condition.length !== 3) throw wrongNumber(operator === 'eq' ? 'Eq' : operator)
  if (typeof value !== 'string' || typeof field !== 'string' || !/^\$./.test(field)) {
    throw invalid(`Invalid condition: ${written(condition)}`)
  }
  return { operator, field: field.slice(1), value }
}

/** Writes a condition as S3's messages repeat it. */
function written(condition: unknown): string {
  return Array.isArray(condition)
    ? `[${condition.map((item) => JSON.stringify(item)).join(', ')}]`
    : JSON.stringify(condition)
}

/** The signature's fields, the policy itself, and the file. The policy must name all other fields, except those that it says to ignore. */
const outsidePolicy: ReadonlySet<string> = new Set([
  'awsaccesskeyid',
  'file',
  'policy',
  'signature',
  'x-amz-signature',
  'x-store-signature',
])

const isOutsidePolicy = (name: string): boolean => outsidePolicy.has(name) || name.startsWith('x-ignore-')

/**
 * Throws AccessDenied unless the policy allows the form now. The addressed `bucket` counts as a field, whatever the form itself says. Does not check
 * the file's length: the reader of the file does.
 */
export function checkFormPolicy(policy: FormPolicy, form: FormFields, bucket: string, nowMs: number): void {
  if (nowMs > policy.expiresMs) throw refused('Policy expired.')
  const fields = new Map([...form, ['bucket', bucket]])
  for (const condition of policy.conditions) {
    if (!holds(condition, fields.get(condition.field.toLowerCase()))) {
      const { operator, field, value } = condition
      // Errors are logged, and must not hold a secret.
      const shown = isSecret(field) ? '' : value
      throw refused(`Policy Condition failed: ${written([operator, `$${field}`, shown])}`)
    }
  }
  const named = new Set(policy.conditions.map(({ field }) => field.toLowerCase()))
  const extra = [...fields.keys()].filter((name) => !isOutsidePolicy(name) && !named.has(name))
  if (extra.length > 0) throw refused(`Extra input fields: ${extra.join(', ')}`)
}

const isSecret = (field: string): boolean => /-customer-key$/i.test(field)

function holds({ operator, field, value }: FieldCondition, sent: string | undefined): boolean {
  if (sent === undefined) return false
  if (operator === 'eq') return sent === value
  // A list of types passes when each type does.
  const sentValues = field.toLowerCase() === 'content-type' ? sent.split(',') : [sent]
  return sentValues.every((item) => item.startsWith(value) || item.trim().startsWith(value))
}

const refused = (why: string): S3Error =>
  new S3Error('AccessDenied', { message: `Invalid according to Policy: ${why}` })
