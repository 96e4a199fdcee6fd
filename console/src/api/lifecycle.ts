/** A bucket's lifecycle rules, as S3 keeps them. */
import { putConfiguration } from './buckets.ts'
import { askUnlessAbsent } from './s3-request.ts'
import { childrenOf, contentOf, textOf } from './xml.ts'
import type { XmlContent } from './xml-text.ts'

/** Days as they were typed; empty: the rule says nothing about them. */
export interface LifecycleRule {
  id: string
  enabled: boolean
  prefix: string
  /** Days of a current object, and of a replaced version. */
  days: string
  replacedDays: string
  /** How many replaced versions of each object stay. */
  keeps: string
  /** Days of an upload that is not complete. */
  uploadDays: string
  /** The whole rule, where it says more than the fields above. It is saved as it came. */
  more?: XmlContent
}

export async function bucketLifecycle(bucket: string): Promise<LifecycleRule[]> {
  const xml = await askUnlessAbsent({ bucket, query: { lifecycle: '' } }, 'NoSuchLifecycleConfiguration')
  return (xml === undefined ? [] : childrenOf(xml, 'Rule')).map(readRule)
}

export const putBucketLifecycle = (bucket: string, rules: readonly LifecycleRule[]): Promise<void> =>
  putConfiguration(bucket, 'lifecycle', 'LifecycleConfiguration', {
    Rule: rules.map(({ more, ...rule }) => more ?? ruleOf(rule)),
  })

function readRule(element: Element): LifecycleRule {
  const text = (...path: string[]): string => textOf(element, ...path) ?? ''
  const rule = {
    id: text('ID'),
    enabled: text('Status') === 'Enabled',
    prefix: text('Filter', 'Prefix') || text('Prefix'),
    days: text('Expiration', 'Days'),
    replacedDays: text('NoncurrentVersionExpiration', 'NoncurrentDays'),
    keeps: text('NoncurrentVersionExpiration', 'NewerNoncurrentVersions'),
    uploadDays: text('AbortIncompleteMultipartUpload', 'DaysAfterInitiation'),
  }
  const isMore = [...element.querySelectorAll('*')].some(({ localName }) => !elements.has(localName))
  return isMore ? { ...rule, more: contentOf(element) } : rule
}

/** The elements that the fields of a rule stand for, and those around them. */
const elements: ReadonlySet<string> = new Set([
  'ID',
  'Status',
  'Filter',
  'Prefix',
  'Expiration',
  'Days',
  'NoncurrentVersionExpiration',
  'NoncurrentDays',
  'NewerNoncurrentVersions',
  'AbortIncompleteMultipartUpload',
  'DaysAfterInitiation',
])

const ruleOf = ({ id, enabled, prefix, days, replacedDays, keeps, uploadDays }: LifecycleRule): XmlContent => ({
  ID: given(id),
  Filter: { Prefix: prefix },
  Status: enabled ? 'Enabled' : 'Disabled',
  Expiration: given(days) && { Days: days },
  NoncurrentVersionExpiration:
    replacedDays === '' && keeps === ''
      ? undefined
      : { NoncurrentDays: given(replacedDays), NewerNoncurrentVersions: given(keeps) },
  AbortIncompleteMultipartUpload: given(uploadDays) && { DaysAfterInitiation: uploadDays },
})

const given = (text: string): string | undefined => (text.trim() === '' ? undefined : text.trim())
