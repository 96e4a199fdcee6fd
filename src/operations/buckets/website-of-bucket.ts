/** The website configuration of a bucket, and the rules that apply it. Reading it needs no permission, because anybody can request the website's pages. */
import type { Backend } from '../../commits/backend.ts'
import { S3Error } from '../../errors.ts'
import { findBucketIfAny } from '../../objects/buckets.ts'
import type { WebsiteConfiguration } from '../../records/website.ts'

export { directoryOf, keyOfPage, type PageRedirect, type PageRequest, redirectOf } from '../../rules/website.ts'
export type { WebsiteConfiguration }

/** Rejects with the same NoSuchWebsiteConfiguration for a bucket that is not a website and for one that is not there. */
export async function findWebsite(backend: Backend, name: string): Promise<WebsiteConfiguration> {
  // No permission is needed, because only the configuration is read. Objects are requested later, as an unsigned request.
  const website = (await findBucketIfAny(backend, { name, admit: () => {} }))?.website
  if (website !== undefined) return website
  throw new S3Error('NoSuchWebsiteConfiguration', { details: { BucketName: name } })
}
