/** Storage classes over the wire: kept and shown. Where their objects lie: test/library/storage-classes.test.ts. */
import {
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  ListPartsCommand,
  PutObjectCommand,
  type StorageClass,
} from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import type { Reply, Wire } from '../support/wire-client.ts'
import { copyTarget } from '../support/wire-copies.ts'
import { anId, anInstant, type Row, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import { beginUpload, completeDocument, putPart, textIn } from '../support/wire-uploads.ts'
import { deletedHistory, enabled, putVersion, vendorHeader } from '../support/wire-versions.ts'

/** As AWS lists them; the standard one is what is not said. */
const otherClasses: readonly StorageClass[] = [
  'REDUCED_REDUNDANCY',
  'STANDARD_IA',
  'ONEZONE_IA',
  'INTELLIGENT_TIERING',
  'GLACIER',
  'DEEP_ARCHIVE',
  'OUTPOSTS',
  'GLACIER_IR',
  'SNOW',
  'EXPRESS_ONEZONE',
  'FSX_OPENZFS',
  'FSX_ONTAP',
]
const classes: readonly StorageClass[] = ['STANDARD', ...otherClasses]

/** The class that GET and HEAD answer; AWS leaves the standard one out. */
const isOfClass =
  (name: string | undefined, key = 'a'): ((wire: Wire) => Promise<void>) =>
  async (wire) => {
    for (const method of ['GET', 'HEAD'] as const) {
      const { headers } = await wire.must({ method, key })
      expect(vendorHeader(wire, headers, 'storage-class')).toBe(name === 'STANDARD' ? undefined : name)
    }
  }
const putOf = (name: string, key = 'a', body = 'kept') =>
  ({ method: 'PUT', key, body, vendor: { 'storage-class': name } }) as const

wireTests(
  'PutObject',
  classes.map(
    (name): Row => ({
      it: `keeps an object of class ${name}, which can be read at once`,
      status: 200,
      ask: putOf(name),
      afterwards: async (wire) => {
        await isOfClass(name)(wire)
        expect((await wire.must({ method: 'GET', key: 'a' })).body.toString()).toBe('kept')
      },
      sdk: sdk(PutObjectCommand, { Bucket: 'wire', Key: 'a', Body: 'kept', StorageClass: name }),
    }),
  ),
)

const answersClass = (method: 'GET' | 'HEAD'): Row => ({
  it: 'answers the class',
  status: 200,
  given: async (wire) => {
    await wire.must(putOf('GLACIER_IR'))
  },
  ask: { method, key: 'a' },
  vendor: { 'storage-class': 'GLACIER_IR' },
  sdk: sdk(
    method === 'GET' ? GetObjectCommand : HeadObjectCommand,
    { Bucket: 'wire', Key: 'a' },
    { StorageClass: 'GLACIER_IR' },
  ),
})

wireTests('HeadObject', [answersClass('HEAD')])
wireTests('GetObject', [
  answersClass('GET'),
  {
    it: 'answers the class of a version after another was written, and after its tags changed',
    status: 200,
    given: async (wire) => {
      await enabled(wire)
      const v1 = await putVersion(wire, 'a', 'one', { 'storage-class': 'ONEZONE_IA' })
      const body = '<Tagging><TagSet><Tag><Key>k</Key><Value>v</Value></Tag></TagSet></Tagging>'
      await wire.must({ method: 'PUT', key: 'a', query: { tagging: '' }, body })
      await putVersion(wire, 'a', 'two')
      await isOfClass(undefined)(wire)
      return { v1 }
    },
    ask: { method: 'GET', key: 'a', query: { versionId: '{{v1}}' } },
    vendor: { 'storage-class': 'ONEZONE_IA', 'version-id': '{{v1}}', 'tagging-count': '1' },
  },
])

const completed = async (wire: Wire, reply: Reply): Promise<void> => {
  const uploadId = textIn(reply, 'UploadId')
  const etag = await putPart(wire, uploadId, 1, 'part', {}, 'a')
  await wire.must({ method: 'POST', key: 'a', query: { uploadId }, body: completeDocument([[1, etag]]) })
}

wireTests(
  'CreateMultipartUpload',
  [undefined, 'STANDARD' as const, 'DEEP_ARCHIVE' as const, 'SNOW' as const].map(
    (name): Row => ({
      it: `makes an object of the class that it is begun with: ${name}`,
      status: 200,
      ask: {
        method: 'POST',
        key: 'a',
        query: { uploads: '' },
        ...(name === undefined ? {} : { vendor: { 'storage-class': name } }),
      },
      afterwards: async (wire, reply) => {
        await completed(wire, reply)
        await isOfClass(name)(wire)
      },
      sdk: sdk(CreateMultipartUploadCommand, {
        Bucket: 'wire',
        Key: 'a',
        ...(name === undefined ? {} : { StorageClass: name }),
      }),
    }),
  ),
)

const copyOf = (source: string, vendor: Record<string, string> = {}) =>
  ({ method: 'PUT', key: 'to', vendor: { 'copy-source': source, ...vendor } }) as const
const cold = async (wire: Wire): Promise<void> => {
  await wire.must(putOf('GLACIER', 'from'))
}
const input = { Bucket: 'wire', Key: 'to' }

wireTests('CopyObject', [
  {
    it: 'makes a copy of the standard class, whatever its source is of',
    status: 200,
    given: cold,
    ask: copyOf('/wire/from'),
    afterwards: isOfClass(undefined, 'to'),
    sdk: sdk(CopyObjectCommand, { ...input, CopySource: '/wire/from' }),
  },
  {
    it: 'makes a copy of the class that is asked for',
    status: 200,
    given: cold,
    ask: copyOf('/wire/from', { 'storage-class': 'STANDARD_IA' }),
    afterwards: isOfClass('STANDARD_IA', 'to'),
    sdk: sdk(CopyObjectCommand, { ...input, CopySource: '/wire/from', StorageClass: 'STANDARD_IA' }),
  },
  ...['GLACIER_IR' as const, 'STANDARD' as const].map(
    (name): Row => ({
      it: `changes the class of an object, to ${name}, by copying it onto itself, and keeps its metadata`,
      status: 200,
      given: copyTarget,
      ask: copyOf('/wire/to', { 'storage-class': name }),
      afterwards: async (wire) => {
        await isOfClass(name, 'to')(wire)
        const { headers } = await wire.must({ method: 'HEAD', key: 'to' })
        expect(vendorHeader(wire, headers, 'meta-colour')).toBe('red')
      },
      sdk: sdk(CopyObjectCommand, { ...input, CopySource: '/wire/to', StorageClass: name }),
    }),
  ),
])

const some = async (wire: Wire): Promise<void> => {
  await wire.must(putOf('FSX_ONTAP', 'a'))
  await wire.must({ method: 'PUT', key: 'b', body: 'x' })
  await wire.must(putOf('REDUCED_REDUNDANCY', 'c'))
}
/** The classes that a list shows, in order. */
const shows =
  (...names: string[]): NonNullable<Row['afterwards']> =>
  async (_, { body }) => {
    const shown = [...body.toString().matchAll(/<StorageClass>(\w+)</g)].map(([, name]) => name)
    expect(shown).toEqual(names)
  }
const listed = ['FSX_ONTAP', 'STANDARD', 'REDUCED_REDUNDANCY'] as const
const contents = { Contents: listed.map((name) => expect.objectContaining({ StorageClass: name })) }

wireTests('ListObjects', [
  {
    it: 'shows the class of each object',
    status: 200,
    given: some,
    ask: { method: 'GET' },
    afterwards: shows(...listed),
    sdk: sdk(ListObjectsCommand, { Bucket: 'wire' }, contents),
  },
])
wireTests('ListObjectsV2', [
  {
    it: 'shows the class of each object',
    status: 200,
    given: some,
    ask: { method: 'GET', query: { 'list-type': '2' } },
    afterwards: shows(...listed),
    sdk: sdk(ListObjectsV2Command, { Bucket: 'wire' }, contents),
  },
])
wireTests('ListObjectVersions', [
  {
    it: 'shows the class of each version, and none of delete markers',
    status: 200,
    given: async (wire) => {
      await deletedHistory(wire)
      await putVersion(wire, 'a', 'three', { 'storage-class': 'EXPRESS_ONEZONE' })
    },
    ask: { method: 'GET', query: { versions: '' } },
    afterwards: shows('EXPRESS_ONEZONE', 'STANDARD', 'STANDARD', 'STANDARD'),
    sdk: sdk(
      ListObjectVersionsCommand,
      { Bucket: 'wire' },
      {
        Versions: ['EXPRESS_ONEZONE', 'STANDARD', 'STANDARD', 'STANDARD'].map((StorageClass) =>
          expect.objectContaining({ StorageClass }),
        ),
      },
    ),
  },
])

const upload = async (wire: Wire) => ({ uploadId: await beginUpload(wire, { 'storage-class': 'OUTPOSTS' }) })
const person = { ID: 'main', DisplayName: 'Main' }

wireTests('ListParts', [
  {
    it: 'shows the class that the upload was begun with',
    status: 200,
    given: upload,
    ask: { method: 'GET', key: 'big', query: { uploadId: '{{uploadId}}' } },
    afterwards: shows('OUTPOSTS'),
    sdk: sdk(
      ListPartsCommand,
      { Bucket: 'wire', Key: 'big', UploadId: '{{uploadId}}' },
      { StorageClass: 'OUTPOSTS' as StorageClass },
    ),
  },
])
wireTests('ListMultipartUploads', [
  {
    it: 'shows the class that each upload was begun with',
    status: 200,
    given: upload,
    ask: { method: 'GET', query: { uploads: '' } },
    xml: {
      ListMultipartUploadsResult: expect.objectContaining({
        Upload: {
          Key: 'big',
          UploadId: anId,
          Initiator: person,
          Owner: person,
          StorageClass: 'OUTPOSTS',
          Initiated: anInstant,
        },
      }),
    },
    sdk: sdk(
      ListMultipartUploadsCommand,
      { Bucket: 'wire' },
      { Uploads: [expect.objectContaining({ StorageClass: 'OUTPOSTS' })] },
    ),
  },
])
