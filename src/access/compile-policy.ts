/** Turns a policy into closures, so that a request costs comparisons alone. */
import type { CompiledPolicy } from './compiled-policy.ts'
import type { PolicyDocument } from './policy-document.ts'

/** Throws nothing: `parsePolicy` has checked everything. */
export function compilePolicy(_document: PolicyDocument): CompiledPolicy {
  throw new Error('not built yet')
}
