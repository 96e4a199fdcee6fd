/** The verbs over accounts, users, policies and keys: what they make, what they refuse, and what is stored of a secret. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { NewKey } from '../../src/identities/identities.ts'
import { memoryKv } from '../../src/kv/memory.ts'
import { limits } from '../../src/limits.ts'
import { ownedBucketKey } from '../../src/records/keyspace.ts'
import type { Tag } from '../../src/records/object-attributes.ts'
import { allowing, codeOf, type Engine, engines, openProcess, type Process } from './fixture.ts'

describe.each(engines)('%s', (_, open) => {
  let engine: Engine
  let it_: Process
  beforeEach(async () => {
    engine = await open()
    it_ = await openProcess(engine.kv)
  })
  afterEach(async () => {
    await it_.close()
    await engine.close()
  })

  it('an account is made, listed beside those of the configuration, disabled and removed', async () => {
    const { accounts, keys } = it_.verbs
    const made = await accounts.create({ name: 'Photos' })
    expect(made).toMatchObject({ name: 'Photos', source: 'run-time', disabled: false })
    expect(made.id).toMatch(/^\d{12}$/)
    expect((await accounts.list()).map(({ id, source }) => [id, source])).toEqual([
      [made.id, 'run-time'],
      ['main', 'configuration'],
    ])
    const { accessKeyId } = await keys.add({ accountId: made.id })
    expect(it_.credentials.find(accessKeyId)).toMatchObject({ accountId: made.id, displayName: 'Photos' })
    expect(it_.credentials.nameOf(made.id)).toBe('Photos')
    expect(await accounts.setDisabled(made.id, true)).toMatchObject({ disabled: true })
    expect(it_.credentials.find(accessKeyId)).toBeUndefined()
    await accounts.setDisabled(made.id, false)
    expect(it_.credentials.find(accessKeyId)).toBeDefined()
    await accounts.remove(made.id)
    expect(it_.credentials.find(accessKeyId)).toBeUndefined()
    expect(await codeOf(accounts.get(made.id))).toBe('NoSuchEntity')
    expect(await codeOf(keys.get(accessKeyId))).toBe('NoSuchEntity')
  })

  it('an account that owns buckets stays', async () => {
    const { accounts } = it_.verbs
    await accounts.create({ id: 'photos' })
    await engine.kv.commit({ puts: [{ key: ownedBucketKey('photos', 'bucket'), value: Buffer.alloc(0) }] })
    await expect(accounts.remove('photos')).rejects.toThrow("'bucket'")
    await engine.kv.commit({ deletes: [ownedBucketKey('photos', 'bucket')] })
    expect(await codeOf(accounts.remove('photos'))).toBe('ok')
  })

  it('what the configuration declares is shown and not changed, and nothing takes its names', async () => {
    const { accounts, keys, users } = it_.verbs
    expect(await keys.get('AKNARROW')).toMatchObject({ source: 'configuration', permissions: ['s3:Get*'] })
    for (const work of [
      () => accounts.setDisabled('main', true),
      () => accounts.remove('main'),
      () => keys.rotate('AKROOT'),
      () => keys.setDisabled('AKROOT', true),
      () => keys.setExpiry('AKROOT', it_.clock.now() + 1),
      () => keys.remove('AKROOT'),
    ])
      expect(await codeOf(work())).toBe('UnmodifiableEntity')
    expect(await codeOf(accounts.create({ id: 'main' }))).toBe('EntityAlreadyExists')
    expect(await codeOf(keys.add({ accountId: 'main', accessKeyId: 'AKROOT' }))).toBe('EntityAlreadyExists')
    expect(await codeOf(users.create('main', { name: 'ann' }))).toBe('ok')
    expect(await codeOf(keys.add({ accountId: 'main', user: 'ann' }))).toBe('ok')
  })

  it('a user has an id that no later user of its name gets', async () => {
    const { users } = it_.verbs
    const first = await users.create('main', { name: 'ann' })
    expect(await codeOf(users.create('main', { name: 'Ann' }))).toBe('EntityAlreadyExists')
    await users.remove('main', 'ann')
    const second = await users.create('main', { name: 'ann' })
    expect(second.id).not.toBe(first.id)
    expect((await users.list('main')).map(({ name }) => name)).toEqual(['ann'])
  })

  it('the keys of a user are the user: its tags and policies, until it is disabled or removed', async () => {
    const { users, keys, policies } = it_.verbs
    const { id } = await users.create('main', { name: 'ann', tags: [{ key: 'Team', value: 'red' }] })
    await policies.put('main', { name: 'reads', document: allowing('s3:Get*') })
    await users.attachPolicy('main', 'ann', 'reads')
    await users.attachPolicy('main', 'ann', 'writeonly')
    await users.putInlinePolicy('main', 'ann', { name: 'lists', document: allowing('s3:List*') })
    const { accessKeyId } = await keys.add({ accountId: 'main', user: 'ann', policy: allowing('s3:*') })
    const known = it_.credentials.find(accessKeyId)
    expect(known).toMatchObject({ accountId: 'main', displayName: 'Main', user: { name: 'ann', id } })
    expect(known?.user?.tags).toEqual(new Map([['team', 'red']]))
    expect(known?.policies?.map(({ name }) => name)).toEqual(['reads', 'writeonly', 'lists'])
    expect(known?.keyPolicy).toBe(allowing('s3:*'))
    expect((await policies.get('main', 'reads')).users).toEqual(['ann'])
    expect(await codeOf(policies.remove('main', 'reads'))).toBe('DeleteConflict')
    expect(await users.detachPolicy('main', 'ann', 'reads')).toMatchObject({ policies: ['writeonly'] })
    expect(await codeOf(policies.remove('main', 'reads'))).toBe('ok')
    await users.removeInlinePolicy('main', 'ann', 'lists')
    expect(it_.credentials.find(accessKeyId)?.policies?.map(({ name }) => name)).toEqual(['writeonly'])
    await users.setDisabled('main', 'ann', true)
    expect(it_.credentials.find(accessKeyId)).toBeUndefined()
    await users.setDisabled('main', 'ann', false)
    expect(it_.credentials.find(accessKeyId)).toBeDefined()
    await users.remove('main', 'ann')
    expect(await codeOf(keys.get(accessKeyId))).toBe('NoSuchEntity')
  })

  it('a change of a policy reaches whoever has it, and nobody else becomes another', async () => {
    const { users, keys, policies } = it_.verbs
    await policies.put('main', { name: 'shared', document: allowing('s3:Get*') })
    for (const name of ['ann', 'bob']) await users.create('main', { name })
    await users.attachPolicy('main', 'ann', 'shared')
    const ann = await keys.add({ accountId: 'main', user: 'ann' })
    const bob = await keys.add({ accountId: 'main', user: 'bob' })
    const before = [ann, bob].map(({ accessKeyId }) => it_.credentials.find(accessKeyId))
    await policies.put('main', { name: 'shared', document: allowing('s3:Put*') })
    const after = [ann, bob].map(({ accessKeyId }) => it_.credentials.find(accessKeyId))
    expect(after[0]?.policies).toEqual([expect.objectContaining({ document: allowing('s3:Put*') })])
    expect(after[1]).toBe(before[1])
  })

  it('built-in policies are there by name, and stay as they are', async () => {
    const { policies } = it_.verbs
    const names = ['consoleAdmin', 'readonly', 'readwrite', 'writeonly']
    expect((await policies.list('main')).map(({ name, builtIn }) => [name, builtIn])).toEqual(
      names.map((name) => [name, true]),
    )
    expect(await codeOf(policies.put('main', { name: 'readonly', document: allowing('s3:*') }))).toBe(
      'UnmodifiableEntity',
    )
    expect(await codeOf(policies.remove('main', 'readonly'))).toBe('UnmodifiableEntity')
  })

  it('a key is disabled, expires, gets another secret and goes', async () => {
    const { keys } = it_.verbs
    const expiresMs = it_.clock.now() + 1000
    const given = { accessKeyId: 'AKGIVEN', secretAccessKey: 'a-given-secret', expiresMs, description: 'for backups' }
    const made = await keys.add({ accountId: 'main', ...given })
    expect(made).toMatchObject({ ...given, source: 'run-time', disabled: false })
    expect(await keys.get('AKGIVEN')).not.toHaveProperty('secretAccessKey')
    expect(it_.credentials.secretOf('AKGIVEN')).toMatchObject({ secretAccessKey: 'a-given-secret' })
    expect(it_.credentials.isSecret('a-given-secret')).toBe(true)
    await keys.setDisabled('AKGIVEN', true)
    expect(it_.credentials.find('AKGIVEN')).toBeUndefined()
    await keys.setDisabled('AKGIVEN', false)
    const rotated = await keys.rotate('AKGIVEN')
    expect(rotated.secretAccessKey).toMatch(/^[A-Za-z0-9]{40}$/)
    expect(it_.credentials.secretOf('AKGIVEN').secretAccessKey).toBe(rotated.secretAccessKey)
    expect(it_.credentials.isSecret('a-given-secret')).toBe(false)
    expect(rotated).toMatchObject({ expiresMs, description: 'for backups' })
    it_.clock.advance(1000)
    expect(it_.credentials.find('AKGIVEN')).toBeUndefined()
    await keys.setExpiry('AKGIVEN', undefined)
    expect(it_.credentials.find('AKGIVEN')).toBeDefined()
    await keys.remove('AKGIVEN')
    expect(it_.credentials.find('AKGIVEN')).toBeUndefined()
    expect(await codeOf(keys.rotate('AKGIVEN'))).toBe('NoSuchEntity')
  })

  it('nothing of a secret is in what is stored', async () => {
    const { accessKeyId, secretAccessKey } = await it_.verbs.keys.add({ accountId: 'main' })
    await it_.verbs.keys.setDisabled(accessKeyId, true)
    const all = await engine.kv.range({ start: Buffer.alloc(0), end: Buffer.from([0xff]), limit: 1000 })
    const bytes = Buffer.concat(all.map(({ value }) => value))
    expect(bytes.includes(accessKeyId) || all.some(({ key }) => key.includes(accessKeyId))).toBe(true)
    expect(bytes.includes(secretAccessKey)).toBe(false)
    for (const form of ['base64', 'hex'] as const)
      expect(bytes.includes(Buffer.from(secretAccessKey).toString(form).slice(0, 20))).toBe(false)
  })

  it('keys are listed by whom they belong to', async () => {
    const { users, keys, accounts } = it_.verbs
    await accounts.create({ id: 'photos' })
    await users.create('main', { name: 'ann' })
    await keys.add({ accountId: 'main', user: 'ann', accessKeyId: 'AKANN' })
    await keys.add({ accountId: 'photos', accessKeyId: 'AKPHOTOS' })
    const ids = async (holder?: { accountId: string; user?: string }) =>
      (await keys.list(holder)).map(({ accessKeyId }) => accessKeyId)
    expect(await ids()).toEqual(['AKNARROW', 'AKROOT', 'AKANN', 'AKPHOTOS'])
    expect(await ids({ accountId: 'main' })).toEqual(['AKNARROW', 'AKROOT', 'AKANN'])
    expect(await ids({ accountId: 'main', user: 'ann' })).toEqual(['AKANN'])
    expect(await codeOf(keys.list({ accountId: 'main', user: 'bob' }))).toBe('NoSuchEntity')
    expect(await codeOf(keys.list({ accountId: 'nobody' }))).toBe('NoSuchEntity')
  })

  it('what an account blocks is set and lifted, also of one that the configuration declares', async () => {
    const block = {
      blockPublicAcls: true,
      ignorePublicAcls: false,
      blockPublicPolicy: true,
      restrictPublicBuckets: false,
    }
    await it_.verbs.accounts.setPublicAccessBlock('main', block)
    expect(it_.publicAccessBlock('main')).toEqual(block)
    expect((await it_.verbs.accounts.get('main')).publicAccessBlock).toEqual(block)
    await it_.verbs.accounts.setPublicAccessBlock('main', undefined)
    expect(it_.publicAccessBlock('main')).toBeUndefined()
  })

  it('changes that come together all happen', async () => {
    const other = await openProcess(engine.kv, { seed: 2 })
    const names = Array.from({ length: 8 }, (_, i) => `user${i}`)
    await Promise.all(names.map((name, i) => (i % 2 === 0 ? it_ : other).verbs.users.create('main', { name })))
    expect((await it_.verbs.users.list('main')).map(({ name }) => name)).toEqual(names)
    const policies = ['readonly', 'readwrite', 'writeonly']
    await Promise.all(
      policies.map((policy, i) => (i % 2 === 0 ? it_ : other).verbs.users.attachPolicy('main', 'user0', policy)),
    )
    expect(await other.verbs.users.get('main', 'user0')).toMatchObject({ policies })
    await other.close()
  })
})

describe('bad input is refused by name and changes nothing', () => {
  const kv = memoryKv()
  let it_: Process
  beforeEach(async () => {
    it_ = await openProcess(kv)
    if ((await it_.verbs.users.list('main')).length === 0) await it_.verbs.users.create('main', { name: 'ann' })
  })
  afterEach(() => it_.close())

  async function expectRefused(code: string, work: () => Promise<unknown>): Promise<void> {
    const before = it_.credentials.identities.generation
    expect(await codeOf(work())).toBe(code)
    expect(it_.credentials.identities.generation).toBe(before)
  }

  it.each(['', 'a b', 'ä', 'a/b', 'x'.repeat(65)])('the user name %j', (name) =>
    expectRefused('InvalidInput', () => it_.verbs.users.create('main', { name })),
  )

  it.each(['', 'a b', 'x'.repeat(65), 'a:b'])('the account id %j', (id) =>
    expectRefused('InvalidInput', () => it_.verbs.accounts.create({ id })),
  )

  it.each<[string, Tag[], string]>([
    ['without a key', [{ key: '', value: '' }], 'InvalidInput'],
    [
      'twice in another case',
      [
        { key: 'a', value: '' },
        { key: 'A', value: '' },
      ],
      'InvalidInput',
    ],
    ['of AWS', [{ key: 'aws:x', value: '' }], 'InvalidInput'],
    ['with a character that none may have', [{ key: 'a', value: '<' }], 'InvalidInput'],
    ['too many', Array.from({ length: 51 }, (_, i) => ({ key: `k${i}`, value: '' })), 'LimitExceeded'],
  ])('tags %s', (_, tags, code) => expectRefused(code, () => it_.verbs.users.setTags('main', 'ann', tags)))

  it.each<[string, string, string]>([
    ['that is not JSON', '{', 'MalformedPolicyDocument'],
    [
      'that names a principal',
      allowing('s3:Get*').replace('"Effect"', '"Principal":"*","Effect"'),
      'MalformedPolicyDocument',
    ],
    ['that names an unknown action', allowing('s3:Fly'), 'MalformedPolicyDocument'],
    ['that is too long', allowing('s3:GetObject', 'x'.repeat(limits.policyCharsMax)), 'LimitExceeded'],
  ])('a policy %s', (_, document, code) =>
    expectRefused(code, () => it_.verbs.policies.put('main', { name: 'p', document })),
  )

  it('inline policies that are too long together', async () => {
    const half = allowing(...Array.from({ length: 80 }, () => 's3:GetObject'))
    await it_.verbs.users.putInlinePolicy('main', 'ann', { name: 'a', document: half })
    await expectRefused('LimitExceeded', () =>
      it_.verbs.users.putInlinePolicy('main', 'ann', { name: 'b', document: half }),
    )
    expect(await codeOf(it_.verbs.users.putInlinePolicy('main', 'ann', { name: 'a', document: half }))).toBe('ok')
  })

  it.each<[string, Partial<NewKey>, string]>([
    ['of no account', { accountId: 'nobody' }, 'NoSuchEntity'],
    ['of no user', { user: 'bob' }, 'NoSuchEntity'],
    ['with an id that has a slash', { accessKeyId: 'AK/EY' }, 'InvalidInput'],
    ['with an id that is too long', { accessKeyId: 'x'.repeat(129) }, 'InvalidInput'],
    ['with a weak secret', { secretAccessKey: 'short' }, 'InvalidInput'],
    ['with a secret that has a space', { secretAccessKey: 'two words of a secret' }, 'InvalidInput'],
    ['that expired before', { expiresMs: 1 }, 'InvalidInput'],
    ['that expires at no time', { expiresMs: Number.NaN }, 'InvalidInput'],
    ['with a policy that is none', { policy: '[]' }, 'MalformedPolicyDocument'],
    ['with a description that is too long', { description: 'x'.repeat(257) }, 'InvalidInput'],
  ])('a key %s', (_, key, code) => expectRefused(code, () => it_.verbs.keys.add({ accountId: 'main', ...key })))

  it('a secret is in no refusal', async () => {
    await expect(it_.verbs.keys.add({ accountId: 'main', secretAccessKey: 'canary secret' })).rejects.toThrow(
      /^((?!canary).)+$/s,
    )
  })

  it('what is not there', async () => {
    const { users, policies, accounts, keys } = it_.verbs
    for (const work of [
      () => users.get('main', 'bob'),
      () => users.attachPolicy('main', 'ann', 'missing'),
      () => users.detachPolicy('main', 'ann', 'readonly'),
      () => users.removeInlinePolicy('main', 'ann', 'missing'),
      () => policies.get('main', 'missing'),
      () => policies.remove('main', 'missing'),
      () => accounts.setDisabled('missing', true),
      () => keys.remove('AKMISSING'),
    ])
      await expectRefused('NoSuchEntity', work)
  })
})
