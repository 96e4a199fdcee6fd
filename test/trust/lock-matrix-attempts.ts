/** Every operation and every job that can change or remove data, each with what S3's documentation says it may do to a locked version. */
import type { Principal } from '../../src/auth/principal.ts'
import { compactStores } from '../../src/jobs/compact.ts'
import { expireUploads } from '../../src/jobs/expire-uploads.ts'
import { Lifecycle } from '../../src/jobs/lifecycle/lifecycle.ts'
import { reclaimGarbage } from '../../src/jobs/reclaim.ts'
import { changeBucket } from '../../src/objects/buckets.ts'
import type { Retention, RetentionMode } from '../../src/records/object-attributes.ts'
import { findAndRelease } from '../jobs/orphans-fixture.ts'
import { type Code, dataOf, type Lock, putInputs } from './direct-client.ts'
import { hourMs, key, type Place, type World } from './lock-matrix-world.ts'
import { isProtected, mayBecome } from './lock-rule.ts'

/** What comes of an attempt by someone who has the permission for it. */
export interface Consequence {
  code: Code
  /** The version is gone. */
  removed?: boolean
  /** The lock is another from now on. */
  lock?: Lock
}

export interface Attempt {
  name: string
  /** By AWS's name. Absent: a job, which asks nobody. */
  permission?: string
  /** Heeds `bypass-governance-retention`. A delete that names no version removes nothing, and takes no notice of it. */
  takesBypass?: boolean
  /** Where it makes sense; absent: everywhere. */
  only?: Place
  make(world: World, as: Principal, bypass: boolean): Promise<Code>
  /** `bypass`: asked for, and permitted. */
  rule(world: World, bypass: boolean): Consequence
}

const harmless = (code: Code = 'ok') => ({ rule: (): Consequence => ({ code }) })

const body = Buffer.from('attempt')

/** Writes without a version's name never touch an existing version: "Amazon S3 adds a new version". */
const writes: readonly Attempt[] = [
  {
    name: 'put over',
    permission: 's3:PutObject',
    make: async ({ client }, as) => (await client.ask('PutObject', { key, as }, putInputs(body))).code,
    ...harmless(),
  },
  {
    name: 'copy over',
    permission: 's3:PutObject',
    make: async ({ client }, as) =>
      (await client.ask('CopyObject', { key, as }, { copySource: '/bucket/source' })).code,
    ...harmless(),
  },
  {
    name: 'copy onto itself',
    permission: 's3:PutObject',
    only: 'latest',
    make: async ({ client, versionId }, as) => {
      const copySource = `/bucket/${key}?versionId=${versionId}`
      return (await client.ask('CopyObject', { key, as }, { copySource, metadataDirective: 'REPLACE' })).code
    },
    ...harmless(),
  },
  {
    name: 'complete over',
    permission: 's3:PutObject',
    make: async ({ client }, as) => {
      const upload = await client.upload(key, body)
      return (await client.ask('CompleteMultipartUpload', { key, as }, upload)).code
    },
    ...harmless(),
  },
  {
    name: 'abort an upload of the key',
    permission: 's3:AbortMultipartUpload',
    make: async ({ client }, as) => {
      const { uploadId } = await client.upload(key, body)
      return (await client.ask('AbortMultipartUpload', { key, as }, { uploadId })).code
    },
    ...harmless(),
  },
  {
    name: 'abort the upload that it was made by',
    permission: 's3:AbortMultipartUpload',
    only: 'of parts',
    make: async ({ client, uploadId }, as) =>
      (await client.ask('AbortMultipartUpload', { key, as }, { uploadId })).code,
    ...harmless('NoSuchUpload'),
  },
  {
    name: 'send another part to the upload that it was made by',
    permission: 's3:PutObject',
    only: 'of parts',
    make: async ({ client, uploadId }, as) =>
      (await client.ask('UploadPart', { key, as }, { uploadId, partNumber: 1, body: dataOf(body) })).code,
    ...harmless('NoSuchUpload'),
  },
]

/** DELETE without a version's name makes a delete marker; with one it removes the version unless that is protected. */
const removal = (world: World, bypass: boolean): Consequence =>
  isProtected(world.lock, world.believedMs, bypass) ? { code: 'AccessDenied' } : { code: 'ok', removed: true }

async function deleteVersion({ client, versionId }: World, as: Principal, bypass: boolean): Promise<Code> {
  const input = { versionId, bypassGovernanceRetention: bypass }
  return (await client.ask('DeleteObject', { key, as }, input)).code
}

