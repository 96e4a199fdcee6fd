/** What the filters of bucket rules have in common: a prefix and tags, with S3's limits. Pure. */
import { S3Error } from '../errors.ts'
import { limits } from '../limits.ts'
import type { Tag } from '../records/object-attributes.ts'

export interface RuleFilter {
  prefix?: string | undefined
  tags: readonly Tag[]
}

/** Throws InvalidRequest, with S3's texts. */
export function checkRuleFilter({ prefix = '', tags }: RuleFilter): void {
  if (Buffer.byteLength(prefix) > limits.keyBytesMax) {
    throw invalidRequest(`The maximum size of a prefix is ${limits.keyBytesMax}`)
  }
  const keys = tags.map(({ key }) => key)
  if (new Set(keys).size < keys.length) throw invalidRequest('Duplicate Tag Keys are not allowed.')
  for (const { key, value } of tags) {
    if (key === '' || [...key].length > limits.tagKeyCharsMax) {
      throw invalidRequest(`A Tag's Key must be a length between 1 and ${limits.tagKeyCharsMax}.`)
    }
    if ([...value].length > limits.tagValueCharsMax) {
      throw invalidRequest(`A Tag's Value must be a length between 0 and ${limits.tagValueCharsMax}.`)
    }
  }
}

export const invalidRequest = (message: string): S3Error => new S3Error('InvalidRequest', { message })
