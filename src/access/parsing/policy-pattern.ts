/** Patterns in policies, where variables are condition keys. */
import { findConditionKey } from '../condition-keys.ts'
import { type PatternToken, parsePattern } from '../glob.ts'

export interface PatternOptions {
  /** Whether the policy's version supports variables. */
  readonly variables: boolean
  readonly wildcards: boolean
}

/** Spells each variable as `AccessRequest.value` expects it. Throws PatternError. */
export function policyPattern(text: string, options: PatternOptions): PatternToken[] {
  return parsePattern(text, options).map((token) =>
    token.kind === 'variable' ? { ...token, key: findConditionKey(token.key)?.spelled ?? token.key } : token,
  )
}
