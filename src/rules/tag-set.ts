/** Rules for tag sets, which come as a list of elements or as URL query parameters in a header. Pure. */
import { S3Error } from '../errors.ts'
import { limits } from '../limits.ts'
import type { Tag } from '../records/object-attributes.ts'

// AWS S3: letters, numbers and spaces representable in UTF-8, and + - = . _ : / @
const allowed = /^[\p{L}\p{M}\p{N}\p{Zs}+\-=._:/@]*$/u

/** Throws InvalidTag, or BadRequest for too many, as S3 does. */
export function checkTags(tags: readonly Tag[], of: 'bucket' | 'object'): readonly Tag[] {
  const max = of === 'bucket' ? limits.bucketTagsMax : limits.objectTagsMax
  if (tags.length > max) {
    throw new S3Error('BadRequest', {
      message: `${of === 'bucket' ? 'Bucket' : 'Object'} tags cannot be greater than ${max}`,
    })
  }
  const seen = new Set<string>()
  for (const { key, value } of tags) {
    if (key.length === 0 || [...key].length > limits.tagKeyCharsMax || !allowed.test(key)) {
      throw invalidTag('The TagKey you have provided is invalid', key)
    }
    if ([...value].length > limits.tagValueCharsMax || !allowed.test(value)) {
      throw invalidTag('The TagValue you have provided is invalid', key)
    }
    if (key.toLowerCase().startsWith('aws:')) throw invalidTag('System tags cannot be added/updated by requester', key)
    if (seen.has(key)) throw invalidTag('Cannot provide multiple Tags with the same key', key)
    seen.add(key)
  }
  return tags
}

function invalidTag(message: string, key: string): S3Error {
  return new S3Error('InvalidTag', { message, details: { TagKey: key } })
}

/** Parses the `tagging` header: `k1=v1&k2=v2`, percent-encoded. Throws InvalidArgument when the encoding is invalid, and what `checkTags` throws. */
export function parseTaggingHeader(header: string): readonly Tag[] {
  const pairs = header.split('&').filter((pair) => pair !== '')
  const tags = pairs.map((pair) => {
    const at = pair.indexOf('=')
    return at < 0
      ? { key: decodeFormText(pair, header), value: '' }
      : { key: decodeFormText(pair.slice(0, at), header), value: decodeFormText(pair.slice(at + 1), header) }
  })
  return checkTags(tags, 'object')
}

function decodeFormText(text: string, header: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw new S3Error('InvalidArgument', {
      message:
        'The header tagging shall be encoded as UTF-8 then URLEncoded URL query parameters without tag name duplicates.',
      details: { ArgumentName: 'tagging', ArgumentValue: header },
    })
  }
}
