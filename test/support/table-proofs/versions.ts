/** Proofs of which version is meant, of locks on versions and of tags, and of deletions. */
import { expect } from 'vitest'
import { md5Base64, md5Hex } from '../wire-checksums.ts'
import type { Ask, Wire } from '../wire-client.ts'
import { putDocument } from '../wire-documents.ts'
import type { Facts } from '../wire-rows.ts'
import { tagging } from '../wire-tags.ts'
import {
  enabled,
  governed,
  hoursFromNow,
  locksOf,
  putHold,
  putRetention,
  putVersion,
  vault,
  vendorHeader,
} from '../wire-versions.ts'
import { readXml } from '../wire-xml.ts'
import { answering, effect, type Proof, refuses, texts, vendorOf } from './proof.ts'

const tagPairs = [['a', '1']] as const
const tagged = (key: string, query: Record<string, string> = {}): Ask =>
  putDocument({ tagging: '', ...query }, tagging(tagPairs), key)
const tagsOf = (versionId: string): Ask => ({ method: 'GET', key: 'a', query: { tagging: '', versionId } })
const tagKey = 'Tagging/TagSet/Tag/Key'

/** Two versions of `a` in a bucket with Object Lock. */
async function two(wire: Wire): Promise<{ older: string; newer: string }> {
  await vault(wire)
  return { older: await putVersion(wire, 'a', 'one'), newer: await putVersion(wire, 'a', 'two') }
}

const until = hoursFromNow(40)

const olderOnes: Proof[] = [
  effect('PutObjectTagging', ['request query:versionId', 'answer vendor:version-id'], async (wire) => {
    const { older, newer } = await two(wire)
    expect(vendorOf(wire, await wire.must(tagged('a', { versionId: older })), 'version-id')).toBe(older)
    expect(await texts(wire, tagsOf(older), tagKey)).toEqual(['a'])
    expect(await texts(wire, tagsOf(newer), tagKey)).toEqual([])
  }),
  effect('GetObjectTagging', ['request query:versionId', 'answer vendor:version-id'], async (wire) => {
    const { older } = await two(wire)
    await wire.must(tagged('a', { versionId: older }))
    const reply = await wire.must(tagsOf(older))
    expect(vendorOf(wire, reply, 'version-id')).toBe(older)
    expect(reply.body.toString()).toContain('<Key>a</Key>')
    expect(await texts(wire, { method: 'GET', key: 'a', query: { tagging: '' } }, tagKey)).toEqual([])
  }),
  effect('DeleteObjectTagging', ['request query:versionId', 'answer vendor:version-id'], async (wire) => {
    const { older, newer } = await two(wire)
    for (const versionId of [older, newer]) await wire.must(tagged('a', { versionId }))
    const reply = await wire.must({ method: 'DELETE', key: 'a', query: { tagging: '', versionId: older } })
    expect(vendorOf(wire, reply, 'version-id')).toBe(older)
    expect(await texts(wire, tagsOf(older), tagKey)).toEqual([])
    expect(await texts(wire, tagsOf(newer), tagKey)).toEqual(['a'])
  }),
  effect('PutObjectLegalHold', ['request query:versionId', 'request element:LegalHold/Status'], async (wire) => {
    const { older, newer } = await two(wire)
    await wire.must(putHold('ON', { versionId: older }))
    expect([(await locksOf(wire, older))[2], (await locksOf(wire, newer))[2]]).toEqual(['ON', undefined])
    await refuses(wire, { method: 'DELETE', key: 'a', query: { versionId: older } }, 403, 'AccessDenied')
    await wire.must(putHold('OFF', { versionId: older }))
    await wire.must({ method: 'DELETE', key: 'a', query: { versionId: older } })
  }),
  effect('GetObjectLegalHold', ['request query:versionId', 'answer element:LegalHold/Status'], async (wire) => {
    const { older } = await two(wire)
    await wire.must(putHold('ON', { versionId: older }))
    await wire.must(putHold('OFF'))
    const asking = (query: Record<string, string>): Ask => ({
      method: 'GET',
      key: 'a',
      query: { 'legal-hold': '', ...query },
    })
    expect(await texts(wire, asking({ versionId: older }), 'LegalHold/Status')).toEqual(['ON'])
    expect(await texts(wire, asking({}), 'LegalHold/Status')).toEqual(['OFF'])
  }),
  effect(
    'PutObjectRetention',
    ['request query:versionId', 'request element:Retention/Mode', 'request element:Retention/RetainUntilDate'],
    async (wire) => {
      const { older, newer } = await two(wire)
      await wire.must(putRetention('COMPLIANCE', until, { versionId: older }))
      expect(await locksOf(wire, older)).toEqual(['COMPLIANCE', until, undefined])
      expect(await locksOf(wire, newer)).toEqual([undefined, undefined, undefined])
      await refuses(wire, putRetention('COMPLIANCE', hoursFromNow(1), { versionId: older }), 403, 'AccessDenied')
    },
  ),
  effect(
    'GetObjectRetention',
    ['request query:versionId', 'answer element:Retention/Mode', 'answer element:Retention/RetainUntilDate'],
    async (wire) => {
      const { older } = await two(wire)
      await wire.must(putRetention('COMPLIANCE', until, { versionId: older }))
      await wire.must(putRetention('GOVERNANCE', hoursFromNow(50)))
      const ask: Ask = { method: 'GET', key: 'a', query: { retention: '', versionId: older } }
      expect(await texts(wire, ask, 'Retention/Mode')).toEqual(['COMPLIANCE'])
      expect(await texts(wire, ask, 'Retention/RetainUntilDate')).toEqual([until])
    },
  ),
  effect('DeleteObject', ['request query:versionId', 'answer vendor:version-id'], async (wire) => {
    const { older, newer } = await two(wire)
    const reply = await wire.must({ method: 'DELETE', key: 'a', query: { versionId: newer } })
    expect(vendorOf(wire, reply, 'version-id')).toBe(newer)
    expect(vendorHeader(wire, (await wire.must({ method: 'HEAD', key: 'a' })).headers, 'version-id')).toBe(older)
  }),
  effect('DeleteObject', ['answer vendor:delete-marker'], async (wire) => {
    const { newer } = await two(wire)
    expect(vendorOf(wire, await wire.must({ method: 'DELETE', key: 'a' }), 'delete-marker')).toBe('true')
    const removed = await wire.must({ method: 'DELETE', key: 'a', query: { versionId: newer } })
    expect(vendorOf(wire, removed, 'delete-marker')).toBeUndefined()
  }),
]

