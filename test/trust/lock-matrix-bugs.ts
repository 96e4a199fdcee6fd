/** Ways around a lock, as other servers had them or might: each replaces a function of the server by one that forgets something. */

import type { Backend } from '../../src/commits/backend.ts'
import { garbagePut } from '../../src/commits/commit.ts'
import type { BucketScope } from '../../src/commits/scope.ts'
import { findVersion } from '../../src/objects/find-version.ts'
import { bucketKey, objectKey } from '../../src/records/keyspace.ts'
import { objectCodec } from '../../src/records/record-codecs.ts'

export interface Modules {
  buckets: typeof import('../../src/objects/buckets.ts')
  changeVersion: typeof import('../../src/objects/change-version.ts')
  historyCommit: typeof import('../../src/commits/history-commit.ts')
  lockClock: typeof import('../../src/commits/lock-clock.ts')
  permissions: typeof import('../../src/operations/access/authorize.ts')
  retention: typeof import('../../src/rules/retention.ts')
  shardOwner: typeof import('../../src/jobs/shard-owner.ts')
  abortUpload: typeof import('../../src/objects/abort-upload.ts')
}

export type Plugs = { [M in keyof Modules]?: (real: Modules[M]) => Partial<Modules[M]> }

export interface Bug {
  name: string
  plugs: Plugs
  /** What the first violation says, at least. */
  found: RegExp
}

/** Permissions of which some are not asked. */
const permitsUnless = (isIgnored: (permission: string, isOwner: boolean) => boolean): Plugs => ({
  permissions: ({ authorize }) => ({
    authorize: (asker, asked) => {
      const isOwner = asked.bucket === undefined || asked.bucket.owner === asker.principal.accountId
      if (!isIgnored(asked.permission, isOwner)) authorize(asker, asked)
    },
  }),
})

/** Writes the record of a version anew, without its lock. */
async function dropLock(
  backend: Backend,
  scope: BucketScope,
  key: string,
  versionId: string | undefined,
): Promise<void> {
  const { entry, record } = await findVersion(backend, scope, key, versionId)
  const attributes = { ...record.attributes, retention: undefined, legalHold: undefined }
  const bare = { ...record, attributes }
  await backend.kv.commit({ puts: [{ key: entry.key, value: objectCodec.encode(entry.key, bare) }] })
}

