/** What versions change in writing, reading, copying, tagging and listing. Deleting is in delete-versions.test.ts. */
import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  DeleteObjectTaggingCommand,
  GetObjectCommand,
  GetObjectTaggingCommand,
  HeadObjectCommand,
  PutObjectCommand,
  PutObjectTaggingCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import { md5Hex } from '../support/wire-checksums.ts'
import type { Ask, Wire } from '../support/wire-client.ts'
import { anInstant, type Facts, type Given, type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import { tagging } from '../support/wire-tags.ts'
import { beginUpload, completeDocument, uploadOf } from '../support/wire-uploads.ts'
import {
  aVersionId,
  deletedHistory,
  enabled,
  history,
  leaves,
  malformedVersionIds,
  missingVersionRows,
  putMarker,
  putVersion,
  setVersioning,
  suspended,
  unknownVersionId,
  vendorHeader,
} from '../support/wire-versions.ts'

const input = { Bucket: 'wire', Key: 'a' }
const put = { method: 'PUT', key: 'a', body: 'new' } as const

/** `a` with the null version, v1 and v2, in a bucket that was suspended after. */
const suspendedHistory: Given = async (wire) => {
  const facts = await history(wire)
  await suspended(wire)
  return facts
}
const onlyNull: Given = async (wire) => {
  await putVersion(wire, 'a', 'zero')
}
/** The version just written is the latest, and these are below it. */
const above =
  (...below: string[]): NonNullable<Row['afterwards']> =>
  (wire, reply, facts) => {
    const id = vendorHeader(wire, reply.headers, 'version-id') ?? ''
    return leaves(`${id}*`, ...below)(wire, reply, facts)
  }

wireTests('PutObject', [
  {
    it: 'names the version in a versioned bucket, and keeps those before',
    proves: ['a new object in a versioned bucket gets a version id'],
    status: 200,
    given: history,
    ask: put,
    vendor: { 'version-id': aVersionId },
    afterwards: above('v2', 'v1', 'null'),
    sdk: sdk(PutObjectCommand, { ...input, Body: 'new' }, { VersionId: aVersionId }),
  },
  {
    it: 'writes the null version in a suspended bucket, in the place of the one before',
    status: 200,
    given: suspendedHistory,
    ask: put,
    vendor: {},
    afterwards: async (wire, reply, facts) => {
      await leaves('null*', 'v2', 'v1')(wire, reply, facts)
      const { headers } = await wire.must({ method: 'HEAD', key: 'a' })
      expect(vendorHeader(wire, headers, 'version-id')).toBe('null')
    },
    sdk: sdk(PutObjectCommand, { ...input, Body: 'new' }, { VersionId: undefined }),
  },
  {
    it: 'names no version in a bucket that was never versioned',
    status: 200,
    given: onlyNull,
    ask: put,
    vendor: {},
    afterwards: leaves('null*'),
    sdk: sdk(PutObjectCommand, { ...input, Body: 'new' }, { VersionId: undefined }),
  },
  {
    it: 'replaces a null delete marker in a suspended bucket',
    status: 200,
    given: async (wire) => {
      await suspended(wire)
      await putMarker(wire, 'a')
    },
    ask: put,
    vendor: {},
    afterwards: leaves('null*'),
  },
  {
    it: 'takes a deleted key for one that is not there: If-None-Match succeeds',
    status: 200,
    given: deletedHistory,
    ask: { ...put, headers: { 'If-None-Match': '*' } },
    vendor: { 'version-id': aVersionId },
    afterwards: above('marker!', 'v2', 'v1', 'null'),
  },
  {
    it: 'makes no version when its condition fails',
    ...refusal('PreconditionFailed'),
    given: history,
    ask: { ...put, headers: { 'If-None-Match': '*' } },
    afterwards: leaves('v2*', 'v1', 'null'),
  },
  {
    it: 'makes no version when the digest is wrong',
    ...refusal('BadDigest'),
    given: history,
    ask: { ...put, headers: { 'Content-MD5': 'AAAAAAAAAAAAAAAAAAAAAA==' } },
    afterwards: leaves('v2*', 'v1', 'null'),
  },
])

const found: [what: string, given: Given, versionId: string | undefined, shown: string | undefined, text: string][] = [
  ['the current version', history, undefined, '{{v2}}', 'two'],
  ['the current version by its name', history, '{{v2}}', '{{v2}}', 'two'],
  ['an older version', history, '{{v1}}', '{{v1}}', 'one'],
  ['the null version', history, 'null', 'null', 'zero'],
  ['a version of a deleted key', deletedHistory, '{{v2}}', '{{v2}}', 'two'],
  ['a version of a suspended bucket', suspendedHistory, '{{v1}}', '{{v1}}', 'one'],
  [
    'the current null version of a bucket that was turned on since',
    async (wire) => {
      await onlyNull(wire)
      await enabled(wire)
    },
    undefined,
    'null',
    'zero',
  ],
  ['what a bucket holds that was never versioned', onlyNull, undefined, undefined, 'zero'],
  ['the null version of a bucket that was never versioned', onlyNull, 'null', undefined, 'zero'],
]

function readRows(method: 'GET' | 'HEAD'): Row[] {
  const ask: Ask = { method, key: 'a' }
  const Command = method === 'GET' ? GetObjectCommand : HeadObjectCommand
  const rows = found.map(([what, given, versionId, shown, text]): Row => {
    const named = versionId === undefined ? {} : { VersionId: versionId }
    return {
      it: `answers ${what}`,
      proves: versionId === undefined ? [] : ['query:versionId'],
      status: 200,
      given,
      ask: versionId === undefined ? ask : { ...ask, query: { versionId } },
      headers: { ETag: `"${md5Hex(text)}"`, 'Content-Length': String(text.length) },
      vendor: shown === undefined ? {} : { 'version-id': shown },
      body: method === 'GET' ? text : '',
      sdk: sdk(Command, { ...input, ...named }, { VersionId: shown, ContentLength: text.length }),
    }
  })
  return [
    ...rows,
    {
      it: 'judges conditions by the version that is named',
      ...refusal('PreconditionFailed'),
      given: history,
      ask: { ...ask, query: { versionId: '{{v1}}' }, headers: { 'If-Match': `"${md5Hex('two')}"` } },
    },
    {
      it: 'answers a range of the version that is named',
      status: 206,
      given: history,
      ask: { ...ask, query: { versionId: '{{v1}}' }, headers: { Range: 'bytes=1-' } },
      headers: { 'Content-Range': 'bytes 1-2/3' },
      vendor: { 'version-id': '{{v1}}' },
      body: method === 'GET' ? 'ne' : '',
    },
    {
      it: 'answers the current version again once the delete marker is gone',
      status: 200,
      given: async (wire) => {
        const facts = await deletedHistory(wire)
        await wire.must({ method: 'DELETE', key: 'a', query: { versionId: facts.marker ?? '' } })
        return facts
      },
      ask,
      vendor: { 'version-id': '{{v2}}' },
    },
    {
      it: 'answers NoSuchVersion for a version that was removed, also when its sequence is given again',
      ...refusal('NoSuchVersion'),
      given: async (wire) => {
        await enabled(wire)
        const gone = await putVersion(wire, 'a', 'one')
        await wire.must({ method: 'DELETE', key: 'a', query: { versionId: gone } })
        await putVersion(wire, 'a', 'two')
        return { gone }
      },
      ask: { ...ask, query: { versionId: '{{gone}}' } },
      sdk: sdk(Command, { ...input, VersionId: '{{gone}}' }),
    },
    ...missingVersionRows(ask, enabled),
  ]
}

wireTests('GetObject', readRows('GET'))
wireTests('HeadObject', readRows('HEAD'))

const namedSource = (versionId: string): string => `wire/a?versionId=${versionId}`

/** What copies and parts of copies are answered for each source. `given` prepares the copy itself; `own`: the version that it makes, if it makes one. */
function sourceRows(given: Given, copy: (source: string) => Pick<Row, 'ask' | 'sdk'>, own: object): Row[] {
  const prepared =
    (prepare: Given): Given =>
    async (wire) => ({ ...(await prepare(wire)), ...(await given(wire)) })
  const sources: [what: string, given: Given, source: string, versionId: string, text: string][] = [
    ['the current version', history, 'wire/a', '{{v2}}', 'two'],
    ['the version that is named', history, namedSource('{{v1}}'), '{{v1}}', 'one'],
    ['the null version', history, namedSource('null'), 'null', 'zero'],
    ['a version of a deleted key', deletedHistory, namedSource('{{v1}}'), '{{v1}}', 'one'],
  ]
  const refused: [what: string, source: string, answer: Pick<Row, 'status' | 'code' | 'details'>][] = [
    ['a source that is deleted', 'wire/a', refusal('NoSuchKey', { Key: 'a' })],
    ['a delete marker as the source', namedSource('{{marker}}'), refusal('InvalidRequest', {})],
    [
      'a version that the source does not have',
      namedSource(unknownVersionId),
      refusal('NoSuchVersion', { Key: 'a', VersionId: unknownVersionId }),
    ],
    ...malformedVersionIds.map((id): [string, string, Pick<Row, 'status' | 'code' | 'details'>] => [
      `a source of the version id "${id}"`,
      namedSource(id),
      refusal('InvalidArgument'),
    ]),
  ]
  return [
    ...sources.map(
      ([what, prepare, source, versionId, text]): Row => ({
        it: `copies ${what}`,
        proves: ['vendor:copy-source'],
        status: 200,
        given: prepared(prepare),
        ...copy(source),
        vendor: { 'copy-source-version-id': versionId, ...own },
        afterwards: async (_, { body }) => expect(body.toString()).toContain(md5Hex(text)),
      }),
    ),
    ...refused.map(
      ([what, source, answer]): Row => ({
        it: `refuses ${what}`,
        ...answer,
        given: prepared(deletedHistory),
        ...copy(source),
        // Only the current version can be hidden by a delete marker, and then it says so.
        vendor: source === 'wire/a' ? { 'delete-marker': 'true', 'version-id': '{{marker}}' } : {},
      }),
    ),
  ]
}

const copyTo = (Key: string, source: string, own: object = {}) => ({
  ask: { method: 'PUT', key: Key, vendor: { 'copy-source': source } } as const,
  sdk: sdk(CopyObjectCommand, { Bucket: 'wire', Key, CopySource: source }, own),
})

wireTests('CopyObject', [
  ...sourceRows(
    async () => {},
    (source) => copyTo('copy', source),
    { 'version-id': aVersionId },
  ),
  {
    it: 'makes an old version the newest when it copies it onto its own key',
    status: 200,
    given: history,
    ...copyTo('a', namedSource('{{v1}}'), { VersionId: aVersionId, CopySourceVersionId: '{{v1}}' }),
    vendor: { 'version-id': aVersionId, 'copy-source-version-id': '{{v1}}' },
    afterwards: async (wire, reply, facts) => {
      await above('v2', 'v1', 'null')(wire, reply, facts)
      expect((await wire.must({ method: 'GET', key: 'a' })).body.toString()).toBe('one')
    },
  },
  {
    it: 'copies into the null version of a suspended bucket',
    status: 200,
    given: suspendedHistory,
    ...copyTo('a', namedSource('{{v1}}'), { VersionId: 'null', CopySourceVersionId: '{{v1}}' }),
    vendor: { 'version-id': 'null', 'copy-source-version-id': '{{v1}}' },
    afterwards: leaves('null*', 'v2', 'v1'),
  },
  {
    it: 'names no version of the source when its current one is the null version',
    status: 200,
    given: async (wire) => {
      await onlyNull(wire)
      await suspended(wire)
    },
    ...copyTo('copy', 'wire/a', { VersionId: 'null', CopySourceVersionId: undefined }),
    vendor: { 'version-id': 'null' },
  },
  {
    it: 'names the null version that a copy names, even in a bucket that was never versioned',
    status: 200,
    given: onlyNull,
    ...copyTo('copy', 'wire/a?versionId=null', { VersionId: undefined, CopySourceVersionId: 'null' }),
    vendor: { 'copy-source-version-id': 'null' },
  },
  {
    it: 'names no version in a bucket that was never versioned',
    status: 200,
    given: onlyNull,
    ...copyTo('copy', 'wire/a', { VersionId: undefined, CopySourceVersionId: undefined }),
    vendor: {},
  },
  {
    it: 'judges conditions by the version that is named',
    ...refusal('PreconditionFailed'),
    given: history,
    ask: {
      method: 'PUT',
      key: 'copy',
      vendor: { 'copy-source': namedSource('{{v1}}'), 'copy-source-if-match': `"${md5Hex('two')}"` },
    },
  },
])

wireTests('UploadPartCopy', [
  ...sourceRows(
    async (wire) => ({ uploadId: await beginUpload(wire) }),
    (source) => ({
      ask: {
        method: 'PUT',
        key: 'big',
        query: { partNumber: '1', uploadId: '{{uploadId}}' },
        vendor: { 'copy-source': source },
      },
      sdk: sdk(UploadPartCopyCommand, {
        Bucket: 'wire',
        Key: 'big',
        UploadId: '{{uploadId}}',
        PartNumber: 1,
        CopySource: source,
      }),
    }),
    {},
  ),
])

/** An upload of one part to `big`, where there is an object already. */
const uploaded =
  (status: 'Enabled' | 'Suspended' | undefined): Given =>
  async (wire) => {
    if (status !== undefined) await setVersioning(wire, status)
    return { before: await putVersion(wire, 'big', 'before'), ...(await uploadOf(wire, ['part'])) }
  }
const completion = completeDocument([[1, '{{etag1}}']])

wireTests('CompleteMultipartUpload', [
  ...(
    [
      ['names the version in a versioned bucket', 'Enabled', aVersionId, aVersionId],
      ['writes the null version in a suspended bucket, and names none', 'Suspended', undefined, 'null'],
      ['names no version in a bucket that was never versioned', undefined, undefined, undefined],
    ] as const
  ).map(
    ([it, status, versionId, read]): Row => ({
      it,
      status: 200,
      given: uploaded(status),
      ask: { method: 'POST', key: 'big', query: { uploadId: '{{uploadId}}' }, body: completion },
      vendor: versionId === undefined ? {} : { 'version-id': versionId },
      afterwards: async (wire, reply, facts) => {
        const answered = vendorHeader(wire, reply.headers, 'version-id')
        const query = { uploadId: facts.uploadId ?? '' }
        const body = completeDocument([[1, facts.etag1 ?? '']])
        const again = await wire.must({ method: 'POST', key: 'big', query, body })
        expect(vendorHeader(wire, again.headers, 'version-id')).toBe(answered)
        const { headers } = await wire.must({ method: 'HEAD', key: 'big' })
        expect(vendorHeader(wire, headers, 'version-id')).toEqual(read)
      },
      sdk: sdk(
        CompleteMultipartUploadCommand,
        {
          Bucket: 'wire',
          Key: 'big',
          UploadId: '{{uploadId}}',
          MultipartUpload: { Parts: [{ PartNumber: 1, ETag: '{{etag1}}' }] },
        },
        { VersionId: versionId },
      ),
    }),
  ),
])

const tagged = tagging([['team', 'storage']])

/** How many tags v2, v1 and the null version have. */
const tagCounts =
  (...counts: (string | undefined)[]): NonNullable<Row['afterwards']> =>
  async (wire, _, { v1 = '', v2 = '' }) => {
    const replies = await Promise.all(
      [v2, v1, 'null'].map((versionId) => wire.must({ method: 'HEAD', key: 'a', query: { versionId } })),
    )
    expect(replies.map(({ headers }) => vendorHeader(wire, headers, 'tagging-count'))).toEqual(counts)
  }
/** Each version has a tag of its own. */
const taggedHistory = async (wire: Wire): Promise<Facts> => {
  const facts = await history(wire)
  for (const versionId of ['null', facts.v1 ?? '', facts.v2 ?? '']) {
    await wire.must({ method: 'PUT', key: 'a', query: { tagging: '', versionId }, body: tagging([['of', versionId]]) })
  }
  return facts
}
const tagsAsk = (method: 'GET' | 'PUT' | 'DELETE', versionId?: string): Ask => ({
  method,
  key: 'a',
  query: { tagging: '', ...(versionId === undefined ? {} : { versionId }) },
  ...(method === 'PUT' ? { body: tagged } : {}),
})
const versionsNamed = [
  ['the current version', undefined, '{{v2}}', 0],
  ['the version that is named', '{{v1}}', '{{v1}}', 1],
  ['the null version', 'null', 'null', 2],
] as const
const withVersion = (VersionId: string | undefined) => (VersionId === undefined ? input : { ...input, VersionId })

wireTests('PutObjectTagging', [
  ...versionsNamed.map(
    ([what, versionId, shown, place]): Row => ({
      it: `tags ${what}, and no other`,
      proves: [...(versionId === undefined ? [] : ['query:versionId'])],
      status: 200,
      given: history,
      ask: tagsAsk('PUT', versionId),
      vendor: { 'version-id': shown },
      afterwards: tagCounts(...[0, 1, 2].map((at) => (at === place ? '1' : undefined))),
      sdk: sdk(
        PutObjectTaggingCommand,
        { ...withVersion(versionId), Tagging: { TagSet: [{ Key: 'a', Value: 'b' }] } },
        { VersionId: shown },
      ),
    }),
  ),
  ...missingVersionRows(tagsAsk('PUT'), enabled, 'MethodNotAllowed'),
])

wireTests('GetObjectTagging', [
  ...versionsNamed.map(
    ([what, versionId, shown]): Row => ({
      it: `answers the tags of ${what}`,
      proves: [...(versionId === undefined ? [] : ['query:versionId'])],
      status: 200,
      given: taggedHistory,
      ask: tagsAsk('GET', versionId),
      vendor: { 'version-id': shown },
      xml: { Tagging: { TagSet: { Tag: { Key: 'of', Value: shown } } } },
      sdk: sdk(GetObjectTaggingCommand, withVersion(versionId), {
        VersionId: shown,
        TagSet: [{ Key: 'of', Value: shown }],
      }),
    }),
  ),
  ...missingVersionRows(tagsAsk('GET'), enabled, 'MethodNotAllowed'),
])

wireTests('DeleteObjectTagging', [
  ...versionsNamed.map(
    ([what, versionId, shown, place]): Row => ({
      it: `removes the tags of ${what}, and of no other`,
      proves: [...(versionId === undefined ? [] : ['query:versionId'])],
      status: 204,
      given: taggedHistory,
      ask: tagsAsk('DELETE', versionId),
      vendor: { 'version-id': shown },
      afterwards: tagCounts(...[0, 1, 2].map((at) => (at === place ? undefined : '1'))),
      sdk: sdk(DeleteObjectTaggingCommand, withVersion(versionId), { VersionId: shown }),
    }),
  ),
  ...missingVersionRows(tagsAsk('DELETE'), enabled, 'MethodNotAllowed'),
])

const listed = (Key: string, text: string) => ({
  Key,
  LastModified: anInstant,
  ETag: `"${md5Hex(text)}"`,
  Size: String(text.length),
  StorageClass: 'STANDARD',
})
/** Keys that are deleted on both sides of one that is not. */
const someDeleted: Given = async (wire) => {
  await deletedHistory(wire)
  await putVersion(wire, 'b', 'old')
  await putVersion(wire, 'b', 'current')
  await putMarker(wire, 'c')
}

wireTests('ListObjects', [
  {
    it: 'lists current versions only, and no key that is deleted',
    status: 200,
    given: someDeleted,
    ask: { method: 'GET' },
    xml: {
      ListBucketResult: {
        Name: 'wire',
        Prefix: '',
        Marker: '',
        MaxKeys: '1000',
        IsTruncated: 'false',
        Contents: { ...listed('b', 'current'), Owner: { ID: 'main', DisplayName: 'Main' } },
      },
    },
  },
])

wireTests('ListObjectsV2', [
  {
    it: 'lists current versions only, and no key that is deleted',
    status: 200,
    given: someDeleted,
    ask: { method: 'GET', query: { 'list-type': '2' } },
    xml: {
      ListBucketResult: {
        Name: 'wire',
        Prefix: '',
        KeyCount: '1',
        MaxKeys: '1000',
        IsTruncated: 'false',
        Contents: listed('b', 'current'),
      },
    },
  },
])
