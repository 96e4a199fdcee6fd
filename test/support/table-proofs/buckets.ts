/** Proofs of what is particular to operations on buckets: making, naming and listing them, and their documents. */
import { expect } from 'vitest'
import type { Ask, Wire } from '../wire-client.ts'
import { putDocument } from '../wire-documents.ts'
import { anInstant, type Facts } from '../wire-rows.ts'
import { tagging } from '../wire-tags.ts'
import { enabled, lockConfiguration, putVersion, vault } from '../wire-versions.ts'
import { type Answering, answering, effect, type Proof, refuses, texts, vendorOf } from './proof.ts'

const put = (bucket: string, more: Partial<Ask> = {}): Ask => ({ method: 'PUT', bucket, ...more })
const configuration = (location: string): string =>
  `<CreateBucketConfiguration><LocationConstraint>${location}</LocationConstraint></CreateBucketConfiguration>`

const locked: Ask = { method: 'GET', bucket: 'made', query: { 'object-lock': '' } }

const making: Proof[] = [
  effect('CreateBucket', ['request vendor:bucket-object-lock-enabled'], async (wire) => {
    await wire.must(put('made', { vendor: { 'bucket-object-lock-enabled': 'false' } }))
    await refuses(wire, locked, 404, 'ObjectLockConfigurationNotFoundError')
    await wire.must({ method: 'DELETE', bucket: 'made' })
    await wire.must(put('made', { vendor: { 'bucket-object-lock-enabled': 'true' } }))
    expect(await texts(wire, locked, 'ObjectLockConfiguration/ObjectLockEnabled')).toEqual(['Enabled'])
  }),
  effect('CreateBucket', ['request vendor:object-ownership'], async (wire) => {
    await refuses(wire, put('made', { vendor: { 'object-ownership': 'Nobody' } }), 400, 'InvalidArgument')
    await wire.must(put('made', { vendor: { 'object-ownership': 'ObjectWriter' } }))
    const found: Ask = { method: 'GET', bucket: 'made', query: { ownershipControls: '' } }
    expect(await texts(wire, found, 'OwnershipControls/Rule/ObjectOwnership')).toEqual(['ObjectWriter'])
  }),
  effect('CreateBucket', ['request vendor:bucket-namespace'], async (wire) => {
    const regional = put('made', { vendor: { 'bucket-namespace': 'account-regional' } })
    await refuses(wire, regional, 501, 'NotImplemented')
    await wire.must(put('made', { vendor: { 'bucket-namespace': 'global' } }))
  }),
  effect('CreateBucket', ['request element:CreateBucketConfiguration/LocationConstraint'], async (wire) => {
    await wire.must(put('made', { body: configuration('eu-west-1') }))
    const found = await texts(wire, { method: 'GET', bucket: 'made', query: { location: '' } }, 'LocationConstraint')
    expect(found).toEqual(['eu-west-1'])
  }),
]

/** Buckets `one` and `two`, in different regions. Facts: the `token` of the page behind `one`. */
async function regions(wire: Wire): Promise<Facts> {
  await wire.must(put('one', { body: configuration('eu-west-1') }))
  await wire.must(put('two'))
  const reply = await wire.must({ method: 'GET', bucket: '', query: { 'max-buckets': '1' } })
  return { token: /<ContinuationToken>(.*?)</.exec(reply.body.toString())?.[1] ?? '' }
}

const listed = (element: string): string => `ListAllMyBucketsResult/Buckets/Bucket/${element}`
const list = (query: Record<string, string>): Ask => ({ method: 'GET', bucket: '', query })

const answers: Answering[] = [
  {
    operation: 'CreateBucket',
    it: 'where the bucket is',
    ask: put('made'),
    headers: { Location: '/made' },
  },
  {
    operation: 'HeadBucket',
    it: 'the region',
    given: regions,
    ask: { method: 'HEAD', bucket: 'one' },
    vendor: { 'bucket-region': 'eu-west-1' },
  },
  {
    operation: 'GetBucketLocation',
    it: 'the location',
    given: regions,
    ask: { method: 'GET', bucket: 'one', query: { location: '' } },
    elements: { LocationConstraint: 'eu-west-1' },
  },
  {
    operation: 'ListBuckets',
    it: 'whose buckets they are, and all that it knows of one',
    given: regions,
    ask: list({ prefix: 'o' }),
    proves: ['request query:prefix'],
    elements: {
      'ListAllMyBucketsResult/Owner/ID': 'main',
      'ListAllMyBucketsResult/Owner/DisplayName': 'Main',
      'ListAllMyBucketsResult/Prefix': 'o',
      [listed('Name')]: 'one',
      [listed('CreationDate')]: anInstant,
      [listed('BucketRegion')]: 'eu-west-1',
    },
  },
  {
    operation: 'ListBuckets',
    it: 'a page, and where to go on',
    given: regions,
    ask: list({ 'max-buckets': '1' }),
    proves: ['request query:max-buckets'],
    elements: { [listed('Name')]: 'one', 'ListAllMyBucketsResult/ContinuationToken': '{{token}}' },
  },
  {
    operation: 'ListBuckets',
    it: 'the page that a token leads to',
    given: regions,
    ask: list({ 'continuation-token': '{{token}}' }),
    proves: ['request query:continuation-token'],
    elements: { [listed('Name')]: ['two', 'wire'] },
  },
  {
    operation: 'ListBuckets',
    it: 'the buckets of a region',
    given: regions,
    ask: list({ 'bucket-region': 'eu-west-1' }),
    proves: ['request query:bucket-region'],
    elements: { [listed('Name')]: 'one' },
  },
]

