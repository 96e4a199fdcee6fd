/** Two changes at the same time: the second comes when the first has decided and not yet committed. What each row must lead to. */
import type { Retention } from '../../src/records/object-attributes.ts'
import { type Code, type DirectClient, type Lock, owner, putInputs } from './direct-client.ts'
import { attempts } from './lock-matrix-attempts.ts'
import { hourMs, key, type LockState, type Place, type World } from './lock-matrix-world.ts'

export interface Race {
  name: string
  build(world: World): Promise<unknown>
  /** Decides first, and commits after `meanwhile`. */
  first(world: World): Promise<Code>
  meanwhile(other: DirectClient, world: World): Promise<unknown>
  /** The answer to the first. */
  code: Code
  /** Of the version afterwards. */
  lock: (world: World) => Lock
  /** What else must hold of the answer to a HEAD of the key. */
  latest?: Record<string, unknown>
}

/** An attempt of the matrix, made by the owner. */
function attempt(name: string, bypass = false): (world: World) => Promise<Code> {
  const found = attempts.find((each) => each.name === name)
  if (found === undefined) throw new Error(`no attempt ${name}`)
  return (world) => found.make(world, owner, bypass)
}

const built = (state: LockState, place: Place) => (world: World) => world.build(state, place)

const unlocked = built({ name: 'none' }, 'latest')
const governed = built({ name: 'governance', mode: 'GOVERNANCE' }, 'latest')

const compliance = ({ believedMs }: World): Retention => ({ mode: 'COMPLIANCE', untilMs: believedMs + 100 * hourMs })

async function hold(client: DirectClient, { versionId }: World): Promise<void> {
  await client.must('PutObjectLegalHold', { key }, { versionId, body: { Status: 'ON' } })
}

async function comply(client: DirectClient, world: World): Promise<void> {
  const { mode, untilMs } = compliance(world)
  const input = { versionId: world.versionId, bypassGovernanceRetention: true }
  await client.must('PutObjectRetention', { key }, { ...input, body: { Mode: mode, RetainUntilDate: untilMs } })
}

async function configure(client: DirectClient): Promise<void> {
  const Rule = { DefaultRetention: { Mode: 'COMPLIANCE', Days: 1 } }
  await client.must('PutObjectLockConfiguration', {}, { body: { ObjectLockEnabled: 'Enabled', Rule } })
}

const held = (): Lock => ({ hold: true })
const complying = (world: World): Lock => ({ retention: compliance(world) })

/** A bucket without Object Lock, whose only version is the null one. */
const withNull = (...states: ('Enabled' | 'Suspended')[]) => {
  return async (world: World): Promise<void> => {
    await world.client.must('CreateBucket')
    await world.client.must('PutObject', { key }, putInputs(world.bytes))
    world.versionId = 'null'
    for (const Status of states) await world.client.must('PutBucketVersioning', {}, { body: { Status } })
  }
}

/** The null version comes to be locked in a bucket that was not even versioned. */
async function enableAndHold(client: DirectClient, world: World): Promise<void> {
  await client.must('PutBucketVersioning', {}, { body: { Status: 'Enabled' } })
  await client.must('PutObjectLockConfiguration', {}, { body: { ObjectLockEnabled: 'Enabled' } })
  await hold(client, world)
}