/** By DeleteObjects, which answers each object for itself. */
async function deleteMany({ client }: World, versionId: string | undefined, as: Principal, bypass: boolean) {
  const listed = { body: { Object: [{ Key: key, VersionId: versionId }] }, bypassGovernanceRetention: bypass }
  const { code, answer } = await client.ask('DeleteObjects', { as }, listed)
  if (code !== 'ok') return code
  const { Error: failed } = answer.body as { Error: { Code: Code }[] }
  return failed[0]?.Code ?? 'ok'
}

/** The machine's clock is elsewhere for the time of a removal, further than the server may believe. */
const removalWithClockSet = (name: string, byMs: number): Attempt => ({
  name,
  permission: 's3:DeleteObjectVersion',
  takesBypass: true,
  make: async (world, as, bypass) => {
    world.clock.set(byMs)
    const code = await deleteVersion(world, as, bypass)
    world.clock.set(-byMs)
    return code
  },
  rule: removal,
})

const yearMs = 365 * 24 * hourMs

const removals: readonly Attempt[] = [
  {
    name: 'delete',
    permission: 's3:DeleteObject',
    make: async ({ client }, as, bypass) =>
      (await client.ask('DeleteObject', { key, as }, { bypassGovernanceRetention: bypass })).code,
    ...harmless(),
  },
  {
    name: 'delete the version',
    permission: 's3:DeleteObjectVersion',
    takesBypass: true,
    make: deleteVersion,
    rule: removal,
  },
  removalWithClockSet('delete the version with the clock a year ahead', yearMs),
  removalWithClockSet('delete the version with the clock a year back', -yearMs),
  {
    name: 'delete by DeleteObjects',
    permission: 's3:DeleteObject',
    make: (world, as, bypass) => deleteMany(world, undefined, as, bypass),
    ...harmless(),
  },
  {
    name: 'delete the version by DeleteObjects',
    permission: 's3:DeleteObjectVersion',
    takesBypass: true,
    make: (world, as, bypass) => deleteMany(world, world.versionId, as, bypass),
    rule: removal,
  },
  {
    name: 'let lifecycle rules remove all versions',
    make: followRules,
    // It asks nobody, and takes all that no lock protects.
    rule: ({ lock, believedMs }) => ({ code: 'ok', removed: !isProtected(lock, believedMs, false) }),
  },
  {
    name: 'delete the bucket',
    permission: 's3:DeleteBucket',
    make: async ({ client }, as) => (await client.ask('DeleteBucket', { as })).code,
    ...harmless('BucketNotEmpty'),
  },
]

/** The first walk hides what is latest, and the second removes what that left. */
async function followRules({ backend }: World): Promise<Code> {
  const scope = { name: 'bucket', admit: () => {} }
  const everything = { id: 'everything', enabled: true, filter: { form: 'filter', prefix: key, tags: [] } } as const
  const lifecycle = [{ ...everything, expiration: { dateMs: 0 }, noncurrent: {} }]
  await changeBucket(backend, scope, (bucket) => ({ ...bucket, lifecycle }))
  for (let walks = 0; walks < 2; walks++) {
    await new Lifecycle({
      backend,
      onError: (error) => {
        throw error
      },
    }).run()
  }
  await changeBucket(backend, scope, (bucket) => ({ ...bucket, lifecycle: undefined }))
  return 'ok'
}

/** Sets another retention than the version has. */
function retaining(name: string, next: (world: World) => Retention | undefined): Attempt {
  return {
    name,
    permission: 's3:PutObjectRetention',
    takesBypass: true,
    make: async (world, as, bypass) => {
      const retention = next(world)
      const input = {
        versionId: world.versionId,
        bypassGovernanceRetention: bypass,
        body: { Mode: retention?.mode, RetainUntilDate: retention?.untilMs },
      }
      return (await world.client.ask('PutObjectRetention', { key, as }, input)).code
    },
    rule: (world, bypass) => {
      const retention = next(world)
      const allowed = mayBecome(world.lock, retention, world.believedMs, bypass)
      return allowed ? { code: 'ok', lock: { ...world.lock, retention } } : { code: 'AccessDenied' }
    },
  }
}

