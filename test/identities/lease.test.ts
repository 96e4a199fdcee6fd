/** How a change reaches every process, and what a process may do that has not heard of it. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { unsharedKeys } from '../../src/commits/backend.ts'
import { keyRing, ringKey } from '../../src/encryption/key-ring.ts'
import { KvUnavailable } from '../../src/kv/kv.ts'
import { memoryKv } from '../../src/kv/memory.ts'
import { limits } from '../../src/limits.ts'
import { accessKeyKey, identityGenerationKey, identityKey } from '../../src/records/keyspace.ts'
import { outcome, WatchedKv } from '../objects/fixture.ts'
import { allowing, declared, ManualTime, openProcess, type Process } from './fixture.ts'

const key = { accountId: 'main', accessKeyId: 'AKEY' }
const lease = limits.identityLeaseMs

describe('two processes', () => {
  let kv: WatchedKv
  let time: ManualTime
  let deciding: Process
  let serving: Process
  beforeEach(async () => {
    kv = new WatchedKv(memoryKv())
    time = new ManualTime()
    deciding = await openProcess(kv, { time, seed: 1 })
    await deciding.verbs.keys.add(key)
    serving = await openProcess(kv, { time, seed: 2 })
  })
  afterEach(async () => {
    await deciding.close()
    await serving.close()
  })

  const isAccepted = ({ credentials }: Process): boolean => credentials.find('AKEY') !== undefined

  it('a process goes by what it knows for the lease, and reads again before the next request after it', async () => {
    expect(isAccepted(serving)).toBe(true)
    await deciding.verbs.keys.setDisabled('AKEY', true)
    time.pass(lease)
    expect(serving.credentials.renewal()).toBeUndefined()
    time.pass(1)
    const renewal = serving.credentials.renewal()
    expect(renewal).toBeInstanceOf(Promise)
    await renewal
    expect(isAccepted(serving)).toBe(false)
    expect(serving.credentials.renewal()).toBeUndefined()
  })

  it('requests that wait for the same reading share it', async () => {
    time.pass(lease + 1)
    let reads = 0
    kv.beforeRead(0, async () => void reads++)
    await Promise.all([serving.credentials.renewal(), serving.credentials.renewal()])
    kv.beforeRead(0, async () => void reads++)
    expect(reads).toBe(1)
  })

  it('a process that was stopped in the middle of a reading reads again', async () => {
    time.pass(lease + 1)
    // Between this reading and its end, the key is disabled, and the lease of the reading is over.
    let stop = async (): Promise<void> => {}
    const wrapped = kv.get.bind(kv)
    kv.get = async (keys) => {
      const found = await wrapped(keys)
      const before = stop
      stop = async () => {}
      await before()
      return found
    }
    stop = async () => {
      await deciding.verbs.keys.setDisabled('AKEY', true)
      time.pass(lease + 1)
    }
    await serving.credentials.renewal()
    expect(isAccepted(serving)).toBe(false)
  })

  it('a process that cannot read the metadata answers ServiceUnavailable once the lease is over, until it can', async () => {
    time.pass(lease + 1)
    kv.beforeRead(0, async () => {
      throw new KvUnavailable('the metadata cannot be reached')
    })
    expect(await outcome(serving.credentials.renewal() ?? Promise.resolve())).toBe('ServiceUnavailable')
    expect(await outcome(serving.credentials.renewal() ?? Promise.resolve())).toBe('ok')
  })

  it('a change is answered when the others know it, without waiting for the lease', async () => {
    deciding.tellOthers((generation) => serving.learn(generation))
    await deciding.verbs.keys.setDisabled('AKEY', true)
    expect(isAccepted(serving)).toBe(false)
    expect(time.nowMs()).toBe(0)
    expect(time.sleepers).toBe(0)
  })

  it.each<[string, () => Promise<void>]>([
    ['says nothing', () => new Promise(() => {})],
    ['says that it cannot', () => Promise.reject(new Error('it cannot'))],
  ])('a change is answered at the end of the lease where another %s', async (_, tell) => {
    deciding.tellOthers(tell)
    let answered = false
    const change = deciding.verbs.keys.setDisabled('AKEY', true).then(() => {
      answered = true
    })
    await kv.idle()
    time.pass(lease - 1)
    await kv.idle()
    expect(answered).toBe(false)
    time.pass(1)
    await change
  })

  it('what is repeated without a change is answered when the others know it, too', async () => {
    await deciding.verbs.users.create('main', { name: 'ann' })
    await deciding.verbs.users.attachPolicy('main', 'ann', 'readonly')
    const told: number[] = []
    deciding.tellOthers(async (generation) => void told.push(generation))
    const { generation } = deciding.credentials.identities
    await deciding.verbs.users.attachPolicy('main', 'ann', 'readonly')
    expect(told).toEqual([generation])
  })

  it('a key that nothing changed stays the same principal', async () => {
    const before = serving.credentials.find('AKEY')
    await deciding.verbs.keys.add({ accountId: 'main', accessKeyId: 'ANOTHER' })
    await serving.learn(deciding.credentials.identities.generation)
    expect(serving.credentials.find('ANOTHER')).toBeDefined()
    expect(serving.credentials.find('AKEY')).toBe(before)
  })
})

describe('what is stored and what is configured', () => {
  it('a process that starts later knows all of it', async () => {
    const kv = memoryKv()
    const first = await openProcess(kv)
    await first.verbs.users.create('main', { name: 'ann' })
    const { secretAccessKey } = await first.verbs.keys.add({ ...key, user: 'ann' })
    const later = await openProcess(kv)
    expect(later.credentials.secretOf('AKEY')).toMatchObject({ secretAccessKey, principal: { user: { name: 'ann' } } })
    for (const process of [first, later]) await process.close()
  })

  it('a key that the configuration has now counts before one of run time, and that is said', async () => {
    const kv = memoryKv()
    const process = await openProcess(kv)
    await process.verbs.accounts.create({ id: 'photos' })
    const { secretAccessKey } = await process.verbs.keys.add({ accountId: 'photos', accessKeyId: 'AKEY' })
    const taken = {
      id: 'other',
      name: 'Other',
      keys: [{ accessKeyId: 'AKEY', secretAccessKey: 'of the configuration' }],
    }
    process.renewAccounts([...declared, taken])
    expect(process.credentials.secretOf('AKEY')).toMatchObject({
      secretAccessKey: 'of the configuration',
      principal: { accountId: 'other' },
    })
    expect(process.warnings.join()).toContain('AKEY')
    process.renewAccounts(declared)
    expect(process.credentials.secretOf('AKEY')).toMatchObject({ secretAccessKey, principal: { accountId: 'photos' } })
    await process.close()
  })

  it('users and keys of an account that is declared no more are refused, and come back with it', async () => {
    const process = await openProcess(memoryKv())
    await process.verbs.users.create('main', { name: 'ann' })
    await process.verbs.keys.add({ ...key, user: 'ann' })
    await process.verbs.keys.add({ ...key, accessKeyId: 'AKOWN' })
    process.renewAccounts([])
    expect([process.credentials.find('AKEY'), process.credentials.find('AKOWN')]).toEqual([undefined, undefined])
    process.renewAccounts(declared)
    expect(process.credentials.find('AKEY')).toBeDefined()
    // Made at run time, an account of its name begins with nothing.
    process.renewAccounts([])
    await process.verbs.accounts.create({ id: 'main' })
    expect(process.credentials.find('AKEY')).toBeUndefined()
    expect(await process.verbs.users.list('main')).toEqual([])
    await process.close()
  })

  it('a secret that the key ring cannot open lets nobody in, and is said; the key works again once it is rotated', async () => {
    const kv = memoryKv()
    const first = await openProcess(kv)
    await first.verbs.keys.add(key)
    await first.close()
    const lost = unsharedKeys(keyRing([ringKey('sse-s3', Buffer.alloc(32, 9))]))
    const process = await openProcess(kv, { keys: lost })
    expect(process.credentials.find('AKEY')).toBeUndefined()
    expect(process.warnings.join()).toContain('AKEY')
    await process.verbs.keys.setDisabled('AKEY', false)
    const { secretAccessKey } = await process.verbs.keys.rotate('AKEY')
    expect(process.credentials.secretOf('AKEY').secretAccessKey).toBe(secretAccessKey)
    await process.close()
  })

  it('a sealed secret opens for no other access key', async () => {
    const kv = memoryKv()
    const first = await openProcess(kv)
    await first.verbs.keys.add(key)
    await first.verbs.keys.add({ ...key, accessKeyId: 'AKOTHER' })
    const { keyCodec } = await import('../../src/records/identity-records.ts')
    const [from, to] = [accessKeyKey('AKEY'), accessKeyKey('AKOTHER')]
    const [entry] = await kv.get([from])
    if (entry === undefined) throw new Error('the key is not stored')
    await kv.commit({ puts: [{ key: to, value: keyCodec.encode(to, keyCodec.decode(from, entry.value)) }] })
    const later = await openProcess(kv)
    expect(later.credentials.find('AKEY')).toBeDefined()
    expect(later.credentials.find('AKOTHER')).toBeUndefined()
    for (const process of [first, later]) await process.close()
  })

  it('a damaged number of the last change keeps nobody out, and the next change writes it anew', async () => {
    const kv = memoryKv()
    const time = new ManualTime()
    const first = await openProcess(kv, { time })
    await first.verbs.keys.add(key)
    await kv.commit({ puts: [{ key: identityGenerationKey, value: Buffer.from('damaged') }] })
    const second = await openProcess(kv, { time })
    expect(second.credentials.find('AKEY')).toBeDefined()
    // It reads the damaged record at a later time.
    second.clock.advance(1000)
    time.pass(lease + 1)
    await second.credentials.renewal()
    first.tellOthers((generation) => second.learn(generation))
    await first.verbs.keys.setDisabled('AKEY', true)
    for (const process of [first, second, await openProcess(kv, { time })]) {
      expect(process.credentials.find('AKEY')).toBeUndefined()
      await process.close()
    }
  })

  it('a record that is damaged lets nobody in and lifts no block, and the rest goes on', async () => {
    const kv = memoryKv()
    const first = await openProcess(kv)
    const { users, keys, policies, accounts } = first.verbs
    await users.create('main', { name: 'ann' })
    await policies.put('main', { name: 'p', document: allowing('s3:*') })
    await users.attachPolicy('main', 'ann', 'p')
    await keys.add({ ...key, user: 'ann' })
    await keys.add({ ...key, accessKeyId: 'AKOWN' })
    const nothing = {
      blockPublicAcls: false,
      ignorePublicAcls: false,
      blockPublicPolicy: false,
      restrictPublicBuckets: false,
    }
    await accounts.setPublicAccessBlock('main', nothing)
    for (const damaged of [
      identityKey('policy', 'main', 'p'),
      identityKey('settings', 'main', ''),
      accessKeyKey('AKOWN'),
    ])
      await kv.commit({ puts: [{ key: damaged, value: Buffer.from('damaged') }] })
    const later = await openProcess(kv)
    expect(later.credentials.find('AKOWN')).toBeUndefined()
    expect(later.credentials.find('AKEY')?.policies?.map(({ document }) => JSON.parse(document).Statement)).toEqual([
      [expect.objectContaining({ Effect: 'Deny', Resource: '*' })],
    ])
    expect(Object.values(later.publicAccessBlock('main') ?? {})).toEqual([true, true, true, true])
    expect(later.warnings).toHaveLength(3)
    for (const process of [first, later]) await process.close()
  })
})
