/** Aborts uploads that were never completed, and forgets the results of old completed ones. */
import { timeOfId } from '../clock.ts'
import type { Backend } from '../commits/backend.ts'
import { lockNow } from '../commits/lock-clock.ts'
import { keyAfter } from '../kv/ordered-key.ts'
import { limits } from '../limits.ts'
import { abortCommit } from '../objects/abort-upload.ts'
import { uploadIdOf, uploadKey, uploads } from '../records/keyspace.ts'
import { uploadCodec } from '../records/record-codecs.ts'

/** Uploads are ordered by initiation, so this reads only those that are old enough. Resolves with the number of uploads it has ended. */
export async function expireUploads(
  backend: Backend,
  { abandonedUploadMs, did }: { abandonedUploadMs: number; did?(uploads: number): void },
): Promise<number> {
  // Ids have the machine's time. If that clock is set ahead by mistake, the clock of locks does not follow, and no upload ends early.
  const expiredBefore = Math.min(backend.clock.now(), await lockNow(backend)) - abandonedUploadMs
  let expired = 0
  let { start } = uploads
  while (true) {
    const batch = await backend.kv.range({ start, end: uploads.end, limit: limits.reclaimBatch })
    for (const { key, value, version } of batch) {
      const uploadId = uploadIdOf(key)
      if (timeOfId(uploadId) > expiredBefore) return expired
      const record = uploadCodec.decode(key, value)
      if (record.state === 'open') {
        // A Complete or another process changed the upload first. The next run looks at it again.
        if (!(await backend.kv.commit(await abortCommit(backend, uploadId, record, version)))) continue
        expired += 1
        did?.(1)
      } else if (record.completedMs <= expiredBefore) {
        await backend.kv.commit({ checks: [{ key: uploadKey(uploadId), version }], deletes: [key] })
      }
    }
    const last = batch.at(-1)
    if (last === undefined || batch.length < limits.reclaimBatch) return expired
    start = keyAfter(last.key)
  }
}
