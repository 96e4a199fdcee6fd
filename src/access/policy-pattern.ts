/** Patterns as policies have them: a variable is a condition key. */
import { findConditionKey } from './condition-keys.ts'
import { type PatternToken, parsePattern } from './glob.ts'

export interface PatternOptions {
  /** Whether the version of the policy has variables. */
  readonly variables: boolean
  readonly wildcards: boolean
}

/** Each variable is spelled as a request is asked for it. Throws PatternError. */
export function policyPattern(text: string, options: PatternOptions): PatternToken[] {
  return parsePattern(text, options).map((token) =>
    token.kind === 'variable' ? { ...token, key: findConditionKey(token.key)?.spelled ?? token.key } : token,
  )
}
