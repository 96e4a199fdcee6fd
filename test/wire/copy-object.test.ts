/** CopyObject over the wire. Conditions and refusals have a test of their own. */
import { CopyObjectCommand } from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import { md5Base64, md5Hex, referenceChecksum } from '../support/wire-checksums.ts'
import type { Ask } from '../support/wire-client.ts'
import {
  answers,
  copied,
  copy,
  copyEtag,
  copySource,
  copyTarget,
  copyText,
  described,
  input,
  isCopy,
  isNotThere,
} from '../support/wire-copies.ts'
import { anInstant, type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import { multipartObject, partOf } from '../support/wire-uploads.ts'

const rows: Row[] = [
  {
    it: 'copies bytes, headers, metadata and tags',
    ...copied,
    ask: copy(),
    headers: { 'Content-Type': 'application/xml' },
    afterwards: answers((reply, prefix) => {
      expect(reply.body.toString()).toBe(copyText)
      expect(described(reply, prefix)).toEqual(['text/plain', 'no-cache', 'red', undefined, '2'])
    }),
    sdk: sdk(CopyObjectCommand, input, { CopyObjectResult: { ETag: copyEtag, LastModified: expect.any(Date) } }),
  },
  {
    it: 'reads a source without the first slash',
    ...copied,
    ask: copy({ 'copy-source': 'source/from' }),
    afterwards: isCopy,
    sdk: sdk(CopyObjectCommand, { ...input, CopySource: 'source/from' }),
  },
  {
    it: 'reads a source that is encoded through and through',
    ...copied,
    ask: copy({ 'copy-source': '%2Fsource%2Ffr%6Fm' }),
    afterwards: isCopy,
  },
  {
    it: 'reads the version null of a source',
    ...copied,
    vendor: { 'copy-source-version-id': 'null' },
    ask: copy({ 'copy-source': '/source/from?versionId=null' }),
    afterwards: isCopy,
    sdk: sdk(CopyObjectCommand, { ...input, CopySource: '/source/from?versionId=null' }),
  },
  {
    it: 'copies what is replaced afterwards as it was',
    ...copied,
    ask: copy(),
    afterwards: async (wire) => {
      await wire.must({ method: 'PUT', bucket: 'source', key: 'from', body: 'new' })
      await isCopy(wire)
    },
  },
  {
    it: 'copies an empty object',
    status: 200,
    given: async (wire) => {
      await wire.must({ method: 'PUT', key: 'empty', body: '' })
    },
    ask: copy({ 'copy-source': '/wire/empty' }),
    xml: { CopyObjectResult: { LastModified: anInstant, ETag: `"${md5Hex('')}"` } },
  },
  {
    it: 'copies an object made of parts into one of one piece',
    status: 200,
    given: (wire) => multipartObject(wire, [partOf(1), partOf(2, 10)]),
    ask: copy({ 'copy-source': '/wire/big' }),
    xml: {
      CopyObjectResult: { LastModified: anInstant, ETag: `"${md5Hex(Buffer.concat([partOf(1), partOf(2, 10)]))}"` },
    },
  },
]

const replaced = { 'Content-Type': 'image/png' }
const directives: Row[] = [
  {
    it: 'takes the metadata of the request when told to replace it, and the tags of the source all the same',
    proves: ['vendor:metadata-directive'],
    ...copied,
    ask: copy({ 'metadata-directive': 'REPLACE', 'meta-size': 'L' }, { headers: replaced }),
    afterwards: answers((reply, prefix) =>
      expect(described(reply, prefix)).toEqual(['image/png', undefined, undefined, 'L', '2']),
    ),
    sdk: sdk(CopyObjectCommand, {
      ...input,
      MetadataDirective: 'REPLACE',
      ContentType: 'image/png',
      Metadata: { size: 'L' },
    }),
  },
  {
    it: 'takes the metadata of the source when told to copy it, whatever the request says',
    proves: ['vendor:metadata-directive'],
    ...copied,
    ask: copy({ 'metadata-directive': 'COPY', 'meta-size': 'L' }, { headers: replaced }),
    afterwards: answers((reply, prefix) =>
      expect(described(reply, prefix)).toEqual(['text/plain', 'no-cache', 'red', undefined, '2']),
    ),
    sdk: sdk(CopyObjectCommand, { ...input, MetadataDirective: 'COPY' }),
  },
  {
    it: 'does not measure metadata that it ignores',
    ...copied,
    ask: copy({ 'metadata-directive': 'COPY', 'meta-size': 'L'.repeat(2_100) }),
    afterwards: answers((reply, prefix) =>
      expect(described(reply, prefix)).toEqual(['text/plain', 'no-cache', 'red', undefined, '2']),
    ),
  },
  {
    it: 'takes the tags of the request when told to replace them',
    proves: ['vendor:tagging-directive'],
    ...copied,
    ask: copy({ 'tagging-directive': 'REPLACE', tagging: 'c=3' }),
    afterwards: answers((reply, prefix) =>
      expect(described(reply, prefix)).toEqual(['text/plain', 'no-cache', 'red', undefined, '1']),
    ),
    sdk: sdk(CopyObjectCommand, { ...input, TaggingDirective: 'REPLACE', Tagging: 'c=3' }),
  },
  {
    it: 'removes the tags when told to replace them by none',
    proves: ['vendor:tagging-directive'],
    ...copied,
    ask: copy({ 'tagging-directive': 'REPLACE' }),
    afterwards: answers(({ headers }, prefix) => expect(headers.get(`${prefix}tagging-count`)).toBeUndefined()),
  },
  {
    it: 'refuses tags that are none',
    ...refusal('InvalidArgument'),
    given: copySource,
    ask: copy({ 'tagging-directive': 'REPLACE', tagging: 'a=1&a=2' }),
    afterwards: isNotThere,
  },
  ...['COPY', 'EXCLUDE'].map(
    (directive): Row => ({
      it: `takes ${directive} for annotations, which nothing has`,
      proves: ['vendor:object-annotation-directive'],
      ...copied,
      ask: copy({ 'object-annotation-directive': directive }),
      afterwards: isCopy,
    }),
  ),
  ...['metadata-directive', 'tagging-directive', 'object-annotation-directive'].map(
    (name): Row => ({
      it: `refuses a ${name} that it does not know`,
      proves: [`vendor:${name}`],
      ...refusal('InvalidArgument', { ArgumentName: `{{prefix}}${name}`, ArgumentValue: 'MERGE' }),
      given: copySource,
      ask: copy({ [name]: 'MERGE' }),
      afterwards: isNotThere,
    }),
  ),
  {
    it: 'computes the checksum that the request asks for',
    ...copied,
    ask: copy({ 'checksum-algorithm': 'SHA256' }),
    xml: {
      CopyObjectResult: {
        LastModified: anInstant,
        ETag: copyEtag,
        ChecksumSHA256: referenceChecksum('SHA256', copyText),
        ChecksumType: 'FULL_OBJECT',
      },
    },
    sdk: sdk(
      CopyObjectCommand,
      { ...input, ChecksumAlgorithm: 'SHA256' },
      { CopyObjectResult: { ChecksumSHA256: referenceChecksum('SHA256', copyText) } },
    ),
  },
  {
    it: 'keeps the checksum of the source',
    status: 200,
    given: async (wire) => {
      await wire.must({
        method: 'PUT',
        key: 'summed',
        body: copyText,
        vendor: { 'checksum-crc64nvme': referenceChecksum('CRC64NVME', copyText) },
      })
    },
    ask: copy({ 'copy-source': '/wire/summed' }),
    xml: {
      CopyObjectResult: {
        LastModified: anInstant,
        ETag: copyEtag,
        ChecksumCRC64NVME: referenceChecksum('CRC64NVME', copyText),
        ChecksumType: 'FULL_OBJECT',
      },
    },
  },
  {
    it: 'refuses a checksum that it does not know',
    ...refusal('InvalidRequest', {}),
    given: copySource,
    ask: copy({ 'checksum-algorithm': 'CRC16' }),
    afterwards: isNotThere,
  },
]

const onto = (vendor: Record<string, string> = {}, more: Partial<Ask> = {}) =>
  copy({ 'copy-source': '/wire/to', ...vendor }, more)

const selfCopies: Row[] = [
  {
    it: 'refuses to copy an object onto itself with nothing changed',
    ...refusal('InvalidRequest', {}),
    given: copyTarget,
    ask: onto(),
    afterwards: isCopy,
    sdk: sdk(CopyObjectCommand, { ...input, CopySource: '/wire/to' }),
  },
  {
    it: 'encrypts an object that was there before its bucket encrypted, by copying it onto itself',
    ...copied,
    given: async (wire) => {
      const facts = await copyTarget(wire)
      const rule =
        '<Rule><ApplyServerSideEncryptionByDefault><SSEAlgorithm>AES256</SSEAlgorithm></ApplyServerSideEncryptionByDefault></Rule>'
      const body = `<ServerSideEncryptionConfiguration>${rule}</ServerSideEncryptionConfiguration>`
      const headers = { 'Content-MD5': md5Base64(body) }
      await wire.must({ method: 'PUT', query: { encryption: '' }, headers, body })
      return facts
    },
    ask: onto(),
    vendor: { 'server-side-encryption': 'AES256' },
    afterwards: answers((reply, prefix) => {
      expect(reply.body.toString()).toBe(copyText)
      expect(reply.headers.get(`${prefix}server-side-encryption`)).toBe('AES256')
    }),
  },
  {
    it: 'replaces the metadata of an object by copying it onto itself',
    ...copied,
    given: copyTarget,
    ask: onto({ 'metadata-directive': 'REPLACE', 'meta-size': 'L' }, { headers: replaced }),
    afterwards: answers((reply, prefix) => {
      expect(reply.body.toString()).toBe(copyText)
      expect(described(reply, prefix)).toEqual(['image/png', undefined, undefined, 'L', undefined])
    }),
    sdk: sdk(
      CopyObjectCommand,
      { ...input, CopySource: '/wire/to', MetadataDirective: 'REPLACE' },
      { CopyObjectResult: { ETag: copyEtag } },
    ),
  },
]

wireTests('CopyObject', [...rows, ...directives, ...selfCopies])
