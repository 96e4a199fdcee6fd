/** Checks of operators' input by IAM's rules: names, policies, tags and keys. Each throws `IdentityRefused`. */
import { builtInPolicies } from '../access/built-in-policies.ts'
import { parsePolicy } from '../access/parsing/parse-policy.ts'
import type { Account } from '../auth/credentials.ts'
import { S3Error } from '../errors.ts'
import { limits } from '../limits.ts'
import type { NamedDocument } from '../records/identity-records.ts'
import type { Tag } from '../records/object-attributes.ts'
import { IdentityRefused } from './refusal.ts'
import type { StoredIdentities } from './stored-identities.ts'

const invalid = (message: string): IdentityRefused => new IdentityRefused('InvalidInput', message)

/** The same rule as for the configuration. */
export function checkAccountId(id: string): string {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(id))
    throw invalid(`The account id '${id}' must be 1 to 64 letters, digits, _ or -.`)
  return id
}

export function checkAccountName(name: string): string {
  if (name.length < 1 || name.length > limits.accountNameCharsMax || /[\p{Cc}\p{Cs}]/u.test(name))
    throw invalid(
      `The name of an account must have 1 to ${limits.accountNameCharsMax} characters, and no control characters.`,
    )
  return name
}

export const checkUserName = (name: string): string => checkName(name, 'user', limits.userNameCharsMax)

/** Also refuses the names of built-in policies, which can't be replaced. */
export function checkPolicyName(name: string): string {
  checkName(name, 'policy', limits.policyNameCharsMax)
  if (builtInPolicies.has(name))
    throw new IdentityRefused('UnmodifiableEntity', `The policy '${name}' is built in: every account has it as it is.`)
  return name
}

function checkName(name: string, what: 'user' | 'policy', charsMax: number): string {
  if (name.length <= charsMax && /^[\w+=,.@-]+$/.test(name)) return name
  throw invalid(
    `The ${what} name '${shortened(name)}' must be 1 to ${charsMax} letters, digits, or any of _ + = , . @ -`,
  )
}

export function checkPolicy({ name, document }: NamedDocument): void {
  checkSize(document, limits.policyCharsMax, 'A policy')
  checkDocument(document, 'identity', `The policy '${name}'`)
}

/** `policies`: all inline policies of a user, because their limit applies to the total. */
export function checkInlinePolicies(policies: readonly NamedDocument[]): void {
  const all = policies.map(({ document }) => document).join('')
  checkSize(all, limits.inlinePolicyCharsMax, 'The inline policies of a user together')
  for (const { name, document } of policies) {
    checkName(name, 'policy', limits.policyNameCharsMax)
    checkDocument(document, 'identity', `The policy '${name}'`)
  }
}

/** `kind`: `session` for a user's key, whose policy narrows the user's; `identity` for an account's key, which has no other. */
export function checkKeyPolicy(document: string, kind: 'identity' | 'session'): string {
  checkSize(document, limits.inlinePolicyCharsMax, "A key's own policy")
  checkDocument(document, kind, "The key's own policy")
  return document
}

/** Like AWS, does not count whitespace. */
function checkSize(document: string, charsMax: number, what: string): void {
  if (document.replace(/\s/g, '').length <= charsMax) return
  throw new IdentityRefused('LimitExceeded', `${what} can have ${charsMax} characters at most, whitespace not counted.`)
}

function checkDocument(document: string, kind: 'identity' | 'session', what: string): void {
  try {
    parsePolicy(document, { kind })
  } catch (error) {
    if (!(error instanceof S3Error)) throw error
    throw new IdentityRefused('MalformedPolicyDocument', `${what} is refused: ${error.message}`)
  }
}

// IAM documents that tags contain letters, numbers, spaces, and _ . : / = + - @
const tagText = /^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$/u

/** Keys that differ only in case count as the same. */
export function checkUserTags(tags: readonly Tag[]): readonly Tag[] {
  if (tags.length > limits.userTagsMax)
    throw new IdentityRefused('LimitExceeded', `A user can have ${limits.userTagsMax} tags at most.`)
  const seen = new Set<string>()
  for (const { key, value } of tags) {
    const lower = key.toLowerCase()
    const shown = shortened(key)
    if (key === '' || [...key].length > limits.tagKeyCharsMax || !tagText.test(key))
      throw invalid(
        `The tag key '${shown}' must be 1 to ${limits.tagKeyCharsMax} letters, digits, spaces, or any of _ . : / = + - @`,
      )
    if ([...value].length > limits.tagValueCharsMax || !tagText.test(value))
      throw invalid(
        `The value of the tag '${shown}' must be up to ${limits.tagValueCharsMax} letters, digits, spaces, or any of _ . : / = + - @`,
      )
    if (lower.startsWith('aws:')) throw invalid(`The tag key '${shown}' must not begin with aws:`)
    if (seen.has(lower)) throw invalid(`The tag key '${shown}' is given twice; case makes no difference.`)
    seen.add(lower)
  }
  return tags.map(({ key, value }) => ({ key, value }))
}

/** The same rule as for the configuration. Throws EntityAlreadyExists when the key exists. */
export function checkNewAccessKeyId(
  id: string,
  { stored, configured }: { stored: StoredIdentities; configured: readonly Account[] },
): string {
  if (id.length > limits.accessKeyCharsMax || !/^[\w.@-]{3,}$/.test(id))
    throw invalid(`An access key id must be 3 to ${limits.accessKeyCharsMax} letters, digits, or any of . _ @ -`)
  if (stored.keys.has(id) || configured.some(({ keys }) => keys.some(({ accessKeyId }) => accessKeyId === id)))
    throw new IdentityRefused('EntityAlreadyExists', `There is an access key '${id}' already.`)
  return id
}

/** The same rule as for the configuration. The message never contains the secret. */
export function checkSecret(secret: string): string {
  if (secret.length >= limits.secretCharsMin && secret.length <= limits.secretCharsMax && /^[\x21-\x7e]*$/.test(secret))
    return secret
  throw invalid(
    `A secret access key must have ${limits.secretCharsMin} to ${limits.secretCharsMax} printable ASCII characters, and no spaces.`,
  )
}

export function checkDescription(text: string): string {
  if (text.length <= limits.keyDescriptionCharsMax && !/[\p{Cc}\p{Cs}]/u.test(text)) return text
  throw invalid(
    `A description can have ${limits.keyDescriptionCharsMax} characters at most, and no control characters.`,
  )
}

/** A time in the past is refused, because it can only be a mistake. */
export function checkExpiry(expiresMs: number, nowMs: number): number {
  if (Number.isSafeInteger(expiresMs) && expiresMs > nowMs && expiresMs <= lastTimeMs) return expiresMs
  throw invalid('The time at which a key expires must lie ahead.')
}

/** The latest time that a Date can hold. */
const lastTimeMs = 8.64e15

const shortened = (text: string): string => (text.length > 128 ? `${text.slice(0, 128)}…` : text)