const tagDocuments: Proof[] = [
  effect(
    'PutObjectTagging',
    [`request element:${tagKey}`, 'request element:Tagging/TagSet/Tag/Value'],
    async (wire) => {
      await putVersion(wire, 'a', 'one')
      await wire.must(tagged('a'))
      const ask: Ask = { method: 'GET', key: 'a', query: { tagging: '' } }
      expect(await texts(wire, ask, tagKey)).toEqual(['a'])
      expect(await texts(wire, ask, 'Tagging/TagSet/Tag/Value')).toEqual(['1'])
    },
  ),
  answering({
    operation: 'GetObjectTagging',
    it: 'the tags',
    given: async (wire) => void (await putVersion(wire, 'a', 'one', { tagging: 'x=7&y=8' })),
    ask: { method: 'GET', key: 'a', query: { tagging: '' } },
    elements: { [tagKey]: ['x', 'y'], 'Tagging/TagSet/Tag/Value': ['7', '8'] },
  }),
]

const bypassing = { 'bypass-governance-retention': 'true' }
const notBypassing = { 'bypass-governance-retention': 'false' }

/** Requests that need the bypass, on one version that is locked. */
const bypasses: Record<string, (versionId: string) => Ask> = {
  DeleteObject: (versionId) => ({ method: 'DELETE', key: 'a', query: { versionId } }),
  PutObjectRetention: (versionId) => putRetention('GOVERNANCE', hoursFromNow(1), { versionId }),
}

const bypassed: Proof[] = [
  ...Object.entries(bypasses).map(([operation, asking]) =>
    effect(operation, ['request vendor:bypass-governance-retention'], async (wire) => {
      await vault(wire)
      const ask = asking(await putVersion(wire, 'a', 'one', governed))
      await refuses(wire, { ...ask, vendor: notBypassing }, 403, 'AccessDenied')
      await wire.must({ ...ask, vendor: bypassing })
    }),
  ),
  effect('DeleteObjects', ['request vendor:bypass-governance-retention'], async (wire) => {
    await vault(wire)
    const id = await putVersion(wire, 'a', 'one', governed)
    const ask = remove(`<Object><Key>a</Key><VersionId>${id}</VersionId></Object>`)
    expect(await texts(wire, { ...ask, vendor: notBypassing }, 'DeleteResult/Error/Code')).toEqual(['AccessDenied'])
    expect(await texts(wire, { ...ask, vendor: bypassing }, 'DeleteResult/Deleted/VersionId')).toEqual([id])
  }),
]

function remove(inner: string): Ask {
  const body = `<Delete>${inner}</Delete>`
  return { method: 'POST', query: { delete: '' }, headers: { 'Content-MD5': md5Base64(body) }, body }
}

const status = async (wire: Wire, key: string): Promise<number> => (await wire.ask({ method: 'HEAD', key })).status

/** `a`, and `b` under two versions. Facts: `b1`. */
const deletable = async (wire: Wire): Promise<Facts> => {
  await vault(wire)
  const b1 = await putVersion(wire, 'b', 'one')
  return {
    held: await putVersion(wire, 'a', 'x', { 'object-lock-legal-hold': 'ON' }),
    b1,
    b2: await putVersion(wire, 'b', 'two'),
  }
}

