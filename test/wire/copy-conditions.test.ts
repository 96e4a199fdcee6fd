/** CopyObject under conditions, and what it refuses. */
import { CopyObjectCommand } from '@aws-sdk/client-s3'
import { md5Hex } from '../support/wire-checksums.ts'
import type { Wire } from '../support/wire-client.ts'
import {
  copied,
  copy,
  copyEtag,
  copySource,
  copyTarget,
  copyText,
  input,
  isCopy,
  isNotThere,
} from '../support/wire-copies.ts'
import { thirdsOfCustomerKey } from '../support/wire-encryption.ts'
import { type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import { otherKey } from '../support/wire-server.ts'

const past = 'Sat, 01 Jan 2000 00:00:00 GMT'
const another = '"another"'
const condition = (name: string, value: string) => copy({ [`copy-source-${name}`]: value })

const conditions: Row[] = [
  ...(
    [
      ['if-match', copyEtag],
      ['if-match', '*'],
      ['if-none-match', another],
      ['if-modified-since', past],
      ['if-modified-since', 'Fri, 01 Jan 2100 00:00:00 GMT'],
      ['if-unmodified-since', '{{lastModified}}'],
    ] as const
  ).map(
    ([name, value]): Row => ({
      it: `copies if ${name} ${value} holds of the source`,
      proves: [`vendor:copy-source-${name}`],
      ...copied,
      ask: condition(name, value),
      afterwards: isCopy,
    }),
  ),
  ...(
    [
      ['if-match', another, 'If-Match'],
      ['if-none-match', copyEtag, 'If-None-Match'],
      ['if-none-match', '*', 'If-None-Match'],
      ['if-modified-since', '{{lastModified}}', 'If-Modified-Since'],
      ['if-unmodified-since', past, 'If-Unmodified-Since'],
    ] as const
  ).map(
    ([name, value, shown]): Row => ({
      it: `does not copy if ${name} ${value} fails of the source`,
      proves: [`vendor:copy-source-${name}`],
      ...refusal('PreconditionFailed', { Condition: `{{prefix}}copy-source-${shown}` }),
      given: copySource,
      ask: condition(name, value),
      afterwards: isNotThere,
    }),
  ),
  {
    it: 'lets a match of the source outweigh its date, as S3 documents',
    ...copied,
    ask: copy({ 'copy-source-if-match': copyEtag, 'copy-source-if-unmodified-since': past }),
    afterwards: isCopy,
  },
  {
    it: 'lets a failed none-match of the source outweigh its date, as S3 documents',
    ...refusal('PreconditionFailed'),
    given: copySource,
    ask: copy({ 'copy-source-if-none-match': copyEtag, 'copy-source-if-modified-since': past }),
    afterwards: isNotThere,
  },
  {
    it: 'answers a condition of the source to the SDK',
    ...refusal('PreconditionFailed'),
    given: copySource,
    ask: condition('if-match', another),
    sdk: sdk(CopyObjectCommand, { ...input, CopySourceIfMatch: another }),
  },
  {
    it: 'copies if there is nothing, where there is nothing',
    proves: ['header:If-None-Match'],
    ...copied,
    ask: copy({}, { headers: { 'If-None-Match': '*' } }),
    afterwards: isCopy,
    sdk: sdk(CopyObjectCommand, { ...input, IfNoneMatch: '*' }),
  },
  {
    it: 'does not copy if there is nothing, where there is something',
    proves: ['header:If-None-Match'],
    ...refusal('PreconditionFailed', { Condition: 'If-None-Match' }),
    given: async (wire) => {
      await copySource(wire)
      await copyTarget(wire)
    },
    ask: copy({}, { headers: { 'If-None-Match': '*' } }),
    sdk: sdk(CopyObjectCommand, { ...input, IfNoneMatch: '*' }),
  },
  {
    it: 'copies over the object that the client knows, from a source whose owner it knows',
    proves: ['header:If-Match', 'vendor:source-expected-bucket-owner'],
    ...copied,
    given: async (wire) => {
      await copySource(wire)
      await wire.must({ method: 'PUT', key: 'to', body: 'old' })
    },
    ask: copy({ 'source-expected-bucket-owner': 'main' }, { headers: { 'If-Match': `"${md5Hex('old')}"` } }),
    afterwards: isCopy,
  },
  {
    it: 'does not copy over another object than the client knows',
    proves: ['header:If-Match'],
    ...refusal('PreconditionFailed', { Condition: 'If-Match' }),
    given: async (wire) => {
      await copySource(wire)
      await copyTarget(wire)
    },
    ask: copy({}, { headers: { 'If-Match': another } }),
    sdk: sdk(CopyObjectCommand, { ...input, IfMatch: another }),
  },
]

const othersSource = async (wire: Wire): Promise<void> => {
  await wire.must({ method: 'PUT', bucket: 'source', signedBy: otherKey })
  await wire.must({ method: 'PUT', bucket: 'source', key: 'from', body: copyText, signedBy: otherKey })
}

const refused: Row[] = [
  {
    it: 'answers NoSuchKey where there is no source',
    ...refusal('NoSuchKey', { Key: 'nothing' }),
    given: copySource,
    ask: copy({ 'copy-source': '/source/nothing' }),
    afterwards: isNotThere,
    sdk: sdk(CopyObjectCommand, { ...input, CopySource: '/source/nothing' }),
  },
  {
    it: 'answers NoSuchBucket where the source has no bucket',
    ...refusal('NoSuchBucket', { BucketName: 'nowhere' }),
    ask: copy({ 'copy-source': '/nowhere/from' }),
    sdk: sdk(CopyObjectCommand, { ...input, CopySource: '/nowhere/from' }),
  },
  {
    it: 'answers NoSuchBucket where the copy would have none',
    withoutBucket: true,
    ...refusal('NoSuchBucket', { BucketName: 'wire' }),
    given: copySource,
    ask: copy(),
    sdk: sdk(CopyObjectCommand, input),
  },
  {
    it: "answers AccessDenied for another account's source",
    ...refusal('AccessDenied', {}),
    given: othersSource,
    ask: copy(),
    afterwards: isNotThere,
    sdk: sdk(CopyObjectCommand, input),
  },
  {
    it: "answers AccessDenied for another account's bucket to copy to",
    ...refusal('AccessDenied', {}),
    given: copySource,
    ask: copy({}, { signedBy: otherKey }),
    afterwards: isNotThere,
  },
  {
    it: 'answers AccessDenied where another owner of the source is expected',
    proves: ['vendor:source-expected-bucket-owner'],
    ...refusal('AccessDenied', {}),
    given: copySource,
    ask: copy({ 'source-expected-bucket-owner': 'other' }),
    afterwards: isNotThere,
    sdk: sdk(CopyObjectCommand, { ...input, ExpectedSourceBucketOwner: 'other' }),
  },
  {
    it: 'answers AccessDenied where another owner of the copy is expected',
    ...refusal('AccessDenied', {}),
    given: copySource,
    ask: copy({ 'expected-bucket-owner': 'other' }),
    afterwards: isNotThere,
    sdk: sdk(CopyObjectCommand, { ...input, ExpectedBucketOwner: 'other' }),
  },
  {
    it: 'answers InvalidArgument for what can name no version of the source',
    ...refusal('InvalidArgument', { ArgumentName: '{{prefix}}copy-source', ArgumentValue: 'v1' }),
    given: copySource,
    ask: copy({ 'copy-source': '/source/from?versionId=v1' }),
    afterwards: isNotThere,
    sdk: sdk(CopyObjectCommand, { ...input, CopySource: '/source/from?versionId=v1' }),
  },
  {
    it: 'answers InvalidArgument for a version of the source that has no name',
    ...refusal('InvalidArgument', { ArgumentName: '{{prefix}}copy-source', ArgumentValue: '' }),
    message: 'Version id cannot be the empty string',
    given: copySource,
    ask: copy({ 'copy-source': '/source/from?versionId=' }),
    afterwards: isNotThere,
  },
  ...(
    [
      ['', 'bucket name'],
      ['/', 'bucket name'],
      ['//from', 'bucket name'],
      ['my-buc@k/from', 'bucket name'],
      ['source', 'object key'],
      ['/source', 'object key'],
      ['/source/', 'object key'],
      ['/source/from?uploadId=1', 'object key'],
      ['/source/%zz', 'encoding'],
      ['/source/%ff', 'encoding'],
    ] as const
  ).map(
    ([value, fault]): Row => ({
      it: `refuses the source "${value}"`,
      ...refusal('InvalidArgument', { ArgumentName: '{{prefix}}copy-source', ArgumentValue: value }),
      message: `Invalid copy source ${fault}`,
      given: copySource,
      ask: copy({ 'copy-source': value }),
      afterwards: isNotThere,
    }),
  ),
  {
    it: 'refuses a source whose key is too long',
    ...refusal('KeyTooLongError', {}),
    given: copySource,
    ask: copy({ 'copy-source': `/source/${'k'.repeat(1025)}` }),
    afterwards: isNotThere,
  },
  {
    it: 'refuses acl public-read',
    ...refusal('AccessControlListNotSupported', {}),
    given: copySource,
    ask: copy({ acl: 'public-read' }),
    afterwards: isNotThere,
  },
  {
    it: 'refuses a storage class that nobody knows',
    ...refusal('InvalidStorageClass', { StorageClassRequested: 'COLD' }),
    given: copySource,
    ask: copy({ 'storage-class': 'COLD' }),
    afterwards: isNotThere,
  },
  ...['', 'copy-source-'].flatMap((prefix) =>
    thirdsOfCustomerKey((vendor) => ({ given: copySource, ask: copy(vendor), afterwards: isNotThere }), prefix),
  ),
  ...['write-offset-bytes', 'object-lock-made-up'].map(
    (name): Row => ({
      it: `refuses ${name} by name`,
      ...refusal('NotImplemented', { NotImplemented: `{{prefix}}${name}` }),
      given: copySource,
      ask: copy({ [name]: 'x' }),
      afterwards: isNotThere,
    }),
  ),
]

wireTests('CopyObject', [...conditions, ...refused])
