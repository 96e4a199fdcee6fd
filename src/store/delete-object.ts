/** Removes the current version of a key. What it kept is reclaimed later. */
import { S3Error } from '../errors.ts'
import { commitDecision } from './commit.ts'
import { readTarget, replaceCurrent } from './current-object.ts'
import { etagListed } from './preconditions.ts'
import type { BucketScope } from './scope.ts'
import type { Store } from './store.ts'

/** Removing what is not there is no error. With `ifMatch`, throws PreconditionFailed when the current version has another entity tag, NoSuchKey when there is none. */
export async function deleteObject(
  store: Store,
  scope: BucketScope,
  key: string,
  conditions: { ifMatch?: string | undefined },
): Promise<void> {
  await commitDecision(store, async () => {
    const target = await readTarget(store, scope, key)
    if (conditions.ifMatch !== undefined) {
      if (target.current === undefined) throw new S3Error('NoSuchKey', { details: { Key: key } })
      if (!etagListed(conditions.ifMatch, target.current.etag)) throw new S3Error('PreconditionFailed')
    }
    const commit = target.current === undefined ? {} : replaceCurrent(store, target, undefined)
    return { result: undefined, commit }
  })
}
