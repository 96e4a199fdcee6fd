/** What is said of restores from archives, in lists that ask for it, in headers, and by RestoreObject: everything can be read at any time. */
import {
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  RestoreObjectCommand,
} from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import type { Wire } from '../support/wire-client.ts'
import { putDocument } from '../support/wire-documents.ts'
import { type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { type SdkCall, sdk } from '../support/wire-sdk.ts'
import { missingVersionRows, ownerRows, putVersion, vault } from '../support/wire-versions.ts'

const archived = async (wire: Wire): Promise<void> => {
  for (const name of ['GLACIER', 'DEEP_ARCHIVE', 'STANDARD_IA'])
    await wire.must({ method: 'PUT', key: name, body: 'x', vendor: { 'storage-class': name } })
}

const status =
  '<RestoreStatus><IsRestoreInProgress>false</IsRestoreInProgress><RestoreExpiryDate>9999-12-31T00:00:00.000Z</RestoreExpiryDate></RestoreStatus>'

/** `entry`: what a listing has of each object. */
const rows = (query: Record<string, string>, call: SdkCall, entry = 'ListBucketResult/Contents'): Row[] => {
  const ask = (asked: string) => ({ method: 'GET', query, vendor: { 'optional-object-attributes': asked } }) as const
  return [
    {
      it: 'says when asked that what is archived can be read, for ever',
      proves: [
        'vendor:optional-object-attributes',
        ...['IsRestoreInProgress', 'RestoreExpiryDate'].map((name) => `answer element:${entry}/RestoreStatus/${name}`),
      ],
      status: 200,
      given: archived,
      ask: ask('RestoreStatus'),
      afterwards: async (_, { body }) => {
        const shown = [...body.toString().matchAll(/<Key>(\w+)<.*?<\/StorageClass>(.*?)<\/(?:Contents|Version)>/gs)]
        const said = shown.map(([, key, rest = '']) => [key, rest.replace(/<Owner>.*<\/Owner>/, '')])
        expect(said).toEqual([
          ['DEEP_ARCHIVE', status],
          ['GLACIER', status],
          ['STANDARD_IA', ''],
        ])
      },
      sdk: call,
    },
    {
      it: 'says nothing of restores unless asked',
      status: 200,
      given: archived,
      ask: { method: 'GET', query },
      afterwards: async (_, { body }) => expect(body.toString()).not.toContain('RestoreStatus'),
    },
    ...['', 'Restorestatus', 'RestoreStatus,Owner'].map(
      (asked): Row => ({
        it: `refuses "${asked}"`,
        proves: ['vendor:optional-object-attributes'],
        ...refusal('InvalidArgument', {
          ArgumentName: '{{prefix}}optional-object-attributes',
          ArgumentValue: asked,
        }),
        ask: ask(asked),
      }),
    ),
  ]
}

const input = { Bucket: 'wire', OptionalObjectAttributes: ['RestoreStatus' as const] }
wireTests('ListObjects', rows({}, sdk(ListObjectsCommand, input)))
wireTests('ListObjectsV2', rows({ 'list-type': '2' }, sdk(ListObjectsV2Command, input)))
wireTests(
  'ListObjectVersions',
  rows({ versions: '' }, sdk(ListObjectVersionsCommand, input), 'ListVersionsResult/Version'),
)

const restored = 'ongoing-request="false", expiry-date="Fri, 31 Dec 9999 00:00:00 GMT"'
const reads = (method: 'GET' | 'HEAD', call: SdkCall): Row[] => [
  ...['GLACIER', 'DEEP_ARCHIVE'].map(
    (key): Row => ({
      it: `says that an object of class ${key} can be read`,
      proves: ['answer vendor:restore'],
      status: 200,
      given: archived,
      ask: { method, key },
      vendor: { 'storage-class': key, restore: restored },
      ...(key === 'GLACIER' ? { sdk: call } : {}),
    }),
  ),
  {
    it: 'says nothing of restores about other classes',
    status: 200,
    given: archived,
    ask: { method, key: 'STANDARD_IA' },
    vendor: { 'storage-class': 'STANDARD_IA' },
  },
]
const glacier = { Bucket: 'wire', Key: 'GLACIER' }
wireTests('GetObject', reads('GET', sdk(GetObjectCommand, glacier, { Restore: restored })))
wireTests('HeadObject', reads('HEAD', sdk(HeadObjectCommand, glacier, { Restore: restored })))

const restore = (content: string, key = 'GLACIER') => ({
  ...putDocument({ restore: '' }, `<RestoreRequest>${content}</RestoreRequest>`),
  method: 'POST' as const,
  key,
})
const oneDay = '<Days>1</Days>'
wireTests('RestoreObject', [
  {
    it: 'says that an archived object has been restored',
    proves: ['Days', 'GlacierJobParameters/Tier', 'Tier', 'Description'].map(
      (name) => `element:RestoreRequest/${name}`,
    ),
    status: 200,
    given: archived,
    ask: restore(
      `${oneDay}<GlacierJobParameters><Tier>Bulk</Tier></GlacierJobParameters><Tier>Standard</Tier><Description>why</Description>`,
    ),
    vendor: {},
    body: '',
    sdk: sdk(RestoreObjectCommand, {
      ...glacier,
      RestoreRequest: { Days: 1, GlacierJobParameters: { Tier: 'Bulk' } },
    }),
  },
  {
    it: 'goes by the version that is named',
    proves: ['query:versionId'],
    ...refusal('InvalidObjectState', { StorageClass: 'STANDARD' }),
    given: async (wire) => {
      await vault(wire)
      const v1 = await putVersion(wire, 'a', 'one')
      await wire.must({ method: 'PUT', key: 'a', body: 'two', vendor: { 'storage-class': 'GLACIER' } })
      return { v1 }
    },
    ask: { ...restore(oneDay, 'a'), query: { restore: '', versionId: '{{v1}}' } },
  },
  {
    it: 'refuses an object that is not archived',
    ...refusal('InvalidObjectState', { StorageClass: 'STANDARD_IA' }),
    given: archived,
    ask: restore(oneDay, 'STANDARD_IA'),
  },
  { it: 'refuses a key that is not there', ...refusal('NoSuchKey', { Key: 'none' }), ask: restore(oneDay, 'none') },
  { it: 'refuses no days', ...refusal('InvalidArgument'), given: archived, ask: restore('<Days>0</Days>') },
  { it: 'refuses another tier', ...refusal('MalformedXML'), given: archived, ask: restore('<Tier>Fast</Tier>') },
  ...missingVersionRows(restore(oneDay, 'a'), (wire) => vault(wire), 'MethodNotAllowed'),
  ...ownerRows(restore(oneDay, 'a')),
])