export const bugs: readonly Bug[] = [
  {
    name: 'a legal hold is not asked',
    plugs: {
      retention: ({ checkRemovable }) => ({
        checkRemovable: (version, claim) => checkRemovable({ ...version, legalHold: undefined }, claim),
      }),
    },
    found: /\(hold, [\w ]+\): DELETE of the version was answered ok/,
  },
  {
    name: 'bypassing governance passes over a hold too',
    plugs: {
      retention: ({ checkRemovable }) => ({
        checkRemovable: (version, claim) => (claim.bypassGovernance ? undefined : checkRemovable(version, claim)),
      }),
    },
    found: /delete the version by the owner, bypassing governance.*answered ok/,
  },
  {
    name: 'bypassing governance passes over compliance',
    plugs: {
      retention: ({ checkRemovable }) => ({
        checkRemovable: (version, claim) => {
          if (!(claim.bypassGovernance && version.legalHold !== true)) checkRemovable(version, claim)
        },
      }),
    },
    found: /bypassing governance \(compliance, .*answered ok/,
  },
  {
    name: 'governance is taken for no lock',
    plugs: {
      retention: ({ checkRemovable }) => ({
        checkRemovable: (version, claim) => checkRemovable(version, { ...claim, bypassGovernance: true }),
      }),
    },
    found: /retain longer by the owner .*: DELETE of the version was answered ok/,
  },
  {
    name: 'any retention may change to any other',
    plugs: { retention: () => ({ checkRetentionChange: () => {} }) },
    found: /retain shorter by the owner \(governance, .*answered ok/,
  },
  {
    name: 'compliance may become governance',
    plugs: {
      retention: ({ checkRetentionChange }) => ({
        checkRetentionChange: (version, next, claim) => {
          const asked = next && version.retention && { ...next, mode: version.retention.mode }
          checkRetentionChange(version, asked, claim)
        },
      }),
    },
    found: /retain longer in the other mode by the owner .*answered ok/,
  },
  {
    name: 'a bypass may remove any retention',
    plugs: {
      retention: ({ checkRetentionChange }) => ({
        checkRetentionChange: (version, next, claim) => {
          if (next !== undefined || !claim.bypassGovernance) checkRetentionChange(version, next, claim)
        },
      }),
    },
    found: /retain no longer by the owner, bypassing governance \(compliance, .*answered ok/,
  },
  {
    name: 'the default retention is not stamped',
    plugs: { retention: () => ({ retentionFrom: () => undefined }) },
    found: /by default, .*the lock is \[null,null\]/,
  },
  {
    name: 'the permission to bypass governance is not asked',
    plugs: permitsUnless((permission) => permission === 's3:BypassGovernanceRetention'),
    found: /a key without s3:BypassGovernanceRetention, bypassing governance .*must be AccessDenied/,
  },
  {
    name: 'the owner of the bucket is not asked',
    plugs: permitsUnless((_, isOwner) => !isOwner),
    found: /by another account .*must be AccessDenied/,
  },
  {
    name: 'removing a version takes no permission of its own',
    plugs: permitsUnless((permission) => permission === 's3:DeleteObjectVersion'),
    found: /a key without s3:DeleteObjectVersion .*must be AccessDenied/,
  },
  {
    name: 'locks are judged by the machine’s clock',
    plugs: { lockClock: () => ({ lockNow: async (store) => store.clock.now() }) },
    found: /with the clock a year ahead by the owner .*answered ok/,
  },
  {
    name: 'the commit asks no lock',
    plugs: {
      historyCommit: ({ historyCommit }) => ({
        historyCommit: (backend, history, change, _, event) =>
          historyCommit(
            backend,
            history,
            { ...change, removed: [] },
            { nowMs: Infinity, bypassGovernance: true },
            event,
          ),
      }),
    },
    found: /retain longer by the owner .*: DELETE of the version was answered ok/,
  },
  {
    name: 'what is overwritten becomes garbage, as if there were no versions',
    plugs: {
      historyCommit: ({ historyCommit }) => ({
        historyCommit: (backend, history, change, claim, event) => {
          const commit = historyCommit(backend, history, change, claim, event)
          const data = history.versions.current?.data
          if (data?.kind !== 'blob') return commit
          return {
            ...commit,
            puts: [...(commit.puts ?? []), garbagePut(backend, { kind: 'blob', manifest: data.manifest })],
          }
        },
      }),
    },
    found: /the bytes of the version are gone/,
  },
  {
    name: 'the search for orphans knows current versions only',
    plugs: {
      shardOwner: ({ findOwner }) => ({
        findOwner: async (backend, storeId, shard) => {
          const found = await findOwner(backend, storeId, shard)
          if (found === undefined || found === 'foreign') return found
          return found.entry.key.subarray(0, 2).equals(objectKey('', '').subarray(0, 2)) ? found : undefined
        },
      }),
    },
    found: /the bytes of the version are gone/,
  },
  {
    name: 'a change of tags drops the lock',
    plugs: {
      changeVersion: ({ setTags }) => ({
        setTags: async (backend, scope, address, tags) => {
          const changed = await setTags(backend, scope, address, tags)
          await dropLock(backend, scope, address.key, address.versionId)
          return changed
        },
      }),
    },
    found: /tag by the owner .*the lock is/,
  },
  {
    name: 'a change of the hold drops the retention',
    plugs: {
      changeVersion: ({ setLegalHold }) => ({
        setLegalHold: async (backend, scope, address, hold) => {
          await dropLock(backend, scope, address.key, address.versionId)
          return setLegalHold(backend, scope, address, hold)
        },
      }),
    },
    found: /(?:lift the hold|put under hold) by the owner \(governance, .*the lock is/,
  },
  {
    name: 'versioning of a bucket with Object Lock may be suspended',
    plugs: {
      buckets: ({ changeBucket }) => ({
        changeBucket: (backend, scope, change) =>
          changeBucket(backend, scope, (bucket) => {
            const changed = change({ ...bucket, objectLock: undefined })
            return { ...changed, objectLock: changed.objectLock ?? bucket.objectLock }
          }),
      }),
    },
    found: /suspend versioning by the owner .*answered ok, must be InvalidBucketState/,
  },
  {
    name: 'a bucket goes with everything in it',
    plugs: {
      buckets: () => ({
        deleteBucket: async (backend, scope) => {
          await backend.kv.commit({ deletes: [bucketKey(scope.name)] })
        },
      }),
    },
    found: /delete the bucket by the owner .*answered ok, must be BucketNotEmpty/,
  },
  {
    name: 'aborting a completed upload gives its parts up',
    plugs: {
      abortUpload: ({ abortUpload }) => ({
        abortUpload: async (backend, scope, address) => {
          try {
            await abortUpload(backend, scope, address)
          } catch (error) {
            const { uploadId } = address
            await backend.kv.commit({ puts: [garbagePut(backend, { kind: 'parts', uploadId })] })
            throw error
          }
        },
      }),
    },
    found: /abort the upload that it was made by .*the bytes of the version are gone/,
  },
]
