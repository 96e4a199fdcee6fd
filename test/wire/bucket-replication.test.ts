/** The replication rules of a bucket over the wire: set, shown, removed; and what writes and reads say of copies. What is copied then: test/replication. */
import {
  DeleteBucketReplicationCommand,
  GetBucketReplicationCommand,
  PutBucketReplicationCommand,
  type ReplicationRule,
} from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import type { Wire } from '../support/wire-client.ts'
import { documentRows, putDocument } from '../support/wire-documents.ts'
import { type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import { siteName } from '../support/wire-server.ts'
import { completeDocument, putPart } from '../support/wire-uploads.ts'
import { aVersionId, enabled, ownerRows, suspended, vendorHeader } from '../support/wire-versions.ts'

const Bucket = 'wire'
const get = { method: 'GET', query: { replication: '' } } as const
const remove = { method: 'DELETE', query: { replication: '' } } as const
const arn = `arn:aws:s3:::${siteName}/copies`
const ownArn = 'arn:aws:s3:::copies'
const role = 'arn:aws:iam::123456789012:role/copier'

const document = (...rules: string[]) =>
  `<ReplicationConfiguration><Role>${role}</Role>${rules.map((rule) => `<Rule>${rule}</Rule>`).join('')}</ReplicationConfiguration>`
const putRules = (...rules: string[]) => putDocument({ replication: '' }, document(...rules))

const markers = '<DeleteMarkerReplication><Status>Disabled</Status></DeleteMarkerReplication>'
const to = (bucket: string, more = '') => `<Destination><Bucket>${bucket}</Bucket>${more}</Destination>`
const rule = (id: string, priority = 1, more = to(arn), filter = '<Filter/>') =>
  `<ID>${id}</ID><Priority>${priority}</Priority>${filter}<Status>Enabled</Status>${markers}${more}`
const first = `<ID>first</ID><Prefix>in/</Prefix><Status>Disabled</Status>${to(arn)}`
const tag = (key: string, value = 'v') => `<Tag><Key>${key}</Key><Value>${value}</Value></Tag>`

const fullDestination = to(
  arn,
  '<Account>123456789012</Account><StorageClass>STANDARD_IA</StorageClass><AccessControlTranslation><Owner>Destination</Owner></AccessControlTranslation>' +
    '<EncryptionConfiguration><ReplicaKmsKeyID>key</ReplicaKmsKeyID></EncryptionConfiguration>' +
    '<ReplicationTime><Status>Disabled</Status><Time><Minutes>15</Minutes></Time></ReplicationTime>' +
    '<Metrics><Status>Enabled</Status><EventThreshold><Minutes>15</Minutes></EventThreshold></Metrics>',
)
const full = [
  `<ID>full</ID><Priority>2</Priority><Filter><And><Prefix>a</Prefix>${tag('k')}${tag('l')}</And></Filter><Status>Enabled</Status>` +
    '<SourceSelectionCriteria><SseKmsEncryptedObjects><Status>Enabled</Status></SseKmsEncryptedObjects><ReplicaModifications><Status>Disabled</Status></ReplicaModifications></SourceSelectionCriteria>' +
    `<ExistingObjectReplication><Status>Enabled</Status></ExistingObjectReplication>${fullDestination}${markers}`,
  rule('one tag', 3, to(arn), `<Filter>${tag('m', '')}</Filter>`),
  rule('prefix', 4, to(`arn:minio:replication::${siteName}:others`), '<Filter><Prefix>b</Prefix></Filter>'),
  first,
]
const fullOfSdk: ReplicationRule[] = [
  {
    ID: 'full',
    Priority: 2,
    Filter: { And: { Prefix: 'a', Tags: ['k', 'l'].map((Key) => ({ Key, Value: 'v' })) } },
    Status: 'Enabled',
    SourceSelectionCriteria: {
      SseKmsEncryptedObjects: { Status: 'Enabled' },
      ReplicaModifications: { Status: 'Disabled' },
    },
    ExistingObjectReplication: { Status: 'Enabled' },
    Destination: {
      Bucket: arn,
      Account: '123456789012',
      StorageClass: 'STANDARD_IA',
      AccessControlTranslation: { Owner: 'Destination' },
      EncryptionConfiguration: { ReplicaKmsKeyID: 'key' },
      Metrics: { Status: 'Enabled', EventThreshold: { Minutes: 15 } },
    },
    DeleteMarkerReplication: { Status: 'Disabled' },
  },
]
const names = [
  'Role',
  ...[
    'ID',
    'Priority',
    'Prefix',
    'Status',
    'Filter/Prefix',
    'Filter/Tag/Key',
    'Filter/Tag/Value',
    'Filter/And/Prefix',
    'Filter/And/Tag/Key',
    'Filter/And/Tag/Value',
    'SourceSelectionCriteria/SseKmsEncryptedObjects/Status',
    'SourceSelectionCriteria/ReplicaModifications/Status',
    'ExistingObjectReplication/Status',
    'DeleteMarkerReplication/Status',
    'Destination/Bucket',
    'Destination/Account',
    'Destination/StorageClass',
    'Destination/AccessControlTranslation/Owner',
    'Destination/EncryptionConfiguration/ReplicaKmsKeyID',
    'Destination/ReplicationTime/Status',
    'Destination/ReplicationTime/Time/Minutes',
    'Destination/Metrics/Status',
    'Destination/Metrics/EventThreshold/Minutes',
  ].map((name) => `Rule/${name}`),
]
const elements = names.map((name) => `element:ReplicationConfiguration/${name}`)

const given =
  (...rules: string[]) =>
  async (wire: Wire): Promise<void> => {
    await enabled(wire)
    if (rules.length > 0) await wire.must(putRules(...rules))
  }
/** The ids of the rules, in order. */
const idsAre =
  (...ids: string[]) =>
  async (wire: Wire): Promise<void> => {
    const { body } = await wire.ask(get)
    expect([...body.toString().matchAll(/<ID>(.*?)</g)].map(([, id]) => id)).toEqual(ids)
  }

type Wrong = [what: string, code: 'MalformedXML' | 'InvalidArgument' | 'InvalidRequest', rules: string[]]
const wrong: readonly Wrong[] = [
  ['no rules', 'MalformedXML', []],
  ['a rule without a destination', 'MalformedXML', [rule('a', 1, '')]],
  ['a rule with a Prefix and a Filter', 'MalformedXML', [rule('a', 1, to(arn), '<Prefix/><Filter/>')]],
  [
    'a filter of two conditions without an And',
    'MalformedXML',
    [rule('a', 1, to(arn), `<Filter><Prefix/>${tag('a')}</Filter>`)],
  ],
  ['what is no ARN', 'InvalidArgument', [rule('a', 1, to('copies'))]],
  ['the ARN of a queue', 'InvalidArgument', [rule('a', 1, to('arn:aws:sqs:::copies'))]],
  ['a site that there is not', 'InvalidRequest', [rule('a', 1, to('arn:aws:s3:::rome/copies'))]],
  ['a bucket that there is not', 'InvalidRequest', [rule('a', 1, to(ownArn))]],
  ['the bucket itself', 'InvalidRequest', [rule('a', 1, to('arn:aws:s3:::wire'))]],
  ['two rules of one ID', 'InvalidArgument', [rule('a'), rule('a', 2)]],
  ['two rules of one priority', 'InvalidRequest', [rule('a'), rule('b')]],
  ['a negative priority', 'InvalidArgument', [rule('a', -1)]],
  ['a long ID', 'InvalidArgument', [rule('i'.repeat(256))]],
  [
    'a prefix that no key can have',
    'InvalidRequest',
    [rule('a', 1, to(arn), `<Filter><Prefix>${'p'.repeat(1025)}</Prefix></Filter>`)],
  ],
  ['a tag without a key', 'InvalidRequest', [rule('a', 1, to(arn), `<Filter>${tag('')}</Filter>`)]],
  ['a tag twice', 'InvalidRequest', [rule('a', 1, to(arn), `<Filter><And>${tag('a')}${tag('a')}</And></Filter>`)]],
  ['a filter without a priority', 'InvalidRequest', [rule('a').replace('<Priority>1</Priority>', '')]],
  ['a filter without a word about delete markers', 'InvalidRequest', [rule('a').replace(markers, '')]],
  [
    'delete markers of objects with a tag',
    'InvalidRequest',
    [rule('a', 1, to(arn), `<Filter>${tag('a')}</Filter>`).replace(markers, markers.replace('Disabled', 'Enabled'))],
  ],
  [
    '33 destinations',
    'InvalidRequest',
    Array.from({ length: 33 }, (_, i) => rule(`${i}`, i, to(`arn:minio:replication:${i}:${siteName}:copies`))),
  ],
  ['1,001 rules', 'InvalidRequest', Array.from({ length: 1001 }, (_, i) => rule(`${i}`, i))],
]

wireTests('PutBucketReplication', [
  {
    it: 'sets rules',
    status: 200,
    given: given(),
    ask: putRules(...full),
    proves: elements,
    vendor: {},
    body: '',
    afterwards: idsAre('full', 'one tag', 'prefix', 'first'),
    sdk: sdk(PutBucketReplicationCommand, { Bucket, ReplicationConfiguration: { Role: role, Rules: fullOfSdk } }),
  },
  {
    it: 'replaces all rules',
    status: 200,
    given: given(...full),
    ask: putRules(first),
    afterwards: idsAre('first'),
  },
  {
    it: 'names a rule that has no ID',
    status: 200,
    given: given(),
    ask: putRules(first.replace('<ID>first</ID>', '')),
    afterwards: async (wire) => {
      const { body } = await wire.ask(get)
      expect(body.toString()).toMatch(/<ID>[0-9a-f]{32}</)
    },
  },
  {
    it: 'takes a bucket of the same owner that has versions',
    status: 200,
    given: async (wire) => {
      await enabled(wire)
      await wire.must({ method: 'PUT', bucket: 'copies' })
      const versioning = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>'
      await wire.must({ method: 'PUT', bucket: 'copies', query: { versioning: '' }, body: versioning })
    },
    ask: putRules(rule('own', 1, to(ownArn))),
    afterwards: idsAre('own'),
  },
  {
    it: 'refuses a bucket without versions as a destination',
    ...refusal('InvalidRequest'),
    given: async (wire) => {
      await enabled(wire)
      await wire.must({ method: 'PUT', bucket: 'copies' })
    },
    ask: putRules(rule('own', 1, to(ownArn))),
    afterwards: idsAre(),
  },
  {
    it: 'refuses rules for a bucket without versions',
    ...refusal('InvalidRequest'),
    ask: putRules(first),
    afterwards: idsAre(),
  },
  ...wrong.map(
    ([what, code, rules]): Row => ({
      it: `refuses ${what}`,
      ...refusal(code),
      given: given(first),
      ask: putRules(...rules),
      afterwards: idsAre('first'),
    }),
  ),
  ...documentRows(putRules(first), given(first), idsAre('first'), { digestRequired: false }),
  ...ownerRows(putRules(first), { given: given() }),
])

wireTests('GetBucketReplication', [
  {
    it: 'says that there are none',
    ...refusal('ReplicationConfigurationNotFoundError', { BucketName: 'wire' }),
    ask: get,
    vendor: {},
  },
  {
    it: 'shows what was set, in its order',
    status: 200,
    given: given(...full),
    ask: get,
    vendor: {},
    proves: names.map((name) => `answer element:ReplicationConfiguration/${name}`),
    afterwards: async (_, { body }) => {
      const text = body.toString()
      for (const part of full) for (const element of part.split(/(?=<)/)) expect(text).toContain(element)
    },
    sdk: sdk(GetBucketReplicationCommand, { Bucket }),
  },
  ...ownerRows(get, { given: given(first) }),
])

wireTests('DeleteBucketReplication', [
  {
    it: 'removes the rules',
    status: 204,
    given: given(first),
    ask: remove,
    vendor: {},
    body: '',
    afterwards: idsAre(),
    sdk: sdk(DeleteBucketReplicationCommand, { Bucket }),
  },
  { it: 'answers 204 where there is nothing to remove', status: 204, ask: remove, afterwards: idsAre() },
  ...ownerRows(remove),
])

wireTests('PutBucketVersioning', [
  {
    it: 'is not suspended while rules copy the bucket',
    ...refusal('InvalidBucketState'),
    given: given(first),
    ask: putDocument(
      { versioning: '' },
      '<VersioningConfiguration><Status>Suspended</Status></VersioningConfiguration>',
    ),
    afterwards: async (wire) => {
      await wire.must(remove)
      await suspended(wire)
    },
  },
])

const replica = { headers: { 'x-holdfast-replica': 'v 1' } }
const saysReplica = async (wire: Wire, key = 'a'): Promise<void> => {
  const { headers } = await wire.must({ method: 'HEAD', key })
  expect([vendorHeader(wire, headers, 'replication-status'), headers.get('x-holdfast-replica')]).toEqual([
    'REPLICA',
    'v 1',
  ])
}
const versionsAre =
  (count: number) =>
  async (wire: Wire): Promise<void> => {
    const { body } = await wire.must({ method: 'GET', query: { versions: '' } })
    expect(body.toString().match(/<VersionId>/g)).toHaveLength(count)
  }
const writtenAt = (time: string) => ({ headers: { 'x-holdfast-last-modified': time } })
const in2020 = writtenAt('2020-02-03T04:05:06.789Z')
const isOf2020 = async (wire: Wire): Promise<void> => {
  const { body } = await wire.must({ method: 'GET', query: { versions: '' } })
  expect(body.toString()).toContain('<LastModified>2020-02-03T04:05:06.789Z</LastModified>')
}
const tooLong = { headers: { 'x-holdfast-replica': 'v'.repeat(1025) } }

wireTests('PutObject', [
  {
    it: 'says that an object waits to be copied',
    status: 200,
    given: given(rule('all')),
    ask: { method: 'PUT', key: 'a', body: 'a' },
    vendor: { 'version-id': aVersionId },
    afterwards: async (wire) => {
      const { headers } = await wire.must({ method: 'HEAD', key: 'a' })
      expect(vendorHeader(wire, headers, 'replication-status')).toBe('PENDING')
    },
  },
  {
    it: 'marks a copy, which is not copied on',
    status: 200,
    given: given(rule('all')),
    ask: { method: 'PUT', key: 'a', body: 'a', ...replica },
    vendor: { 'version-id': aVersionId },
    proves: ['header:x-holdfast-replica'],
    afterwards: (wire) => saysReplica(wire),
  },
  {
    it: 'makes one version of a copy that is sent twice',
    status: 200,
    given: async (wire) => {
      await enabled(wire)
      await wire.must({ method: 'PUT', key: 'a', body: 'a', ...replica })
    },
    ask: { method: 'PUT', key: 'a', body: 'a', ...replica },
    vendor: { 'version-id': aVersionId },
    afterwards: versionsAre(1),
  },
  {
    it: 'makes another version of what is a copy of another',
    status: 200,
    given: async (wire) => {
      await enabled(wire)
      await wire.must({ method: 'PUT', key: 'a', body: 'a', headers: { 'x-holdfast-replica': 'v 0' } })
    },
    ask: { method: 'PUT', key: 'a', body: 'a', ...replica },
    vendor: { 'version-id': aVersionId },
    afterwards: versionsAre(2),
  },
  {
    it: 'refuses a copy of what is no version',
    ...refusal('InvalidArgument'),
    ask: { method: 'PUT', key: 'a', body: 'a', ...tooLong },
  },
  {
    it: 'gives a copy the time of its original',
    status: 200,
    ask: { method: 'PUT', key: 'a', body: 'a', ...in2020 },
    proves: ['header:x-holdfast-last-modified'],
    afterwards: async (wire) => {
      await isOf2020(wire)
      const { headers } = await wire.must({ method: 'HEAD', key: 'a' })
      expect(headers.get('last-modified')).toBe('Mon, 03 Feb 2020 04:05:06 GMT')
    },
  },
  {
    it: 'writes nothing in the future, even where the clock of the other server is ahead',
    status: 200,
    ask: { method: 'PUT', key: 'a', body: 'a', ...writtenAt('2150-01-01T00:00:00Z') },
    afterwards: async (wire) => {
      const { headers } = await wire.must({ method: 'HEAD', key: 'a' })
      expect(Date.parse(headers.get('last-modified') ?? '')).toBeLessThan(Date.UTC(2150, 0))
    },
  },
  ...['yesterday', '2020-02-30T00:00:00Z', '1969-12-31T23:59:59Z'].map((time) => ({
    it: `refuses the time ${time}`,
    ...refusal('InvalidArgument'),
    ask: { method: 'PUT', key: 'a', body: 'a', ...writtenAt(time) } as const,
  })),
])

wireTests('CreateMultipartUpload', [
  {
    it: 'marks a copy',
    status: 200,
    ask: { method: 'POST', key: 'a', query: { uploads: '' }, ...replica },
    proves: ['header:x-holdfast-replica'],
  },
  {
    it: 'gives a copy the time of its original',
    status: 200,
    ask: { method: 'POST', key: 'a', query: { uploads: '' }, ...in2020 },
    proves: ['header:x-holdfast-last-modified'],
    afterwards: async (wire, { body }) => {
      const uploadId = /<UploadId>(.+)<\/UploadId>/.exec(body.toString())?.[1] ?? ''
      const etag = await putPart(wire, uploadId, 1, 'a', {}, 'a')
      await wire.must({ method: 'POST', key: 'a', query: { uploadId }, body: completeDocument([[1, etag]]) })
      await isOf2020(wire)
    },
  },
])

wireTests('DeleteObject', [
  {
    it: 'hides what another bucket hid',
    status: 204,
    given: given(rule('all')),
    ask: { method: 'DELETE', key: 'a', ...replica },
    vendor: { 'version-id': aVersionId, 'delete-marker': 'true' },
    proves: ['header:x-holdfast-replica'],
  },
  {
    it: 'gives a delete marker the time of the one that it copies',
    status: 204,
    given: enabled,
    ask: { method: 'DELETE', key: 'a', ...in2020 },
    vendor: { 'version-id': aVersionId, 'delete-marker': 'true' },
    proves: ['header:x-holdfast-last-modified'],
    afterwards: isOf2020,
  },
  {
    it: 'makes one delete marker of a copy that is asked for twice',
    status: 204,
    given: async (wire) => {
      await enabled(wire)
      await wire.must({ method: 'DELETE', key: 'a', ...replica })
    },
    ask: { method: 'DELETE', key: 'a', ...replica },
    vendor: { 'version-id': aVersionId, 'delete-marker': 'true' },
    afterwards: versionsAre(1),
  },
  {
    it: 'makes another of what is a copy of another',
    status: 204,
    given: async (wire) => {
      await enabled(wire)
      await wire.must({ method: 'DELETE', key: 'a', headers: { 'x-holdfast-replica': 'v 0' } })
    },
    ask: { method: 'DELETE', key: 'a', ...replica },
    vendor: { 'version-id': aVersionId, 'delete-marker': 'true' },
    afterwards: versionsAre(2),
  },
])

for (const [operation, method] of [
  ['GetObject', 'GET'],
  ['HeadObject', 'HEAD'],
] as const) {
  wireTests(operation, [
    {
      it: 'says of which version it is a copy',
      status: 200,
      given: async (wire) => void (await wire.must({ method: 'PUT', key: 'a', body: 'a', ...replica })),
      ask: { method, key: 'a' },
      vendor: { 'replication-status': 'REPLICA' },
      headers: { 'x-holdfast-replica': 'v 1' },
    },
  ])
}
