/** Which lifecycle rules can be set, as in S3. Pure. */
import { invalidArgument, S3Error } from '../errors.ts'
import { limits } from '../limits.ts'
import type { LifecycleFilter, LifecycleRule } from '../records/lifecycle.ts'
import { checkKeeps, checkMidnight } from './lifecycle-elements.ts'
import { checkRuleFilter, invalidRequest } from './rule-filter.ts'
import { checkTransitions } from './transition-rules.ts'

/** Throws MalformedXML, InvalidArgument, InvalidRequest, with S3's texts. */
export function checkLifecycle(rules: readonly LifecycleRule[]): readonly LifecycleRule[] {
  if (rules.length === 0) throw new S3Error('MalformedXML')
  if (rules.length > limits.lifecycleRulesMax) {
    throw invalidRequest(
      `The number of lifecycle rules must not exceed the allowed limit of ${limits.lifecycleRulesMax} rules`,
    )
  }
  checkIds(rules.map(({ id }) => id))
  for (const rule of rules) {
    checkFilter(rule.filter)
    checkActions(rule)
  }
  return rules
}

function checkIds(ids: readonly string[]): void {
  const seen = new Set<string>()
  for (const id of ids) {
    if ([...id].length > limits.lifecycleRuleIdCharsMax) {
      throw invalidArgument('ID', id, `ID length should not exceed allowed limit of ${limits.lifecycleRuleIdCharsMax}`)
    }
    if (seen.has(id)) throw invalidArgument('ID', id, 'Rule ID must be unique. Found same ID for more than one rule')
    seen.add(id)
  }
}

function checkFilter({ sizeGreaterThan, sizeLessThan, ...filter }: LifecycleFilter): void {
  checkRuleFilter(filter)
  checkSize('ObjectSizeGreaterThan', sizeGreaterThan, 0)
  checkSize('ObjectSizeLessThan', sizeLessThan, 1)
  if (sizeGreaterThan !== undefined && sizeLessThan !== undefined && sizeLessThan <= sizeGreaterThan) {
    throw invalidRequest("'ObjectSizeLessThan' has to be a value greater than 'ObjectSizeGreaterThan'.")
  }
}

function checkSize(element: string, bytes: number | undefined, least: number): void {
  if (bytes === undefined || (bytes >= least && bytes <= limits.objectBytesMax)) return
  throw invalidRequest(`'${element}' has to be from ${least} to ${limits.objectBytesMax}`)
}

function checkActions(rule: LifecycleRule): void {
  const { filter, expiration, noncurrent, transitions = [], noncurrentTransitions = [], abortUploadsDays } = rule
  const moves = transitions.length + noncurrentTransitions.length
  if (moves === 0 && expiration === undefined && noncurrent === undefined && abortUploadsDays === undefined) {
    throw invalidRequest('At least one action needs to be specified in a rule')
  }
  if (expiration !== undefined) {
    if ('days' in expiration) checkDays('Days', 'Expiration', expiration.days)
    if ('dateMs' in expiration) checkMidnight(expiration.dateMs)
    if ('expiredDeleteMarkers' in expiration) checkPrefixOnly('ExpiredObjectDeleteMarker', filter)
  }
  if (noncurrent?.days !== undefined) checkDays('NoncurrentDays', 'NoncurrentVersionExpiration', noncurrent.days)
  checkKeeps('NoncurrentVersionExpiration', noncurrent?.keeps, filter)
  checkTransitions(rule)
  if (abortUploadsDays !== undefined) {
    checkDays('DaysAfterInitiation', 'AbortIncompleteMultipartUpload', abortUploadsDays)
    checkPrefixOnly('AbortIncompleteMultipartUpload', filter)
  }
}

function checkDays(element: string, action: string, days: number): void {
  if (days > limits.lifecycleDaysMax) throw new S3Error('MalformedXML')
  if (days >= 1) return
  throw invalidArgument(element, String(days), `'${element}' for ${action} action must be a positive integer`)
}

/** Delete markers and uploads have neither tags nor a size. */
function checkPrefixOnly(action: string, { tags, sizeGreaterThan, sizeLessThan }: LifecycleFilter): void {
  if (tags.length > 0) throw invalidRequest(`${action} cannot be specified with Tags.`)
  if (sizeGreaterThan === undefined && sizeLessThan === undefined) return
  throw invalidRequest(`${action} cannot be specified with Object Size.`)
}
