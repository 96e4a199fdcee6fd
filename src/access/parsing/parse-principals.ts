/** Principal and NotPrincipal of a policy's statement. */
import type { NamedPrincipal, PolicyTarget, Principals } from './policy-document.ts'
import type { Json, JsonObject } from './policy-json.ts'
import { malformed, type PolicyPart, stringsOf } from './policy-part.ts'

/** The form of account ids in the configuration. AWS's ids of twelve digits match it too. */
const accountId = '[A-Za-z0-9_-]{1,64}'
const bareAccount = new RegExp(`^${accountId}$`)
const accountArn = new RegExp(`^arn:aws:iam::(${accountId}):root$`)
const userArn = new RegExp(`^arn:aws:iam::(${accountId}):user/([\\w+=,.@/-]{1,512})$`)
const serviceName = /^[a-z0-9-]+(?:\.[a-z0-9-]+)*\.amazonaws\.com(?:\.cn)?$/
const anyone: NamedPrincipal = { kind: 'anyone' }

/** `undefined` for identity and session policies, which belong to a principal and name none. */
export function parsePrincipals(statement: JsonObject, name: string, target: PolicyTarget): Principals | undefined {
  const positive = statement.get('Principal')
  const negative = statement.get('NotPrincipal')
  const element = negative === undefined ? 'Principal' : 'NotPrincipal'
  const part = { statement: name, element }
  const value = positive ?? negative
  if (target.kind !== 'bucket') {
    if (value === undefined) return undefined
    throw malformed('Only a bucket policy can name principals', part)
  }
  if (positive !== undefined && negative !== undefined)
    throw malformed('Principal and NotPrincipal exclude each other', { statement: name })
  if (value === undefined) throw malformed('Missing required field Principal', { statement: name })
  return { negated: negative !== undefined, named: namedPrincipals(value, part) }
}

function namedPrincipals(value: Json, part: PolicyPart): NamedPrincipal[] {
  if (value === '*') return [anyone]
  if (!(value instanceof Map) || value.size === 0) throw invalid(part, typeof value === 'string' ? value : undefined)
  return [...value].flatMap(([type, names]) => {
    if (type !== 'AWS' && type !== 'CanonicalUser' && type !== 'Service') throw invalid(part, type)
    return stringsOf(names, part).map((text) => namedPrincipal(type, text, part))
  })
}

function namedPrincipal(type: 'AWS' | 'CanonicalUser' | 'Service', text: string, part: PolicyPart): NamedPrincipal {
  if (type === 'Service') {
    if (serviceName.test(text)) return { kind: 'service', name: text }
    throw invalid(part, text)
  }
  if (type === 'AWS' && text === '*') return anyone
  if (bareAccount.test(text)) return { kind: 'account', accountId: text }
  if (type === 'CanonicalUser') throw invalid(part, text)
  const [, account] = accountArn.exec(text) ?? []
  if (account !== undefined) return { kind: 'account', accountId: account }
  const [, owner, name] = userArn.exec(text) ?? []
  if (owner === undefined || name === undefined) throw invalid(part, text)
  return { kind: 'user', accountId: owner, name }
}

const invalid = (part: PolicyPart, value?: string): Error => malformed('Invalid principal in policy', part, value)
