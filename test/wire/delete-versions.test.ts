/** What versions change in deleting: delete markers, removing versions for good, and when a bucket is empty. */
import {
  DeleteBucketCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  type DeleteObjectsCommandOutput,
  type ObjectIdentifier,
} from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import { md5Base64, md5Hex } from '../support/wire-checksums.ts'
import type { Ask } from '../support/wire-client.ts'
import { type Facts, type Given, type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import {
  aVersionId,
  deletedHistory,
  enabled,
  history,
  leaves,
  malformedVersionIds,
  putMarker,
  putVersion,
  suspended,
  unknownVersionId,
  vendorHeader,
} from '../support/wire-versions.ts'

const ask = { method: 'DELETE', key: 'a' } as const
const input = { Bucket: 'wire', Key: 'a' }
const named = (versionId: string): Ask => ({ ...ask, query: { versionId } })

const suspendedHistory: Given = async (wire) => {
  const facts = await history(wire)
  await suspended(wire)
  return facts
}
/** The marker just made is the latest, and these are below it. */
const below =
  (...lines: string[]): NonNullable<Row['afterwards']> =>
  (wire, reply, facts) => {
    const marker = vendorHeader(wire, reply.headers, 'version-id') ?? ''
    return leaves(`${marker}!*`, ...lines)(wire, reply, facts)
  }

const hidden: Row[] = [
  {
    it: 'puts a delete marker over the versions, and removes none',
    status: 204,
    given: history,
    ask,
    vendor: { 'delete-marker': 'true', 'version-id': aVersionId },
    body: '',
    afterwards: below('v2', 'v1', 'null'),
    sdk: sdk(DeleteObjectCommand, input, { DeleteMarker: true, VersionId: aVersionId }),
  },
  {
    it: 'puts a delete marker where there is nothing',
    status: 204,
    given: enabled,
    ask,
    vendor: { 'delete-marker': 'true', 'version-id': aVersionId },
    afterwards: below(),
    sdk: sdk(DeleteObjectCommand, input, { DeleteMarker: true, VersionId: aVersionId }),
  },
  {
    it: 'puts a delete marker over another',
    status: 204,
    given: deletedHistory,
    ask,
    vendor: { 'delete-marker': 'true', 'version-id': aVersionId },
    afterwards: below('marker!', 'v2', 'v1', 'null'),
  },
  {
    it: 'replaces the null version by a delete marker in a suspended bucket',
    status: 204,
    given: suspendedHistory,
    ask,
    vendor: { 'delete-marker': 'true', 'version-id': 'null' },
    afterwards: leaves('null!*', 'v2', 'v1'),
    sdk: sdk(DeleteObjectCommand, input, { DeleteMarker: true, VersionId: 'null' }),
  },
  {
    it: 'replaces a current null version by a delete marker in a suspended bucket',
    status: 204,
    given: async (wire) => {
      await suspended(wire)
      await putVersion(wire, 'a', 'zero')
    },
    ask,
    vendor: { 'delete-marker': 'true', 'version-id': 'null' },
    afterwards: leaves('null!*'),
  },
  {
    it: 'names no version, and makes no delete marker, in a bucket that was never versioned',
    status: 204,
    given: async (wire) => {
      await putVersion(wire, 'a', 'zero')
    },
    ask,
    vendor: {},
    afterwards: leaves(),
    sdk: sdk(DeleteObjectCommand, input, { DeleteMarker: undefined, VersionId: undefined }),
  },
  {
    it: 'deletes the current version that the client knows',
    status: 204,
    given: history,
    ask: { ...ask, headers: { 'If-Match': `"${md5Hex('two')}"` } },
    vendor: { 'delete-marker': 'true', 'version-id': aVersionId },
    afterwards: below('v2', 'v1', 'null'),
  },
  {
    it: 'makes no delete marker when the current version is another than the client knows',
    ...refusal('PreconditionFailed', { Condition: 'If-Match' }),
    given: history,
    ask: { ...ask, headers: { 'If-Match': `"${md5Hex('one')}"` } },
    afterwards: leaves('v2*', 'v1', 'null'),
  },
]

interface Removal {
  it: string
  given: Given
  versionId: string
  marker?: true
  left: string[]
}

const removals: Removal[] = [
  { it: 'removes an older version for good', given: history, versionId: '{{v1}}', left: ['v2*', 'null'] },
  {
    it: 'removes the current version, and the one before is current again',
    given: history,
    versionId: '{{v2}}',
    left: ['v1*', 'null'],
  },
  { it: 'removes the null version', given: history, versionId: 'null', left: ['v2*', 'v1'] },
  {
    it: 'removes a version under a delete marker',
    given: deletedHistory,
    versionId: '{{v2}}',
    left: ['marker!*', 'v1', 'null'],
  },
  {
    it: 'removes a delete marker, and the version below is current again',
    given: deletedHistory,
    versionId: '{{marker}}',
    marker: true,
    left: ['v2*', 'v1', 'null'],
  },
  {
    it: 'removes a delete marker from under another',
    given: async (wire) => {
      const facts = await deletedHistory(wire)
      return { ...facts, second: await putMarker(wire, 'a') }
    },
    versionId: '{{marker}}',
    marker: true,
    left: ['second!*', 'v2', 'v1', 'null'],
  },
  {
    it: 'removes a delete marker from above another, and the key stays deleted',
    given: async (wire) => {
      const facts = await deletedHistory(wire)
      return { ...facts, second: await putMarker(wire, 'a') }
    },
    versionId: '{{second}}',
    marker: true,
    left: ['marker!*', 'v2', 'v1', 'null'],
  },
  {
    it: 'removes a null delete marker',
    given: async (wire) => {
      const facts = await suspendedHistory(wire)
      await putMarker(wire, 'a')
      return { ...facts }
    },
    versionId: 'null',
    marker: true,
    left: ['v2*', 'v1'],
  },
  {
    it: 'removes the null version where it has come to lie between others',
    given: async (wire) => {
      const facts = await suspendedHistory(wire)
      await putVersion(wire, 'a', 'null again')
      await enabled(wire)
      return { ...facts, v3: await putVersion(wire, 'a', 'three') }
    },
    versionId: 'null',
    left: ['v3*', 'v2', 'v1'],
  },
  {
    it: 'succeeds for a version that is not there',
    given: history,
    versionId: unknownVersionId,
    left: ['v2*', 'v1', 'null'],
  },
  {
    it: 'removes no version of another key',
    given: async (wire) => ({ ...(await history(wire)), other: await putVersion(wire, 'b', 'x') }),
    versionId: '{{other}}',
    left: ['v2*', 'v1', 'null'],
  },
]

const removed = removals.map(
  ({ it, given, versionId, marker, left }): Row => ({
    it,
    proves: ['query:versionId'],
    status: 204,
    given,
    ask: named(versionId),
    vendor: { 'version-id': versionId, ...(marker ? { 'delete-marker': 'true' } : {}) },
    body: '',
    afterwards: leaves(...left),
    sdk: sdk(DeleteObjectCommand, { ...input, VersionId: versionId }, { VersionId: versionId, DeleteMarker: marker }),
  }),
)

wireTests('DeleteObject', [
  ...hidden,
  ...removed,
  {
    it: 'reads the version that is current again',
    status: 204,
    given: history,
    ask: named('{{v2}}'),
    vendor: { 'version-id': '{{v2}}' },
    afterwards: async (wire) => {
      expect((await wire.must({ method: 'GET', key: 'a' })).body.toString()).toBe('one')
      const { body } = await wire.must({ method: 'GET', query: { 'list-type': '2' } })
      expect(body.toString()).toContain(`<ETag>&quot;${md5Hex('one')}&quot;</ETag>`)
    },
  },
  {
    it: 'names no version when the null version of a bucket goes that was never versioned',
    status: 204,
    given: async (wire) => {
      await putVersion(wire, 'a', 'zero')
    },
    ask: named('null'),
    vendor: {},
    afterwards: leaves(),
  },
  ...malformedVersionIds.map(
    (id): Row => ({
      it: `refuses the version id "${id}", and keeps all versions`,
      ...refusal('InvalidArgument', { ArgumentName: 'versionId', ArgumentValue: id }),
      given: history,
      ask: named(id),
      afterwards: leaves('v2*', 'v1', 'null'),
    }),
  ),
])

type Named = [key: string, versionId?: string]

const askMany = (objects: readonly Named[], quiet = false): Ask => ({
  method: 'POST',
  query: { delete: '' },
  body: document(objects, quiet),
})
function document(objects: readonly Named[], quiet: boolean): string {
  const elements = objects.map(
    ([key, id]) => `<Object><Key>${key}</Key>${id === undefined ? '' : `<VersionId>${id}</VersionId>`}</Object>`,
  )
  return `<Delete>${elements.join('')}${quiet ? '<Quiet>true</Quiet>' : ''}</Delete>`
}

/** The digest is of the document with its facts filled in, so that the row takes the checksum of a request that `given` prepares. */
const many = (
  it: string,
  given: Given,
  objects: readonly Named[],
  result: Pick<DeleteObjectsCommandOutput, 'Deleted' | 'Errors'>,
  afterwards: NonNullable<Row['afterwards']>,
): Row => ({
  it,
  proves: objects.some(([, id]) => id !== undefined) ? ['element:Delete/Object/VersionId'] : [],
  status: 200,
  given: async (wire) => {
    const facts: Facts = { ...(await given(wire)) }
    const filled = objects.map(
      ([key, id]): Named => [key, id?.replace(/\{\{(\w+)\}\}/, (_, name: string) => facts[name] ?? '')],
    )
    return { ...facts, digest: md5Base64(document(filled, false)) }
  },
  ask: { ...askMany(objects), headers: { 'Content-MD5': '{{digest}}' } },
  xml: { DeleteResult: documentOf(result) },
  afterwards,
  sdk: sdk(
    DeleteObjectsCommand,
    { Bucket: 'wire', Delete: { Objects: objects.map(identifier) } },
    { Deleted: undefined, Errors: undefined, ...result },
  ),
})
const identifier = ([Key, VersionId]: Named): ObjectIdentifier =>
  VersionId === undefined ? { Key } : { Key, VersionId }

/** As XML reads: booleans are words, and one element is no list. */
function documentOf({ Deleted = [], Errors = [] }: Pick<DeleteObjectsCommandOutput, 'Deleted' | 'Errors'>): object {
  const one = (values: readonly object[]): object | undefined => (values.length > 1 ? values : values[0])
  return {
    Deleted: one(Deleted.map((line) => (line.DeleteMarker === true ? { ...line, DeleteMarker: 'true' } : line))),
    Error: one(Errors),
  }
}

wireTests('DeleteObjects', [
  many(
    'puts delete markers over keys, and answers their ids',
    async (wire) => {
      const facts = await history(wire)
      await putVersion(wire, 'b', 'x')
      return facts
    },
    [['a'], ['b'], ['nothing']],
    {
      Deleted: ['a', 'b', 'nothing'].map((Key) => ({ Key, DeleteMarker: true, DeleteMarkerVersionId: aVersionId })),
    },
    async (wire, { body }, facts) => {
      const [marker = ''] = /[0-9a-f]{32}/.exec(body.toString()) ?? []
      await leaves(`${marker}!*`, 'v2', 'v1', 'null')(wire, { status: 200, headers: new Map(), body }, facts)
    },
  ),
  many(
    'puts one delete marker over a key that is named twice',
    history,
    [['a'], ['a']],
    { Deleted: [{ Key: 'a', DeleteMarker: true, DeleteMarkerVersionId: aVersionId }] },
    async (wire, { body }, facts) => {
      const [marker = ''] = /[0-9a-f]{32}/.exec(body.toString()) ?? []
      await leaves(`${marker}!*`, 'v2', 'v1', 'null')(wire, { status: 200, headers: new Map(), body }, facts)
    },
  ),
  many(
    'deletes a version that is named twice once, and the key beside it',
    history,
    [['a', '{{v1}}'], ['a', '{{v1}}'], ['a']],
    {
      Deleted: [
        { Key: 'a', VersionId: '{{v1}}' },
        { Key: 'a', DeleteMarker: true, DeleteMarkerVersionId: aVersionId },
      ],
    },
    async (wire, { body }, facts) => {
      const [, marker = ''] = /<DeleteMarkerVersionId>([0-9a-f]{32})</.exec(body.toString()) ?? []
      await leaves(`${marker}!*`, 'v2', 'null')(wire, { status: 200, headers: new Map(), body }, facts)
    },
  ),
  many(
    'answers the null delete marker of a suspended bucket',
    suspendedHistory,
    [['a']],
    { Deleted: [{ Key: 'a', DeleteMarker: true, DeleteMarkerVersionId: 'null' }] },
    leaves('null!*', 'v2', 'v1'),
  ),
  many(
    'removes the versions that are named, for good',
    history,
    [
      ['a', '{{v2}}'],
      ['a', 'null'],
    ],
    {
      Deleted: [
        { Key: 'a', VersionId: '{{v2}}' },
        { Key: 'a', VersionId: 'null' },
      ],
    },
    leaves('v1*'),
  ),
  many(
    'removes a delete marker, and answers that it was one',
    deletedHistory,
    [['a', '{{marker}}']],
    { Deleted: [{ Key: 'a', VersionId: '{{marker}}', DeleteMarker: true, DeleteMarkerVersionId: '{{marker}}' }] },
    leaves('v2*', 'v1', 'null'),
  ),
  many(
    'removes all versions of a key at once',
    deletedHistory,
    [
      ['a', '{{marker}}'],
      ['a', '{{v1}}'],
      ['a', '{{v2}}'],
      ['a', 'null'],
    ],
    {
      Deleted: [
        { Key: 'a', VersionId: '{{marker}}', DeleteMarker: true, DeleteMarkerVersionId: '{{marker}}' },
        { Key: 'a', VersionId: '{{v1}}' },
        { Key: 'a', VersionId: '{{v2}}' },
        { Key: 'a', VersionId: 'null' },
      ],
    },
    leaves(),
  ),
  many(
    'answers a version that is not there as removed, and a malformed id as an error of its own',
    history,
    [
      ['a', unknownVersionId],
      ['a', 'v1'],
    ],
    {
      Deleted: [{ Key: 'a', VersionId: unknownVersionId }],
      Errors: [{ Key: 'a', VersionId: 'v1', Code: 'NoSuchVersion', Message: expect.any(String) }],
    },
    leaves('v2*', 'v1', 'null'),
  ),
  {
    it: 'answers nothing that went well in quiet mode',
    status: 200,
    given: history,
    ask: { ...askMany([['a']], true), headers: { 'Content-MD5': md5Base64(document([['a']], true)) } },
    xml: { DeleteResult: '' },
    afterwards: async (wire) => expect((await wire.ask({ method: 'HEAD', key: 'a' })).status).toBe(404),
  },
])

const emptied = 'DeleteBucket: only without objects, versions and delete markers; then the bucket is absent'
const notEmpty = (it: string, given: Given): Row => ({
  it,
  proves: [emptied],
  ...refusal('BucketNotEmpty', { BucketName: 'wire' }),
  given,
  ask: { method: 'DELETE' },
  afterwards: async (wire) => expect((await wire.ask({ method: 'HEAD' })).status).toBe(200),
  sdk: sdk(DeleteBucketCommand, { Bucket: 'wire' }),
})

wireTests('DeleteBucket', [
  notEmpty('keeps a bucket whose keys are all deleted but have versions', deletedHistory),
  notEmpty('keeps a bucket with a delete marker and nothing under it', async (wire) => {
    await enabled(wire)
    await putMarker(wire, 'a')
  }),
  {
    it: 'removes a bucket when its last version and delete marker are gone',
    proves: [emptied],
    status: 204,
    given: async (wire) => {
      const facts = await deletedHistory(wire)
      for (const versionId of [...Object.values(facts), 'null']) await wire.must(named(versionId))
    },
    ask: { method: 'DELETE' },
    afterwards: async (wire) => expect((await wire.ask({ method: 'HEAD' })).status).toBe(404),
    sdk: sdk(DeleteBucketCommand, { Bucket: 'wire' }),
  },
])