const modeOf = ({ lock }: World): RetentionMode => lock.retention?.mode ?? 'GOVERNANCE'
const otherMode = (world: World): RetentionMode => (modeOf(world) === 'GOVERNANCE' ? 'COMPLIANCE' : 'GOVERNANCE')
/** When the present retention ends, if that is still to come. */
const endOf = ({ lock, believedMs }: World): number => Math.max(lock.retention?.untilMs ?? 0, believedMs + hourMs)
/** Sooner, and still to come. */
const soonerThan = (world: World): number => world.believedMs + (endOf(world) - world.believedMs) / 2

/** Puts or lifts the hold: "users with the permission", whatever the retention. */
const holding = (name: string, hold: boolean): Attempt => ({
  name,
  permission: 's3:PutObjectLegalHold',
  make: async ({ client, versionId }, as) => {
    const input = { versionId, body: { Status: hold ? 'ON' : 'OFF' } }
    return (await client.ask('PutObjectLegalHold', { key, as }, input)).code
  },
  rule: ({ lock }) => ({ code: 'ok', lock: { ...lock, hold } }),
})

/** "Tags can be changed at any time": they are no part of what a lock protects. */
const tagging = (name: string, operation: string, permission: string, tags: Record<string, unknown>): Attempt => ({
  name,
  permission,
  make: async ({ client, versionId }, as) => (await client.ask(operation, { key, as }, { versionId, ...tags })).code,
  ...harmless(),
})

/** "The default retention applies to new object versions": those that are there keep what they have. */
const configuring = (name: string, rule: Record<string, unknown> | undefined): Attempt => ({
  name,
  permission: 's3:PutBucketObjectLockConfiguration',
  make: async ({ client }, as) => {
    const input = { body: { ObjectLockEnabled: 'Enabled', Rule: rule } }
    return (await client.ask('PutObjectLockConfiguration', { as }, input)).code
  },
  ...harmless(),
})

/** "You can't suspend versioning for a bucket that has Object Lock." */
const versioning = (name: string, status: string, code: Code): Attempt => ({
  name,
  permission: 's3:PutBucketVersioning',
  make: async ({ client }, as) => (await client.ask('PutBucketVersioning', { as }, { body: { Status: status } })).code,
  ...harmless(code),
})

const changes: readonly Attempt[] = [
  retaining('retain longer', (world) => ({ mode: modeOf(world), untilMs: endOf(world) + hourMs })),
  retaining('retain as long', (world) => ({ mode: modeOf(world), untilMs: endOf(world) })),
  retaining('retain shorter', (world) => ({ mode: modeOf(world), untilMs: soonerThan(world) })),
  retaining('retain for a second less', (world) => ({ mode: modeOf(world), untilMs: endOf(world) - 1000 })),
  retaining('retain no longer', () => undefined),
  retaining('retain longer in the other mode', (world) => ({ mode: otherMode(world), untilMs: endOf(world) + hourMs })),
  retaining('retain shorter in the other mode', (world) => ({ mode: otherMode(world), untilMs: soonerThan(world) })),
  holding('put under hold', true),
  holding('lift the hold', false),
  tagging('tag', 'PutObjectTagging', 's3:PutObjectVersionTagging', {
    body: { TagSet: { Tag: [{ Key: 'a', Value: 'b' }] } },
  }),
  tagging('remove the tags', 'DeleteObjectTagging', 's3:DeleteObjectVersionTagging', {}),
  configuring('take the default retention away', undefined),
  configuring('make the default retention a day of governance', { DefaultRetention: { Mode: 'GOVERNANCE', Days: 1 } }),
  versioning('suspend versioning', 'Suspended', 'InvalidBucketState'),
  versioning('enable versioning again', 'Enabled', 'ok'),
]

const job = (name: string, work: (world: World) => Promise<unknown>): Attempt => ({
  name,
  make: async (world) => {
    await work(world)
    return 'ok'
  },
  ...harmless(),
})

/** With no grace at all: whatever they may take, they take now. */
export const jobs: readonly Attempt[] = [
  job('expire all uploads', async (world) => {
    await world.client.upload(key, body)
    world.clock.advance(1)
    await expireUploads(world.backend, { abandonedUploadMs: 0 })
  }),
  job('search for orphans', async (world) => {
    await compactStores(world.backend, { graceMs: 0 })
    await findAndRelease(world.backend, { graceMs: 0 })
  }),
  job('reclaim garbage', async (world) => {
    world.clock.advance(1)
    await reclaimGarbage(world.backend, { graceMs: 0 })
  }),
  job('compact', ({ backend }) => compactStores(backend, { graceMs: 0 })),
]

export const attempts: readonly Attempt[] = [...writes, ...removals, ...changes]
