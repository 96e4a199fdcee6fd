/** Opaque tokens of paged answers, which say where the next page starts. Pure. */
import { argumentWithoutValue } from '../../errors.ts'
import type { PageStart } from '../../rules/listing.ts'

/** A token for `readPageToken`. It is opaque to clients, but holds no secret. */
export function pageToken(next: PageStart): string {
  const [kind, text] = 'afterKey' in next ? ['k', next.afterKey] : ['g', next.afterGroup]
  return Buffer.from(kind + text).toString('base64url')
}

/** Throws InvalidArgument for anything that `pageToken` did not make. */
export function readPageToken(token: string): PageStart {
  const decoded = Buffer.from(token, 'base64url')
  const text = decoded.toString('utf8')
  const kind = text.charAt(0)
  if (decoded.toString('base64url') === token && Buffer.from(text).equals(decoded) && (kind === 'k' || kind === 'g')) {
    return kind === 'k' ? { afterKey: text.slice(1) } : { afterGroup: text.slice(1) }
  }
  throw argumentWithoutValue('continuation-token', 'The continuation token provided is incorrect')
}