const overLocked: readonly Race[] = [
  {
    name: 'DELETE of a version, put under hold',
    build: unlocked,
    first: attempt('delete the version'),
    meanwhile: hold,
    code: 'AccessDenied',
    lock: held,
  },
  {
    name: 'DELETE of a version, retained',
    build: unlocked,
    first: attempt('delete the version'),
    meanwhile: comply,
    code: 'AccessDenied',
    lock: complying,
  },
  {
    name: 'DeleteObjects of a version, put under hold',
    build: unlocked,
    first: attempt('delete the version by DeleteObjects'),
    meanwhile: hold,
    code: 'AccessDenied',
    lock: held,
  },
  {
    name: 'DELETE bypassing governance, become compliance',
    build: governed,
    first: attempt('delete the version', true),
    meanwhile: comply,
    code: 'AccessDenied',
    lock: complying,
  },
  {
    name: 'a shorter governance, become compliance',
    build: governed,
    first: attempt('retain shorter', true),
    meanwhile: comply,
    code: 'AccessDenied',
    lock: complying,
  },
  {
    name: 'no retention, become compliance',
    build: unlocked,
    first: attempt('retain no longer'),
    meanwhile: comply,
    code: 'AccessDenied',
    lock: complying,
  },
  { name: 'tags, put under hold', build: unlocked, first: attempt('tag'), meanwhile: hold, code: 'ok', lock: held },
  {
    name: 'a hold lifted, retained',
    build: built({ name: 'hold', hold: true }, 'latest'),
    first: attempt('lift the hold'),
    meanwhile: comply,
    code: 'ok',
    lock: (world) => ({ ...complying(world), hold: false }),
  },
  ...['put over', 'copy over', 'complete over', 'delete', 'delete by DeleteObjects'].map(
    (name): Race => ({
      name: `${name}, put under hold`,
      build: unlocked,
      first: attempt(name),
      meanwhile: hold,
      code: 'ok',
      lock: held,
    }),
  ),
  {
    name: 'DELETE of the version above, put under hold',
    build: built({ name: 'none' }, 'older'),
    first: async ({ client }) => {
      const { answer } = await client.ask('HeadObject', { key })
      return (await client.ask('DeleteObject', { key }, { versionId: answer.versionId })).code
    },
    meanwhile: hold,
    code: 'ok',
    lock: held,
    latest: { objectLockLegalHold: 'ON' },
  },
]

const overBucket: readonly Race[] = [
  ...['put over', 'copy over', 'complete over'].map(
    (name): Race => ({
      name: `${name}, the bucket given a default retention`,
      build: unlocked,
      first: attempt(name),
      meanwhile: configure,
      code: 'ok',
      lock: () => ({}),
      latest: { objectLockMode: 'COMPLIANCE' },
    }),
  ),
  {
    name: 'versioning suspended, the bucket given Object Lock',
    build: withNull('Enabled'),
    first: attempt('suspend versioning'),
    meanwhile: configure,
    code: 'InvalidBucketState',
    lock: () => ({}),
  },
  {
    name: 'Object Lock, versioning suspended',
    build: withNull('Enabled'),
    first: attempt('take the default retention away'),
    meanwhile: (other) => other.must('PutBucketVersioning', {}, { body: { Status: 'Suspended' } }),
    code: 'InvalidBucketState',
    lock: () => ({}),
  },
  {
    name: 'a null version put over the null version, locked',
    build: withNull('Enabled', 'Suspended'),
    first: attempt('put over'),
    meanwhile: enableAndHold,
    code: 'ok',
    lock: held,
  },
  {
    name: 'a null marker put over the null version, locked',
    build: withNull('Enabled', 'Suspended'),
    first: attempt('delete'),
    meanwhile: enableAndHold,
    code: 'ok',
    lock: held,
  },
  {
    name: 'DELETE where nothing is versioned, locked',
    build: withNull(),
    first: attempt('delete'),
    meanwhile: enableAndHold,
    code: 'ok',
    lock: held,
  },
  {
    name: 'an overwrite where nothing is versioned, locked',
    build: withNull(),
    first: attempt('put over'),
    meanwhile: enableAndHold,
    code: 'ok',
    lock: held,
  },
  {
    name: 'DELETE of the null version, locked',
    build: withNull(),
    first: attempt('delete the version'),
    meanwhile: enableAndHold,
    code: 'AccessDenied',
    lock: held,
  },
]

/** The bucket is still empty when it is to go. */
const emptied: Race = {
  name: 'DELETE of the bucket, written to',
  build: ({ client }) => client.must('CreateBucket', {}, { objectLockEnabled: true }),
  first: attempt('delete the bucket'),
  meanwhile: async (other, world) => {
    const { versionId } = await other.must('PutObject', { key }, putInputs(world.bytes, held()))
    world.versionId = String(versionId)
  },
  code: 'BucketNotEmpty',
  lock: held,
}

export const races: readonly Race[] = [...overLocked, ...overBucket, emptied]