const many: Proof[] = [
  effect('DeleteObjects', ['request element:Delete/Object/Key'], async (wire) => {
    for (const key of ['a', 'b', 'c']) await putVersion(wire, key, 'x')
    await wire.must(remove('<Object><Key>a</Key></Object><Object><Key>c</Key></Object>'))
    expect([await status(wire, 'a'), await status(wire, 'b'), await status(wire, 'c')]).toEqual([404, 200, 404])
  }),
  effect('DeleteObjects', ['request element:Delete/Object/ETag'], async (wire) => {
    await putVersion(wire, 'a', 'x')
    const listing = (etag: string): Ask => remove(`<Object><Key>a</Key><ETag>${etag}</ETag></Object>`)
    expect(await texts(wire, listing(md5Hex('other')), 'DeleteResult/Error/Code')).toEqual(['PreconditionFailed'])
    expect(await status(wire, 'a')).toBe(200)
    expect(await texts(wire, listing(`"${md5Hex('x')}"`), 'DeleteResult/Deleted/Key')).toEqual(['a'])
    expect(await status(wire, 'a')).toBe(404)
  }),
  ...(
    [
      ['Size', '4', async () => '1'],
      [
        'LastModifiedTime',
        'Sat, 01 Jan 2000 00:00:00 GMT',
        async (wire: Wire) => (await wire.must({ method: 'HEAD', key: 'a' })).headers.get('last-modified') ?? '',
      ],
    ] as const
  ).map(([name, wrong, right]) =>
    effect('DeleteObjects', [`request element:Delete/Object/${name}`], async (wire) => {
      await putVersion(wire, 'a', 'x')
      const listing = (value: string): Ask => remove(`<Object><Key>a</Key><${name}>${value}</${name}></Object>`)
      expect(await texts(wire, listing(wrong), 'DeleteResult/Error/Code')).toEqual(['PreconditionFailed'])
      expect(await status(wire, 'a')).toBe(200)
      expect(await texts(wire, listing(await right(wire)), 'DeleteResult/Deleted/Key')).toEqual(['a'])
      expect(await status(wire, 'a')).toBe(404)
    }),
  ),
  effect('DeleteObjects', ['request element:Delete/Quiet'], async (wire) => {
    const quietly = (quiet: string): Ask => remove(`<Object><Key>a</Key></Object><Quiet>${quiet}</Quiet>`)
    expect(await texts(wire, quietly('false'), 'DeleteResult/Deleted/Key')).toEqual(['a'])
    await putVersion(wire, 'a', 'x')
    expect(await texts(wire, quietly('true'), 'DeleteResult/Deleted/Key')).toEqual([])
    expect(await status(wire, 'a')).toBe(404)
  }),
  effect(
    'DeleteObjects',
    ['request element:Delete/Object/VersionId', 'answer element:DeleteResult/Deleted/VersionId'],
    async (wire) => {
      const { b1 = '', b2 = '' } = await deletable(wire)
      const ask = remove(`<Object><Key>b</Key><VersionId>${b2}</VersionId></Object>`)
      expect(await texts(wire, ask, 'DeleteResult/Deleted/VersionId')).toEqual([b2])
      expect(vendorHeader(wire, (await wire.must({ method: 'HEAD', key: 'b' })).headers, 'version-id')).toBe(b1)
    },
  ),
  effect(
    'DeleteObjects',
    ['Key', 'DeleteMarker', 'DeleteMarkerVersionId'].map((name) => `answer element:DeleteResult/Deleted/${name}`),
    async (wire) => {
      await enabled(wire)
      await putVersion(wire, 'b', 'x')
      const reply = await wire.must(remove('<Object><Key>b</Key></Object>'))
      const [, marker = ''] = /<DeleteMarkerVersionId>(\w+)</.exec(reply.body.toString()) ?? []
      expect(reply.body.toString()).toContain('<Key>b</Key><DeleteMarker>true</DeleteMarker>')
      await wire.must({ method: 'DELETE', key: 'b', query: { versionId: marker } })
      expect(await status(wire, 'b')).toBe(200)
    },
  ),
]

const failing = effect(
  'DeleteObjects',
  ['Key', 'VersionId', 'Code', 'Message'].map((name) => `answer element:DeleteResult/Error/${name}`),
  async (wire) => {
    const { held = '' } = await deletable(wire)
    const { body } = await wire.must(remove(`<Object><Key>a</Key><VersionId>${held}</VersionId></Object>`))
    expect(readXml(body).value).toEqual({
      Error: { Key: 'a', VersionId: held, Code: 'AccessDenied', Message: expect.stringMatching(/lock/i) },
    })
  },
)

export const versionProofs: readonly Proof[] = [...olderOnes, ...tagDocuments, ...bypassed, ...many, failing]
