/** A policy from its JSON, checked as S3 checks it: an error names the statement and the element. */
import type { S3Error } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { parseActions, parseResources } from './parse-actions.ts'
import { checkConditionsApply, parseConditions } from './parse-conditions.ts'
import { parsePrincipals } from './parse-principals.ts'
import type { PolicyDocument, PolicyStatement, PolicyTarget, PolicyVersion, Principals } from './policy-document.ts'
import { type Json, JsonError, type JsonObject, parseJson, withoutWhiteSpace } from './policy-json.ts'
import { malformed, type PolicyPart } from './policy-part.ts'

const versions: readonly PolicyVersion[] = ['2012-10-17', '2008-10-17']
const documentElements = ['Version', 'Id', 'Statement']
const statementElements = [
  'Sid',
  'Effect',
  'Principal',
  'NotPrincipal',
  'Action',
  'NotAction',
  'Resource',
  'NotResource',
  'Condition',
]

/**
 * Throws MalformedPolicy.
 * @param text JSON as the client sent it.
 */
export function parsePolicy(text: string, target: PolicyTarget): PolicyDocument {
  const counted = target.kind === 'bucket' ? shortened(text) : text
  if (Buffer.byteLength(counted) > limits.policyBytesMax) throw tooLarge(target)
  const document = readObject(text)
  refuseUnknown(document, documentElements)
  const version = parseVersion(document.get('Version'))
  const id = parseText(document.get('Id'), { element: 'Id' })
  const sids = new Set<string>()
  const statements = statementsOf(document.get('Statement')).map((statement, i) => {
    const sid = parseText(statement.get('Sid'), { statement: `#${i + 1}`, element: 'Sid' })
    if (sid !== undefined && sid !== '' && sids.has(sid))
      throw malformed('Statement IDs (SID) in a single policy must be unique', { statement: `#${i + 1}` }, sid)
    sids.add(sid ?? '')
    return parseStatement(statement, sid || `#${i + 1}`, target, version)
  })
  return { kind: target.kind, version, ...(id === undefined ? {} : { id }), statements }
}

/** In S3's words for a bucket. It counts what is left without white space. */
function tooLarge({ kind }: PolicyTarget): S3Error {
  return malformed(
    `${kind === 'bucket' ? 'Normalized policy document' : 'The policy document'} exceeds the maximum allowed size of ${limits.policyBytesMax} bytes`,
  )
}

/** A bucket policy as it is kept: as it came, or without white space where it would be too large with it, because S3 counts none. */
export function shortened(text: string): string {
  return Buffer.byteLength(text) > limits.policyBytesMax ? withoutWhiteSpace(text) : text
}

function readObject(text: string): JsonObject {
  if (!text.startsWith('{')) throw malformed("Policies must be valid JSON and the first byte must be '{'")
  try {
    const value = parseJson(text)
    if (value instanceof Map) return value
  } catch (error) {
    if (error instanceof JsonError) throw malformed(`Policies must be valid JSON: ${error.message}`)
    throw error
  }
  throw malformed('Policies must be valid JSON')
}

function refuseUnknown(object: JsonObject, elements: readonly string[], statement?: string): void {
  for (const name of object.keys()) if (!elements.includes(name)) throw malformed('Unknown field', { statement }, name)
}

function parseVersion(value: Json | undefined): PolicyVersion {
  // AWS's default is the older version.
  if (value === undefined) return '2008-10-17'
  const version = versions.find((known) => known === value)
  if (version === undefined) throw malformed('The policy must contain a valid version string', { element: 'Version' })
  return version
}

function parseText(value: Json | undefined, part: PolicyPart): string | undefined {
  if (value === undefined || typeof value === 'string') return value
  throw malformed('The element must be a string', part)
}

/** S3 refuses it: all but the named may be the whole world, also those who did not sign. Policies that were stored before this was refused stay readable. */
function checkAllExcept(
  principals: Principals | undefined,
  effect: PolicyStatement['effect'],
  statement: string,
  target: PolicyTarget,
): void {
  if (principals?.negated !== true || effect === 'Deny' || (target.kind === 'bucket' && target.stored === true)) return
  throw malformed('NotPrincipal needs the effect Deny', { statement, element: 'NotPrincipal' })
}

/** A single statement needs no list around it. */
function statementsOf(value: Json | undefined): readonly JsonObject[] {
  if (value === undefined) throw malformed('Missing required field Statement')
  const list = Array.isArray(value) ? value : [value]
  if (list.length === 0) throw malformed('Could not parse the policy: Statement is empty!')
  return list.map((statement, i) => {
    if (!(statement instanceof Map)) throw malformed('A statement must be an object', { statement: `#${i + 1}` })
    return statement
  })
}

function parseStatement(
  statement: JsonObject,
  name: string,
  target: PolicyTarget,
  version: PolicyVersion,
): PolicyStatement {
  refuseUnknown(statement, statementElements, name)
  const effect = statement.get('Effect')
  if (effect === undefined) throw malformed('Missing required field Effect', { statement: name })
  if (effect !== 'Allow' && effect !== 'Deny')
    throw malformed('Invalid effect', { statement: name, element: 'Effect' }, String(effect))
  const variables = version === '2012-10-17'
  const principals = parsePrincipals(statement, name, target)
  checkAllExcept(principals, effect, name, target)
  const actions = parseActions(statement, name, target)
  const resources = parseResources(statement, name, target, variables, actions)
  const conditions = parseConditions(statement.get('Condition'), name, variables)
  checkConditionsApply(conditions, actions, name, target)
  return { name, effect, ...(principals === undefined ? {} : { principals }), actions, resources, conditions }
}
