/** Ends multipart uploads without an object. */
import type { Backend } from '../commits/backend.ts'
import { commitDecision, garbagePut } from '../commits/commit.ts'
import type { BucketScope } from '../commits/scope.ts'
import { usageChange } from '../commits/usage.ts'
import type { Commit, Version } from '../kv/kv.ts'
import { openUploadKey, uploadKey, usageKey } from '../records/keyspace.ts'
import type { OpenUpload } from '../records/records.ts'
import { minus, noUsage } from '../rules/quota.ts'
import { partChecks, readAllParts, usageOfParts } from './upload-parts.ts'
import { findOpenUpload, type UploadAddress } from './uploads.ts'

/** Ends an upload and gives up its parts. If a Complete runs at the same time, exactly one of the two succeeds. Throws NoSuchUpload. */
export async function abortUpload(backend: Backend, scope: BucketScope, address: UploadAddress): Promise<void> {
  await commitDecision(backend, async () => {
    const upload = await findOpenUpload(backend, scope, address)
    return { result: undefined, commit: await abortCommit(backend, address.uploadId, upload.record, upload.version) }
  })
}

/** The commit that ends an open upload: on request, by its age, or with its bucket. */
export async function abortCommit(
  backend: Backend,
  uploadId: string,
  { bucketId, key: objectKey }: OpenUpload,
  version: Version,
): Promise<Commit> {
  const key = uploadKey(uploadId)
  const checks = [{ key, version }]
  const deletes = [key, openUploadKey(bucketId, objectKey, uploadId)]
  const given = garbagePut(backend, { kind: 'parts', uploadId })
  const total = usageKey(bucketId)
  const [counted] = await backend.kv.get([total])
  if (counted === undefined) return { checks: [...checks, { key: total, absent: true }], deletes, puts: [given] }
  const parts = await readAllParts(backend, uploadId)
  return {
    checks: [...checks, ...partChecks(uploadId, parts.values())],
    deletes,
    puts: [given, ...usageChange(backend, bucketId, minus(noUsage, usageOfParts(parts)))],
  }
}
