/** The operators of conditions: each compares a value of the request with the policy's values. `compile-condition.ts` handles missing keys and several values. */
import { type AddressRange, isInAddressRanges, readAddressRange } from '../address-range.ts'
import { known } from '../known.ts'
import { compileGlob, type GlobMatcher, hasVariable, type Lookup, type PatternToken, textOf } from './glob.ts'
import { policyPattern } from './parsing/policy-pattern.ts'
import { arnParts, readBinary, readBoolean, readNumber, readTime } from './value-kinds.ts'

/** Whether a value of the request matches any of the policy's values. */
export type ValuesMatcher = (value: string, lookup: Lookup) => boolean

export interface ConditionOperator {
  readonly name: string
  /** The condition holds if no value of the policy matches, or if the key is missing. */
  readonly negated: boolean
  /** Whether the policy's values are patterns. */
  readonly wildcards: boolean
  /** Whether the operator can read this value of a policy. A value with variables can be read only with a request. */
  accepts(text: string): boolean
  compile(values: readonly (readonly PatternToken[])[]): ValuesMatcher
}

type Read<T> = (text: string) => T | undefined
type Compare<T> = (value: T, wanted: T) => boolean

/** An operator that converts both values before it compares them. A value that can't be converted matches nothing. */
function comparing<T>(read: Read<T>, compare: Compare<T>): Pick<ConditionOperator, 'accepts' | 'compile'> {
  return {
    accepts: (text) => read(text) !== undefined,
    compile: (values) => {
      const wanted = values.map((tokens) => readOnce(tokens, read))
      return (text, lookup) => {
        const value = read(text)
        if (value === undefined) return false
        return wanted.some((of) => {
          const other = of(lookup)
          return other !== undefined && compare(value, other)
        })
      }
    },
  }
}

function readOnce<T>(tokens: readonly PatternToken[], read: Read<T>): (lookup: Lookup) => T | undefined {
  const readNow = (lookup: Lookup): T | undefined => {
    const text = textOf(tokens, lookup)
    return text === undefined ? undefined : read(text)
  }
  if (hasVariable(tokens)) return readNow
  const value = readNow(() => undefined)
  return () => value
}

const text: Read<string> = (value) => value
const lowerCase: Read<string> = (value) => value.toLowerCase()
const equal = (a: unknown, b: unknown): boolean => a === b

const patterns: Pick<ConditionOperator, 'accepts' | 'compile'> = {
  accepts: () => true,
  compile: (values) => {
    const matchers = values.map(compileGlob)
    return (value, lookup) => matchers.some((matches) => matches(value, lookup))
  },
}

/** Each part of an ARN is matched by itself, so that a star matches no colon except in the last part. */
const arns: Pick<ConditionOperator, 'accepts' | 'compile'> = {
  accepts: (value) => arnParts(value) !== undefined,
  compile: (values) => {
    const wanted = values.map(compileArn)
    return (value, lookup) => {
      const parts = arnParts(value)
      return parts !== undefined && wanted.some((matches) => matches(parts, lookup))
    }
  },
}

function compileArn(tokens: readonly PatternToken[]): (parts: readonly string[], lookup: Lookup) => boolean {
  const pieces: PatternToken[][] = [[]]
  for (const token of tokens) {
    if (token.kind !== 'text') {
      pieces.at(-1)?.push(token)
      continue
    }
    const split = token.text.split(':')
    split.forEach((part, i) => {
      if (i > 0 && pieces.length < 6) pieces.push([])
      else if (i > 0) pieces.at(-1)?.push({ kind: 'text', text: ':' })
      if (part !== '') pieces.at(-1)?.push({ kind: 'text', text: part })
    })
  }
  const matchers: GlobMatcher[] = pieces.map(compileGlob)
  return (parts, lookup) =>
    matchers.length === parts.length && matchers.every((matches, i) => matches(known(parts[i]), lookup))
}

