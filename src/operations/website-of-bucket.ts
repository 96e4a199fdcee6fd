/** What a bucket is as a website, for whoever asks for its pages: anybody may. What the rules say of it comes along. */
import type { Backend } from '../commits/backend.ts'
import { S3Error } from '../errors.ts'
import { limits } from '../limits.ts'
import { findBucket } from '../objects/buckets.ts'
import type { WebsiteConfiguration } from '../records/website.ts'

export { directoryOf, keyOfPage, type PageRedirect, type PageRequest, redirectOf } from '../rules/website.ts'
export type { WebsiteConfiguration }

/** Rejects with the same NoSuchWebsiteConfiguration for a bucket that is no website and for one that is not there. */
export async function findWebsite(backend: Backend, name: string): Promise<WebsiteConfiguration> {
  const website = name === '' || name.length > limits.bucketNameCharsMax ? undefined : await websiteOf(backend, name)
  if (website !== undefined) return website
  throw new S3Error('NoSuchWebsiteConfiguration', { details: { BucketName: name } })
}

async function websiteOf(backend: Backend, name: string): Promise<WebsiteConfiguration | undefined> {
  try {
    // Its configuration is all that is read of the bucket. What is in it is asked for as any stranger asks.
    return (await findBucket(backend, { name, admit: () => {} })).website
  } catch (error) {
    if (error instanceof S3Error && error.code === 'NoSuchBucket') return undefined
    throw error
  }
}
