/** Mutations of replication: what is copied, in which order, how often, and what versions say of it. */
import type { Mutation } from './mutation.ts'

const choices = 'replication/choices.test.ts'
const troubles = 'replication/troubles.test.ts'
const recovery = 'jobs/recover-rules.test.ts'
const lifecycle = 'jobs/lifecycle/lifecycle.test.ts'
const wire = 'wire/bucket-replication.test.ts'
const rights = 'replication/rights.test.ts'
const rules = 'rules/replication.test.ts'

export const replicationMutations: readonly Mutation[] = [
  {
    name: 'a copy is from the future',
    file: 'commits/new-version.ts',
    find: 'originalMs === undefined ? nowMs : Math.min(originalMs, nowMs)',
    replace: 'originalMs ?? nowMs',
    suite: wire,
  },
  {
    name: 'a copy of something old makes what it hides expire at once',
    file: 'jobs/lifecycle/due-versions.ts',
    find: 'Math.max(this.#replacedMs, modifiedMs)',
    replace: 'this.#replacedMs',
    suite: lifecycle,
  },
  {
    name: 'a recovery takes what a copy replaced for newer than the copy',
    file: 'jobs/recover/merge-versions.ts',
    find: 'writtenMsOf(known.find(isNull), matches)',
    replace: '(knownNull?.modifiedMs ?? 0)',
    suite: recovery,
  },
  {
    name: 'copies of objects are copied on',
    file: 'commits/replica-queue.ts',
    find: 'if (replication === undefined || attributes.replication !== undefined) return attributes',
    replace: 'if (replication === undefined) return attributes',
    suite: choices,
  },
  {
    name: 'copies of delete markers are copied on',
    file: 'commits/replica-queue.ts',
    find: 'if (replication === undefined || isReplica) return none',
    replace: 'if (replication === undefined) return none',
    suite: choices,
  },
  {
    name: 'an older version is copied over a newer one',
    file: 'jobs/replication/queue-existing.ts',
    find: "if ((await queueVersion(backend, bucket, arn, version)) === 'has a copy') return",
    replace: 'await queueVersion(backend, bucket, arn, version)',
    suite: troubles,
  },
  {
    name: 'a version does not wait for the one before it',
    file: 'jobs/replication/destination-queue.ts',
    find: 'if (held.has(key)) break',
    replace: '',
    suite: troubles,
  },
  {
    name: 'what changes while a version is copied is forgotten',
    file: 'jobs/replication/copy-version.ts',
    find: 'const isDone = waiting.version === queued.version',
    replace: 'const isDone = true',
    suite: choices,
  },
  {
    name: 'a version is complete while another destination waits',
    file: 'rules/replication.ts',
    find: "if (isWaiting) return { status: 'PENDING', copies }",
    replace: '',
    suite: rules,
  },
  {
    name: 'a copy that is sent twice makes two versions',
    file: 'commits/existing-copy.ts',
    find: "return replication?.status === 'REPLICA' && replication.of === original",
    replace: "return replication?.status === 'REPLICA' && original === ''",
    suite: wire,
  },
  {
    name: 'a delete marker that is sent twice makes two',
    file: 'commits/existing-copy.ts',
    find: 'return isCopyOf(version, original)',
    replace: "return isCopyOf(version, original) && original === ''",
    suite: wire,
  },
  {
    name: 'a copy that comes late comes back over what was copied since',
    file: 'commits/existing-copy.ts',
    find: 'limit: replicationLimits.copiesLookedAt',
    replace: 'limit: 1',
    suite: 'commits/existing-copy.test.ts',
  },
  {
    name: 'null versions of two buckets are taken for one',
    file: 'jobs/replication/queued-version.ts',
    find: 'versionId === nullVersionId ?',
    replace: "versionId === '' ?",
    suite: rights,
  },
  {
    name: 'a rule writes to a part of the destination that its sender is denied',
    file: 'access/compile-policy.ts',
    find: 'if (everyObject && isBar)',
    replace: "if (everyObject && isBar && resource === '')",
    suite: rights,
  },
  {
    name: 'a rule hides keys where its sender may only write',
    file: 'operations/buckets/replication-rights.ts',
    find: '...(takesMarkers(rule) ?',
    replace: "...(takesMarkers(rule) && keysOf(rule) === '' ?",
    suite: rights,
  },
  {
    name: 'a copy is made without looking at what its sender may do by now',
    file: 'jobs/replication/copy-version.ts',
    find: 'await rights?.check(backend, { bucket, arn, key, record })',
    replace: '',
    suite: rights,
  },
  {
    name: 'rules copy with the rights of the account that a user belonged to',
    file: 'operations/buckets/replication-sender.ts',
    find: 'if (user === undefined)\n',
    replace: 'if (user === undefined || !known.users.has(user.id))\n',
    suite: rights,
  },
]
