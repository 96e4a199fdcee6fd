/** The most that buckets may hold. */
import { adminPath, askAdmin } from './admin.ts'
import { Refusal } from './refusal.ts'

export interface Held {
  bytes: number
  objects: number
}

export interface Quota extends Partial<Held> {
  /** Absent: the server still counts what the bucket holds. */
  used?: Held
}

/** `undefined`: the bucket has none. */
export async function bucketQuota(bucket: string): Promise<Quota | undefined> {
  try {
    return await askAdmin<Quota>('GET', adminPath('quotas', bucket))
  } catch (error) {
    if (error instanceof Refusal && error.code === 'NoSuchQuota') return undefined
    throw error
  }
}

export const putQuota = (bucket: string, most: Partial<Held>): Promise<Quota> =>
  askAdmin('PUT', adminPath('quotas', bucket), most)

export const removeQuota = (bucket: string): Promise<undefined> => askAdmin('DELETE', adminPath('quotas', bucket))
