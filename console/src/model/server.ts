/** What the admin API says about the server. Users without the permissions see the pages without it. */
import { askAdmin } from '../api/admin.ts'
import type { ObjectAddress } from '../api/objects.ts'
import type { Held, Quota } from '../api/quotas.ts'
import { Refusal } from '../api/refusal.ts'
import { may } from './permissions.ts'

export interface BucketUsage {
  location: string
  objects: number | undefined
  bytes: number | undefined
  /** The most that it may hold. */
  quota: Partial<Held> | undefined
}

interface BucketView {
  name: string
  location: string
  usage?: { versions: number; bytes: number }
  quota?: Quota
}

/** By name. Empty for users who may not see it. */
export async function bucketUsage(): Promise<ReadonlyMap<string, BucketUsage>> {
  if (!may('ListBuckets')) return new Map()
  const { buckets } = await unlessRefused(askAdmin<{ buckets: BucketView[] }>('GET', '/v1/buckets'), { buckets: [] })
  return new Map(
    buckets.map(({ name, location, usage, quota }) => {
      // With a quota, the server knows it exactly. Otherwise it counts now and then.
      const { objects, bytes } = quota?.used ?? { objects: usage?.versions, bytes: usage?.bytes }
      return [name, { location, objects, bytes, quota }]
    }),
  )
}

export async function locationNames(): Promise<string[]> {
  if (!may('ListLocations')) return []
  const { locations } = await unlessRefused(askAdmin<{ locations: { name: string }[] }>('GET', '/v1/locations'), {
    locations: [],
  })
  return locations.map(({ name }) => name)
}

async function unlessRefused<T>(asked: Promise<T>, otherwise: T): Promise<T> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof Refusal && error.status === 403) return otherwise
    throw error
  }
}

/** A URL by which anybody can read an object. The server signs it with the user's key. */
export async function shareLink({ bucket, key, versionId }: ObjectAddress, expiresSeconds: number): Promise<string> {
  const { url } = await askAdmin<{ url: string }>('POST', '/v1/session/link', {
    bucket,
    key,
    versionId,
    expiresSeconds,
  })
  return url
}

export interface Question {
  accessKeyId?: string
  action: string
  resource: string
}

export const explainAccess = (question: Question): Promise<{ allowed: boolean; reason: string }> =>
  askAdmin('POST', '/v1/access/explain', question)
