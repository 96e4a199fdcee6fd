/** The website configuration of a bucket, and the rules that apply it. Reading it needs no permission, because anybody can request the website's pages. */
import type { Backend } from '../../commits/backend.ts'
import { S3Error } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { findBucket } from '../../objects/buckets.ts'
import type { WebsiteConfiguration } from '../../records/website.ts'

export { directoryOf, keyOfPage, type PageRedirect, type PageRequest, redirectOf } from '../../rules/website.ts'
export type { WebsiteConfiguration }

/** Rejects with the same NoSuchWebsiteConfiguration for a bucket that is not a website and for one that is not there. */
export async function findWebsite(backend: Backend, name: string): Promise<WebsiteConfiguration> {
  const website = name === '' || name.length > limits.bucketNameCharsMax ? undefined : await websiteOf(backend, name)
  if (website !== undefined) return website
  throw new S3Error('NoSuchWebsiteConfiguration', { details: { BucketName: name } })
}

async function websiteOf(backend: Backend, name: string): Promise<WebsiteConfiguration | undefined> {
  try {
    // No permission is needed, because only the configuration is read. Objects are requested later, as an unsigned request.
    return (await findBucket(backend, { name, admit: () => {} })).website
  } catch (error) {
    if (error instanceof S3Error && error.code === 'NoSuchBucket') return undefined
    throw error
  }
}
