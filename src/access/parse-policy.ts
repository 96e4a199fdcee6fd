/** A policy from its JSON, checked as S3 checks it: an error names the statement and the element. */
import type { PolicyDocument, PolicyTarget } from './policy-document.ts'

/**
 * Throws MalformedPolicy, and PolicyTooLarge.
 * @param text JSON, as the client sent it.
 */
export function parsePolicy(_text: string, _target: PolicyTarget): PolicyDocument {
  throw new Error('not built yet')
}
