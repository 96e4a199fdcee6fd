/** Proofs of what accounts block of the public. */
import { expect } from 'vitest'
import type { Ask, Wire } from '../wire-client.ts'
import { openToAll } from '../wire-sites.ts'
import { readXml } from '../wire-xml.ts'
import { answering, effect, type Proof, refuses } from './proof.ts'

const root = 'PublicAccessBlockConfiguration'
const names = ['BlockPublicAcls', 'IgnorePublicAcls', 'BlockPublicPolicy', 'RestrictPublicBuckets'] as const
const account = (id: string) => ({ account: id, vendor: { 'account-id': id } })
const put = (...blocked: string[]): Ask => {
  const body = `<${root}>${blocked.map((name) => `<${name}>true</${name}>`).join('')}</${root}>`
  return { method: 'PUT', ...account('main'), body }
}
const get: Ask = { method: 'GET', ...account('main') }

const under = (name: string, holds: (wire: Wire) => Promise<void>): Proof =>
  effect('PutAccountPublicAccessBlock', [`request element:${root}/${name}`], async (wire) => {
    await wire.must(put(name))
    const { value } = readXml((await wire.must(get)).body)
    expect(value).toEqual(Object.fromEntries(names.map((each) => [each, String(each === name)])))
    await holds(wire)
  })
const nothingElse = async (): Promise<void> => {}

const ofOthers = (method: 'GET' | 'PUT' | 'DELETE'): Proof => {
  const operation = { GET: 'Get', PUT: 'Put', DELETE: 'Delete' }[method]
  return effect(`${operation}AccountPublicAccessBlock`, ['request vendor:account-id'], async (wire) => {
    const ask: Ask = { ...(method === 'PUT' ? put() : {}), method, ...account('other') }
    await refuses(wire, ask, 403, 'AccessDenied')
    await wire.must(put())
    await wire.must({ ...ask, ...account('main') })
  })
}

export const accountProofs: readonly Proof[] = [
  under('BlockPublicAcls', nothingElse),
  under('IgnorePublicAcls', nothingElse),
  under('BlockPublicPolicy', async (wire) => {
    await expect(openToAll(wire)).rejects.toThrow('AccessDenied')
  }),
  under('RestrictPublicBuckets', async (wire) => {
    await openToAll(wire)
    expect((await wire.ask({ method: 'GET', unsigned: true })).status).toBe(403)
  }),
  ofOthers('GET'),
  ofOthers('PUT'),
  ofOthers('DELETE'),
  answering({
    operation: 'GetAccountPublicAccessBlock',
    it: 'what is blocked',
    given: async (wire) => void (await wire.must(put(...names))),
    ask: get,
    elements: Object.fromEntries(names.map((name) => [`${root}/${name}`, 'true'])),
  }),
]
