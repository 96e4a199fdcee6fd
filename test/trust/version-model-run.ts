/** Runs commands against the server's operations and against the model, and compares every answer, and all that is there in the end. */
import { expect } from 'vitest'
import { advanceLockClock } from '../../src/commits/lock-clock.ts'
import { compactStores } from '../../src/jobs/compact.ts'
import { expireUploads } from '../../src/jobs/expire-uploads.ts'
import { reclaimGarbage } from '../../src/jobs/reclaim.ts'
import type { Kv } from '../../src/kv/kv.ts'
import { memoryKv } from '../../src/kv/memory.ts'
import { findAndRelease } from '../jobs/orphans-fixture.ts'
import type { Command, Of, Scenario } from './version-model-commands.ts'
import { expectListing, expectVersionListing } from './version-model-listings.ts'
import { hold, read, retain, tag } from './version-model-reads.ts'
import { expectCode, hourMs, Twins } from './version-model-twins.ts'
import { copy, deleteLatest, deleteMany, empty, remove, write } from './version-model-writes.ts'

/** Runs a scenario to its end; rejects at the first answer that the model doesn't give. `seen` gathers which operation was answered how: `PutObject ok`. `kv` is empty. */
export async function runScenario(
  { lock, commands }: Scenario,
  seen = new Set<string>(),
  kv: Kv = memoryKv(),
): Promise<void> {
  const twins = new Twins(lock, seen, kv)
  await twins.begin()
  for (const command of commands) await step(twins, command)
  await expectSame(twins)
}

async function step(twins: Twins, command: Command): Promise<void> {
  switch (command.do) {
    case 'put':
    case 'complete':
      return write(twins, command)
    case 'copy':
      return copy(twins, command)
    case 'delete':
      return deleteLatest(twins, command)
    case 'remove':
      return remove(twins, command)
    case 'deleteMany':
      return deleteMany(twins, command)
    case 'empty':
      return empty(twins, command)
    case 'versioning':
      return setVersioning(twins, command)
    case 'lockBucket':
      return lockBucket(twins, command)
    case 'read':
      return read(twins, command.key, twins.named(command.key, command.pick))
    case 'tag':
      return tag(twins, command)
    case 'hold':
      return hold(twins, command)
    case 'retain':
      return retain(twins, command)
    case 'list':
      return expectListing(twins.client, twins.model, command)
    case 'listVersions':
      return expectVersionListing(twins.client, twins.model, command)
    case 'deleteBucket':
      return deleteBucket(twins)
    case 'pass':
      return pass(twins, command)
    case 'jobs':
      return jobs(twins)
  }
}

/** Everything that is there, by every way of looking. */
async function expectSame(twins: Twins): Promise<void> {
  await jobs(twins)
  for (const page of [2, 1000]) {
    await expectVersionListing(twins.client, twins.model, { prefix: '', delimiter: '', page })
    await expectListing(twins.client, twins.model, { prefix: '', delimiter: '', page })
  }
  for (const [key, versions] of twins.model.keys) {
    await read(twins, key, undefined)
    for (const { id } of versions) await read(twins, key, id)
  }
}

async function setVersioning(twins: Twins, { status }: Of<'versioning'>): Promise<void> {
  const outcome = await twins.client.ask('PutBucketVersioning', {}, { body: { Status: status } })
  expectCode(outcome, twins.model.codeOfVersioning(status))
  if (outcome.code === 'ok') twins.model.versioning = status === 'Enabled' ? 'enabled' : 'suspended'
  const { body } = await twins.client.must('GetBucketVersioning')
  const shown = { unversioned: undefined, enabled: 'Enabled', suspended: 'Suspended' }
  expect(body).toEqual({ Status: shown[twins.model.versioning] })
}

async function lockBucket(twins: Twins, { rule }: Of<'lockBucket'>): Promise<void> {
  const Rule = rule && { DefaultRetention: { Mode: rule.mode, Days: rule.days } }
  const outcome = await twins.client.ask(
    'PutObjectLockConfiguration',
    {},
    { body: { ObjectLockEnabled: 'Enabled', Rule } },
  )
  expectCode(outcome, twins.model.codeOfLockConfiguration())
  if (outcome.code !== 'ok') return
  twins.model.lockEnabled = true
  twins.model.rule = rule
}

async function deleteBucket(twins: Twins): Promise<void> {
  const outcome = await twins.client.ask('DeleteBucket')
  expectCode(outcome, twins.model.keys.size === 0 ? 'ok' : 'BucketNotEmpty')
  if (outcome.code === 'ok') await twins.begin()
}

async function pass(twins: Twins, { hours }: Of<'pass'>): Promise<void> {
  twins.clock.advance(hours * hourMs)
  await advanceLockClock(twins.backend)
}

async function jobs(twins: Twins): Promise<void> {
  twins.clock.advance(1)
  await expireUploads(twins.backend, { abandonedUploadMs: 0 })
  await reclaimGarbage(twins.backend, { graceMs: 0 })
  // Then every shard has its owner: no request leaves one behind.
  await compactStores(twins.backend, { graceMs: 0 })
  expect(await findAndRelease(twins.backend, { graceMs: 0 })).toBe(0)
}
