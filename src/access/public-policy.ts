/** Whether a bucket policy is public, as S3 documents "the meaning of public". Pure. */
import { readAddressRange } from '../address-range.ts'
import { findOperator, parseValue } from './condition-operators.ts'
import { hasVariable, hasWildcard } from './glob.ts'
import type { PolicyCondition, PolicyStatement } from './parsing/policy-document.ts'

/** With a fixed value, these keys narrow a statement enough that it is not public. */
const narrowingKeys: ReadonlySet<string> = new Set([
  'aws:PrincipalAccount',
  'aws:PrincipalArn',
  'aws:SourceIp',
  'aws:userid',
  's3:x-amz-server-side-encryption-aws-kms-key-id',
])

/** Operators that fix a value. The others hold for a range of values. */
const fixingOperators = /^(?:String|Arn|IpAddress)/

/** The value of these keys for an unsigned request. */
const nobody = 'anonymous'

/** A wider range of addresses counts as public. */
const prefixBitsMin = { ipv4: 8, ipv6: 32 } as const

/** `variables`: whether the policy's version supports variables. */
export function isPublicStatement(statement: PolicyStatement, variables: boolean): boolean {
  const { effect, principals, conditions } = statement
  if (effect !== 'Allow' || principals === undefined) return false
  const isForAnyone = principals.negated || principals.named.some(({ kind }) => kind === 'anyone')
  return isForAnyone && !conditions.some((condition) => narrows(condition, variables))
}

function narrows({ operator, quantifier, ifExists, key, values }: PolicyCondition, variables: boolean): boolean {
  const found = findOperator(operator)
  if (found === undefined || found.negated || ifExists || quantifier === 'ForAllValues') return false
  if (!narrowingKeys.has(key) || !fixingOperators.test(operator)) return false
  return values.every((value) => {
    const tokens = parseValue(value, found, variables)
    if (hasVariable(tokens) || hasWildcard(tokens) || value.toLowerCase() === nobody) return false
    if (key !== 'aws:SourceIp') return true
    const range = readAddressRange(value)
    return range !== undefined && range.prefixBits >= prefixBitsMin[range.family]
  })
}