const addresses: Pick<ConditionOperator, 'accepts' | 'compile'> = {
  accepts: (value) => readAddressRange(value) !== undefined,
  compile: (values) => {
    const ranges = (lookup: Lookup): AddressRange[] =>
      values.flatMap((tokens) => {
        const range = readAddressRange(textOf(tokens, lookup) ?? '')
        return range === undefined ? [] : [range]
      })
    if (values.some(hasVariable)) return (value, lookup) => isInAddressRanges(value, ranges(lookup))
    const fixed = ranges(() => undefined)
    return (value) => isInAddressRanges(value, fixed)
  },
}

const positive = { negated: false, wildcards: false } as const
const negative = { negated: true, wildcards: false } as const
const glob = { wildcards: true } as const

const less = (a: number, b: number): boolean => a < b
const lessOrEqual = (a: number, b: number): boolean => a <= b
const greater = (a: number, b: number): boolean => a > b
const greaterOrEqual = (a: number, b: number): boolean => a >= b
const sameBytes = (a: Buffer, b: Buffer): boolean => a.equals(b)

export const conditionOperators: readonly ConditionOperator[] = [
  { name: 'StringEquals', ...positive, ...comparing(text, equal) },
  { name: 'StringNotEquals', ...negative, ...comparing(text, equal) },
  { name: 'StringEqualsIgnoreCase', ...positive, ...comparing(lowerCase, equal) },
  { name: 'StringNotEqualsIgnoreCase', ...negative, ...comparing(lowerCase, equal) },
  { name: 'StringLike', ...positive, ...glob, ...patterns },
  { name: 'StringNotLike', ...negative, ...glob, ...patterns },
  { name: 'NumericEquals', ...positive, ...comparing(readNumber, equal) },
  { name: 'NumericNotEquals', ...negative, ...comparing(readNumber, equal) },
  { name: 'NumericLessThan', ...positive, ...comparing(readNumber, less) },
  { name: 'NumericLessThanEquals', ...positive, ...comparing(readNumber, lessOrEqual) },
  { name: 'NumericGreaterThan', ...positive, ...comparing(readNumber, greater) },
  { name: 'NumericGreaterThanEquals', ...positive, ...comparing(readNumber, greaterOrEqual) },
  { name: 'DateEquals', ...positive, ...comparing(readTime, equal) },
  { name: 'DateNotEquals', ...negative, ...comparing(readTime, equal) },
  { name: 'DateLessThan', ...positive, ...comparing(readTime, less) },
  { name: 'DateLessThanEquals', ...positive, ...comparing(readTime, lessOrEqual) },
  { name: 'DateGreaterThan', ...positive, ...comparing(readTime, greater) },
  { name: 'DateGreaterThanEquals', ...positive, ...comparing(readTime, greaterOrEqual) },
  { name: 'Bool', ...positive, ...comparing(readBoolean, equal) },
  { name: 'BinaryEquals', ...positive, ...comparing(readBinary, sameBytes) },
  { name: 'IpAddress', ...positive, ...addresses },
  { name: 'NotIpAddress', ...negative, ...addresses },
  { name: 'ArnEquals', ...positive, ...glob, ...arns },
  { name: 'ArnLike', ...positive, ...glob, ...arns },
  { name: 'ArnNotEquals', ...negative, ...glob, ...arns },
  { name: 'ArnNotLike', ...negative, ...glob, ...arns },
]

/** Tests whether the key is missing. It compares no values, so it is not in the table. */
export const nullOperator = 'Null'

const byName = new Map(conditionOperators.map((operator) => [operator.name.toLowerCase(), operator]))

export function findOperator(name: string): ConditionOperator | undefined {
  return byName.get(name.toLowerCase())
}

/** The tokens of a policy's value under this operator. Throws PatternError. */
export function parseValue(value: string, operator: ConditionOperator, variables: boolean): PatternToken[] {
  return policyPattern(value, { variables, wildcards: operator.wildcards })
}
