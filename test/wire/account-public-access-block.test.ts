/** What an account blocks for all its buckets, over the wire: set, shown, taken back. */
import { expect } from 'vitest'
import { blockDocument, getBlock, kindsOfBlock, putBlock, removeBlock } from '../support/wire-account-blocks.ts'
import type { Ask, Wire } from '../support/wire-client.ts'
import { type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { otherKey } from '../support/wire-server.ts'
import { openToAll } from '../support/wire-sites.ts'

const blockOf = (...blocked: readonly string[]): Record<string, string> =>
  Object.fromEntries(kindsOfBlock.map((name) => [name, String(blocked.includes(name))]))
const noBlock = refusal('NoSuchPublicAccessBlockConfiguration', { AccountId: 'main' })

const blockAll = async (wire: Wire): Promise<void> => void (await wire.must(putBlock(...kindsOfBlock)))
const holds =
  (...blocked: readonly string[]) =>
  async (wire: Wire): Promise<void> => {
    const text = (await wire.must(getBlock)).body.toString()
    for (const [name, on] of Object.entries(blockOf(...blocked))) expect(text).toContain(`<${name}>${on}</${name}>`)
    await wire.must(removeBlock)
  }
const clean = async (wire: Wire): Promise<void> => void (await wire.must(removeBlock))

/** What a block does, beside being shown. What the others do is in account-blocks.test.ts. */
const effects: Readonly<Record<string, (wire: Wire) => Promise<void>>> = {
  BlockPublicPolicy: async (wire) => {
    await expect(openToAll(wire)).rejects.toThrow('AccessDenied')
  },
  RestrictPublicBuckets: async (wire) => {
    await openToAll(wire)
    expect((await wire.ask({ method: 'GET', unsigned: true })).status).toBe(403)
  },
}

const strangers = (ask: Ask): Row[] => [
  {
    it: 'is AccessDenied where another account is named',
    ...refusal('AccessDenied', {}),
    ask: { ...ask, account: 'other', vendor: { 'account-id': 'other' } },
  },
  { it: 'is AccessDenied for another account', ...refusal('AccessDenied', {}), ask: { ...ask, signedBy: otherKey } },
  {
    it: 'is AccessDenied for an account that is not there',
    ...refusal('AccessDenied', {}),
    ask: { ...ask, account: 'nobody', vendor: { 'account-id': 'nobody' } },
  },
  {
    it: 'is AccessDenied without a signature',
    ...refusal('AccessDenied', {}),
    takenFor: '',
    ask: { ...ask, unsigned: true },
  },
]

wireTests('PutAccountPublicAccessBlock', [
  {
    it: 'blocks all',
    status: 200,
    ask: putBlock(...kindsOfBlock),
    vendor: {},
    body: '',
    afterwards: holds(...kindsOfBlock),
  },
  ...kindsOfBlock.map(
    (name): Row => ({
      it: `blocks what the document says: ${name}`,
      proves: [`element:PublicAccessBlockConfiguration/${name}`, 'vendor:account-id'],
      status: 200,
      given: blockAll,
      ask: putBlock(name),
      afterwards: async (wire) => {
        await effects[name]?.(wire)
        await holds(name)(wire)
      },
    }),
  ),
  {
    it: 'refuses a document that sets nothing',
    ...refusal('InvalidRequest', {}),
    message: 'Must specify at least one configuration.',
    given: blockAll,
    ask: { ...putBlock(), body: '<PublicAccessBlockConfiguration/>' },
    afterwards: holds(...kindsOfBlock),
  },
  {
    it: 'refuses what is no truth value',
    ...refusal('MalformedXML', { Element: 'BlockPublicAcls' }),
    given: blockAll,
    ask: { ...putBlock(), body: blockDocument('BlockPublicAcls').replace('true', 'yes') },
    afterwards: holds(...kindsOfBlock),
  },
  ...strangers(putBlock()),
])

wireTests('GetAccountPublicAccessBlock', [
  { it: 'says that there is none', ...noBlock, ask: getBlock, vendor: {} },
  {
    it: 'shows what was set',
    proves: ['vendor:account-id'],
    status: 200,
    given: async (wire) => void (await wire.must(putBlock('RestrictPublicBuckets'))),
    ask: getBlock,
    vendor: {},
    xml: { PublicAccessBlockConfiguration: blockOf('RestrictPublicBuckets') },
    afterwards: clean,
  },
  ...strangers(getBlock),
])

wireTests('DeleteAccountPublicAccessBlock', [
  {
    it: 'leaves none',
    proves: ['vendor:account-id'],
    status: 204,
    given: blockAll,
    ask: removeBlock,
    vendor: {},
    body: '',
    afterwards: async (wire) => {
      expect((await wire.ask(getBlock)).status).toBe(404)
    },
  },
  { it: 'has nothing to take back', status: 204, ask: removeBlock },
  ...strangers(removeBlock),
])
