/** Whether a bucket policy is public, as S3 documents "the meaning of public". Pure. */
import { readAddressRange } from '../address-range.ts'
import { findOperator, parseValue } from './condition-operators.ts'
import { hasVariable, hasWildcard } from './glob.ts'
import type { PolicyCondition, PolicyStatement } from './policy-document.ts'

/** Keys whose fixed values narrow a statement to somebody. */
const narrowingKeys: ReadonlySet<string> = new Set([
  'aws:PrincipalAccount',
  'aws:PrincipalArn',
  'aws:SourceIp',
  'aws:userid',
  's3:x-amz-server-side-encryption-aws-kms-key-id',
])

/** Operators that compare with the value itself; others hold for all that is less, or more. */
const fixingOperators = /^(?:String|Arn|IpAddress)/

/** What these keys say of who did not sign. */
const nobody = 'anonymous'

/** Ranges that are wider are public. */
const prefixBitsMin = { ipv4: 8, ipv6: 32 } as const

/** `variables`: whether the version of the policy has them. */
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
