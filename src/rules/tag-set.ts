/** Rules for tag sets, which come as a list of elements or as URL query parameters in a header. Pure. */
import { invalidVendorArgument, S3Error } from '../errors.ts'
import { limits } from '../limits.ts'
import type { Tag } from '../records/object-attributes.ts'

// AWS S3: letters, numbers and spaces representable in UTF-8, and + - = . _ : / @
const allowed = /^[\p{L}\p{M}\p{N}\p{Zs}+\-=._:/@]*$/u

const ofSystem = {
  bucket: 'System tags cannot be added/updated by requester',
  object: 'Your TagKey cannot be prefixed with aws:',
} as const

/** Throws InvalidTag, and BadRequest for too many, as S3 does. */
export function checkTags(tags: readonly Tag[], of: 'bucket' | 'object'): readonly Tag[] {
  const max = of === 'bucket' ? limits.bucketTagsMax : limits.objectTagsMax
  if (tags.length > max) {
    throw new S3Error('BadRequest', {
      message: `${of === 'bucket' ? 'Bucket tag count' : 'Object tags'} cannot be greater than ${max}`,
    })
  }
  const seen = new Set<string>()
  for (const { key, value } of tags) {
    if (key.length === 0 || [...key].length > limits.tagKeyCharsMax || !allowed.test(key)) {
      throw invalidTag('The TagKey you have provided is invalid', key)
    }
    if ([...value].length > limits.tagValueCharsMax || !allowed.test(value)) {
      throw invalidTag('The TagValue you have provided is invalid', key, { TagValue: value })
    }
    if (key.toLowerCase().startsWith('aws:')) throw invalidTag(ofSystem[of], key)
    if (seen.has(key)) throw invalidTag('Cannot provide multiple Tags with the same key', key)
    seen.add(key)
  }
  return tags
}

function invalidTag(message: string, key: string, more: Record<string, string> = {}): S3Error {
  return new S3Error('InvalidTag', { message, details: { TagKey: key, ...more } })
}

/**
 * Parses the `tagging` header: `k1=v1&k2=v2`, percent-encoded. Throws InvalidArgument for what is no such text, also for a key that comes twice and for characters
 * that a tag can't have, and what `checkTags` throws.
 */
export function parseTaggingHeader(header: string): readonly Tag[] {
  const malformed = (): S3Error =>
    invalidVendorArgument(
      'tagging',
      header,
      (name) =>
        `The header '${name}' shall be encoded as UTF-8 then URLEncoded URL query parameters without tag name duplicates.`,
    )
  const pairs = header.split('&').filter((pair) => pair !== '')
  const tags = pairs.map((pair) => {
    const at = pair.indexOf('=')
    const [key, value] = at < 0 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)]
    return { key: decodeFormText(key, malformed), value: decodeFormText(value, malformed) }
  })
  const isRepeated = new Set(tags.map(({ key }) => key)).size < tags.length
  if (isRepeated || tags.some(({ key, value }) => !allowed.test(key) || !allowed.test(value))) throw malformed()
  return checkTags(tags, 'object')
}

function decodeFormText(text: string, malformed: () => S3Error): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw malformed()
  }
}