const tagDocument = tagging([
  ['a', '1'],
  ['b', '2'],
])
const versioning = (inner: string): Ask =>
  putDocument({ versioning: '' }, `<VersioningConfiguration>${inner}</VersioningConfiguration>`)
const status: Ask = { method: 'GET', query: { versioning: '' } }

const documents: Proof[] = [
  effect(
    'PutBucketTagging',
    ['request element:Tagging/TagSet/Tag/Key', 'request element:Tagging/TagSet/Tag/Value'],
    async (wire) => {
      await wire.must(putDocument({ tagging: '' }, tagDocument))
      const ask: Ask = { method: 'GET', query: { tagging: '' } }
      expect(await texts(wire, ask, 'Tagging/TagSet/Tag/Key')).toEqual(['a', 'b'])
      expect(await texts(wire, ask, 'Tagging/TagSet/Tag/Value')).toEqual(['1', '2'])
    },
  ),
  effect('PutBucketVersioning', ['request element:VersioningConfiguration/Status'], async (wire) => {
    await enabled(wire)
    expect(await putVersion(wire, 'a', 'one')).not.toBe('')
    await wire.must(versioning('<Status>Suspended</Status>'))
    expect(await texts(wire, status, 'VersioningConfiguration/Status')).toEqual(['Suspended'])
  }),
  effect('PutBucketVersioning', ['request element:VersioningConfiguration/MfaDelete'], async (wire) => {
    await refuses(wire, versioning('<Status>Enabled</Status><MfaDelete>Enabled</MfaDelete>'), 501, 'NotImplemented')
    expect(await texts(wire, status, 'VersioningConfiguration/Status')).toEqual([])
    await wire.must(versioning('<Status>Enabled</Status><MfaDelete>Disabled</MfaDelete>'))
    expect(await texts(wire, status, 'VersioningConfiguration/Status')).toEqual(['Enabled'])
  }),
]

const shown: Answering[] = [
  {
    operation: 'GetBucketTagging',
    it: 'the tags',
    given: async (wire) => {
      await wire.must(putDocument({ tagging: '' }, tagDocument))
    },
    ask: { method: 'GET', query: { tagging: '' } },
    elements: { 'Tagging/TagSet/Tag/Key': ['a', 'b'], 'Tagging/TagSet/Tag/Value': ['1', '2'] },
  },
  {
    operation: 'GetBucketVersioning',
    it: 'the status, and no deletion by devices',
    given: enabled,
    ask: status,
    elements: { 'VersioningConfiguration/Status': 'Enabled', 'VersioningConfiguration/MfaDelete': [] },
  },
]

const rule = (element: string): string => `ObjectLockConfiguration/Rule/DefaultRetention/${element}`
const lockAsk: Ask = { method: 'GET', query: { 'object-lock': '' } }
const periods = [
  ['Days', '3', 3 * 24],
  ['Years', '2', 2 * 365 * 24],
] as const
const modes = ['GOVERNANCE', 'COMPLIANCE'] as const

/** Hours that a new version is locked for, and how. */
async function lockOfNew(wire: Wire): Promise<{ mode: string | undefined; hours: number }> {
  await putVersion(wire, 'a', 'one')
  const reply = await wire.must({ method: 'HEAD', key: 'a' })
  const until = Date.parse(vendorOf(wire, reply, 'object-lock-retain-until-date') ?? '')
  const from = Date.parse(reply.headers.get('last-modified') ?? '')
  return { mode: vendorOf(wire, reply, 'object-lock-mode'), hours: Math.round((until - from) / 3_600_000) }
}

const locks: Proof[] = [
  effect('PutObjectLockConfiguration', ['request element:ObjectLockConfiguration/ObjectLockEnabled'], async (wire) => {
    await enabled(wire)
    await refuses(wire, putDocument({ 'object-lock': '' }, '<ObjectLockConfiguration/>'), 400, 'MalformedXML')
    await wire.must(putDocument({ 'object-lock': '' }, lockConfiguration()))
    expect(await texts(wire, lockAsk, 'ObjectLockConfiguration/ObjectLockEnabled')).toEqual(['Enabled'])
  }),
  ...periods.flatMap(([unit, period, hours]) =>
    modes.map((mode) =>
      effect(
        'PutObjectLockConfiguration',
        [`request element:${rule('Mode')}`, `request element:${rule(unit)}`],
        async (wire) => {
          await vault(wire, `<Mode>${mode}</Mode><${unit}>${period}</${unit}>`)
          const lock = await lockOfNew(wire)
          expect(lock.mode).toBe(mode)
          // Years of the calendar: two of them have at most one leap day.
          expect(lock.hours - hours).toBeGreaterThanOrEqual(0)
          expect(lock.hours - hours).toBeLessThanOrEqual(unit === 'Years' ? 24 : 0)
        },
      ),
    ),
  ),
  ...periods.map(([unit, period]) =>
    answering({
      operation: 'GetObjectLockConfiguration',
      it: `a default retention of ${unit}`,
      given: (wire) => vault(wire, `<Mode>GOVERNANCE</Mode><${unit}>${period}</${unit}>`),
      ask: lockAsk,
      elements: {
        'ObjectLockConfiguration/ObjectLockEnabled': 'Enabled',
        [rule('Mode')]: 'GOVERNANCE',
        [rule(unit)]: period,
      },
    }),
  ),
]

export const bucketProofs: readonly Proof[] = [
  ...making,
  ...[...answers, ...shown].map(answering),
  ...documents,
  ...locks,
]
