/** Servers over one metadata notice when their configurations give other accounts, and no record reveals a secret. */
import { expect, it } from 'vitest'
import { keyRing, ringKey } from '../../src/encryption/key-ring.ts'
import { type AnnouncedAccount, announceAccounts } from '../../src/instance/member-accounts.ts'
import { memoryKv } from '../../src/kv/memory.ts'

const ring = keyRing([ringKey('sse-s3', Buffer.alloc(32, 1))])
const main: AnnouncedAccount = {
  id: 'main',
  keys: [{ accessKeyId: 'AKMAIN', secretAccessKey: 'a secret of the test' }],
}
const other: AnnouncedAccount = { id: 'other', keys: [{ accessKeyId: 'AKOTHER', secretAccessKey: 'another secret' }] }

function servers() {
  const kv = memoryKv()
  const living = new Set<string>()
  const start = (host: string, accounts: readonly AnnouncedAccount[], keys = ring, member = `id of ${host}`) => {
    living.add(member)
    const self = { member, host, address: ':9000', living: async () => new Set(living) }
    return announceAccounts(kv, self, accounts, keys)
  }
  return { kv, living, start }
}

it.each([
  ['the same in another order', [other, main], []],
  ['one less', [main], ['g1 (:9000)']],
  [
    'another secret',
    [{ ...main, keys: [{ accessKeyId: 'AKMAIN', secretAccessKey: 'changed' }] }, other],
    ['g1 (:9000)'],
  ],
  ['a key of another account', [{ id: 'main', keys: [...main.keys, ...other.keys] }], ['g1 (:9000)']],
  [
    'other permissions',
    [main, { id: 'other', keys: other.keys.map((key) => ({ ...key, permissions: ['s3:GetObject'] })) }],
    ['g1 (:9000)'],
  ],
])('%s', async (_, accounts, differing) => {
  const { start } = servers()
  expect(await start('g1', [main, other])).toEqual([])
  expect(await start('g2', accounts)).toEqual(differing)
})

it('servers that are gone, or that this one replaces, do not count', async () => {
  const { living, start } = servers()
  await start('g1', [main])
  await start('g2', [main])
  living.delete('id of g1')
  expect(await start('g2', [other], ring, 'its next id')).toEqual([])
  living.delete('id of g2')
  expect(await start('g3', [other])).toEqual([])
})

it('fingerprints of different keys are not compared', async () => {
  const { start } = servers()
  await start('g1', [main])
  expect(await start('g2', [main], keyRing([ringKey('sse-s3', Buffer.alloc(32, 2)), ...ring.keys]))).toEqual([])
})

it('the records hold neither a secret nor what depends on it alone', async () => {
  const made = servers()
  await made.start('g1', [main])
  const again = servers()
  await again.start('g1', [main], keyRing([ringKey('sse-s3', Buffer.alloc(32, 2))]))
  const everything = { start: Buffer.alloc(0), end: Buffer.from([0xff]), limit: 10 }
  const texts = (await Promise.all([made, again].map(({ kv }) => kv.range(everything)))).map(
    ([entry]) => `${entry?.value}`,
  )
  for (const text of texts) expect(text).not.toContain('a secret of the test')
  const prints = texts.map((text) => /"print":"([0-9a-f]{64})"/.exec(text)?.[1])
  expect(prints[0]).toBeDefined()
  expect(prints[0]).not.toBe(prints[1])
})
