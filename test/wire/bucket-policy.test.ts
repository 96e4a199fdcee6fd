/** PutBucketPolicy, GetBucketPolicy, DeleteBucketPolicy and GetBucketPolicyStatus over the wire, and what a policy then lets whom do. */
import {
  DeleteBucketPolicyCommand,
  GetBucketPolicyCommand,
  GetBucketPolicyStatusCommand,
  PutBucketPolicyCommand,
} from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import type { AccountKey } from '../../src/auth/credentials.ts'
import { md5Base64 } from '../support/wire-checksums.ts'
import type { Ask, Wire } from '../support/wire-client.ts'
import { type Given, type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import { otherKey } from '../support/wire-server.ts'

const query = { policy: '' }
const Bucket = 'wire'
const everything = ['arn:aws:s3:::wire', 'arn:aws:s3:::wire/*']
const document = (...Statement: object[]): string => JSON.stringify({ Version: '2012-10-17', Statement })
const allow = (Action: string | string[], Resource: string | string[], more: object = {}): object => ({
  ...{ Effect: 'Allow', Principal: '*' },
  ...{ Action, Resource },
  ...more,
})
const deny = (Action: string | string[], Resource: string | string[], more: object = {}): object => ({
  ...allow(Action, Resource, more),
  Effect: 'Deny',
})
const put = (body: string): Ask => ({ method: 'PUT', query, body })
const get: Ask = { method: 'GET', query }

/** Three objects, and a policy. */
const under =
  (...statements: object[]): Given =>
  async (wire) => {
    for (const key of ['public/a', 'public/b', 'private'])
      await wire.must({ method: 'PUT', key, body: `data of ${key}` })
    await wire.must(put(document(...statements)))
  }
const open = allow('s3:GetObject', 'arn:aws:s3:::wire/public/*')
const listed = (prefix: string): object =>
  allow('s3:ListBucket', 'arn:aws:s3:::wire', { Condition: { StringLike: { 's3:prefix': prefix } } })
const ofOther = { Principal: { AWS: 'arn:aws:iam::other:root' } }
const read = (key: string, more: Partial<Ask> = {}): Ask => ({ method: 'GET', key, ...more })
const denied = refusal('AccessDenied', {})
const hasPolicy = (text: string) => async (wire: Wire) => expect((await wire.must(get)).body.toString()).toBe(text)
const hasNone = async (wire: Wire): Promise<void> => void expect((await wire.ask(get)).status).toBe(404)

const malformed: readonly [string, string][] = [
  ['no JSON', '{"Version": "2012-10-17", "Statement": ['],
  ['no policy', '{}'],
  ['another version', JSON.stringify({ Version: '2020-01-01', Statement: [open] })],
  ['no statement', document()],
  ['another effect', document({ ...open, Effect: 'Perhaps' })],
  ['no principal', document({ ...open, Principal: undefined })],
  ['an account that is not there', document({ ...open, Principal: { AWS: ['other', 'arn:aws:iam::nobody:root'] } })],
  ['a user of an account that is not there', document({ ...open, Principal: { AWS: 'arn:aws:iam::nobody:user/ann' } })],
  [
    'all but an account that is not there',
    document({ ...open, Principal: undefined, NotPrincipal: { AWS: 'nobody' } }),
  ],
  [
    'that all but one may do something',
    document({ ...open, Principal: undefined, NotPrincipal: { AWS: 'arn:aws:iam::other:root' } }),
  ],
  ['another bucket', document(allow('s3:GetObject', 'arn:aws:s3:::other/*'))],
  ['an unknown action', document(allow('s3:GetEverything', everything))],
  ['an action that does not go with its resource', document(allow('s3:ListBucket', 'arn:aws:s3:::wire/*'))],
  ['an unknown operator', document({ ...open, Condition: { StringIs: { 'aws:SourceIp': 'x' } } })],
  ['an unknown key', document({ ...open, Condition: { StringEquals: { 's3:NoSuchKey': 'x' } } })],
  ['an address that is none', document({ ...open, Condition: { IpAddress: { 'aws:SourceIp': '300.0.0.1' } } })],
  ['an element twice', document(open).replace('"Effect"', '"Effect":"Deny","Effect"')],
]

wireTests('PutBucketPolicy', [
  {
    it: 'keeps it as it came',
    status: 204,
    ask: put(`${document(open)}\n`),
    afterwards: hasPolicy(`${document(open)}\n`),
    sdk: sdk(PutBucketPolicyCommand, { Bucket, Policy: `${document(open)}\n` }),
  },
  {
    it: 'opens what it allows to everybody, and nothing else',
    proves: ['data:body'],
    status: 204,
    given: under(deny('s3:GetObject', 'arn:aws:s3:::wire/public/*')),
    ask: put(document(open)),
    afterwards: async (wire) => {
      const statusOf = async (key: string) => (await wire.ask(read(key, { unsigned: true }))).status
      expect([await statusOf('public/a'), await statusOf('private')]).toEqual([200, 403])
    },
  },
  {
    it: 'takes the word that the sender may lock itself out',
    proves: ['vendor:confirm-remove-self-bucket-access'],
    status: 204,
    ask: { ...put(document(open)), vendor: { 'confirm-remove-self-bucket-access': 'true' } },
    afterwards: hasPolicy(document(open)),
  },
  {
    it: 'refuses a word that is neither yes nor no',
    status: 400,
    code: 'InvalidArgument',
    ask: { ...put(document(open)), vendor: { 'confirm-remove-self-bucket-access': 'perhaps' } },
    afterwards: hasNone,
  },
  {
    it: 'replaces another',
    status: 204,
    given: under(open),
    ask: put(document(deny('s3:DeleteObject', 'arn:aws:s3:::wire/*'))),
    afterwards: hasPolicy(document(deny('s3:DeleteObject', 'arn:aws:s3:::wire/*'))),
  },
  ...malformed.map(
    ([what, body]): Row => ({
      it: `refuses ${what}`,
      status: 400,
      code: 'MalformedPolicy',
      given: under(open),
      ask: put(body),
      afterwards: hasPolicy(document(open)),
    }),
  ),
  {
    it: 'counts no white space where there is much, and keeps none then',
    status: 204,
    ask: put(document(open).replace('{', `{${' \n'.repeat(11 * 1024)}`)),
    afterwards: hasPolicy(document(open)),
  },
  {
    it: 'refuses what is too large',
    ...refusal('MalformedPolicy', {}),
    message: 'Normalized policy document exceeds the maximum allowed size of 20480 bytes',
    ask: put(
      document(
        allow(
          's3:GetObject',
          Array.from({ length: 900 }, (_, i) => `arn:aws:s3:::wire/${i}`),
        ),
      ),
    ),
    afterwards: hasNone,
  },
  {
    it: 'refuses what is not what its digest says',
    status: 400,
    code: 'BadDigest',
    ask: { ...put(document(open)), headers: { 'Content-MD5': md5Base64('another') } },
    afterwards: hasNone,
  },
  {
    it: 'refuses to open to the public what is blocked',
    ...denied,
    given: async (wire) => {
      const body =
        '<PublicAccessBlockConfiguration><BlockPublicPolicy>true</BlockPublicPolicy></PublicAccessBlockConfiguration>'
      const headers = { 'Content-MD5': md5Base64(body) }
      await wire.must({ method: 'PUT', query: { publicAccessBlock: '' }, headers, body })
    },
    ask: put(document(open)),
    afterwards: hasNone,
  },
  {
    it: 'is refused to another account, whatever the policy says of the rest',
    ...denied,
    given: under(allow('s3:*', everything, ofOther), deny('s3:PutBucketPolicy', 'arn:aws:s3:::wire', ofOther)),
    ask: { ...put(document(open)), signedBy: otherKey },
  },
  {
    it: 'can always be replaced by the owner',
    status: 204,
    given: under(deny('s3:*', everything)),
    ask: put(document(open)),
    afterwards: hasPolicy(document(open)),
  },
])

wireTests('GetBucketPolicy', [
  { it: 'finds none', ...refusal('NoSuchBucketPolicy', { BucketName: 'wire' }), ask: get },
  {
    it: 'answers it',
    status: 200,
    given: under(open),
    ask: get,
    headers: { 'Content-Type': 'application/json' },
    body: document(open),
    sdk: sdk(GetBucketPolicyCommand, { Bucket }, { Policy: document(open) }),
  },
  { it: 'is refused to another account', ...denied, given: under(open), ask: { ...get, signedBy: otherKey } },
])

wireTests('DeleteBucketPolicy', [
  {
    it: 'closes the bucket',
    status: 204,
    given: under(open),
    ask: { method: 'DELETE', query },
    afterwards: async (wire) => {
      await hasNone(wire)
      expect((await wire.ask(read('public/a', { unsigned: true }))).status).toBe(403)
    },
    sdk: sdk(DeleteBucketPolicyCommand, { Bucket }),
  },
  { it: 'finds nothing to remove', status: 204, ask: { method: 'DELETE', query } },
  {
    it: 'can always be done by the owner',
    status: 204,
    given: under(deny('s3:*', everything)),
    ask: { method: 'DELETE', query },
  },
])

const status: Ask = { method: 'GET', query: { policyStatus: '' } }
const isPublic = (value: boolean) => ({ status: 200, xml: { PolicyStatus: { IsPublic: String(value) } } })
wireTests('GetBucketPolicyStatus', [
  { it: 'finds no policy', ...refusal('NoSuchBucketPolicy', { BucketName: 'wire' }), ask: status },
  {
    it: 'tells what is public',
    ...isPublic(true),
    given: under(open),
    ask: status,
    sdk: sdk(GetBucketPolicyStatusCommand, { Bucket }, { PolicyStatus: { IsPublic: true } }),
  },
  {
    it: 'tells what is open to one account alone',
    ...isPublic(false),
    given: under(allow('s3:GetObject', everything[1] ?? '', ofOther)),
    ask: status,
  },
])

/** Of the owner's account, and permitted nothing. */
const narrow: AccountKey = { accessKeyId: 'AKPOLICYNARROW', secretAccessKey: 'a-secret', permissions: [] }
const anybody: readonly [string, Partial<Ask>][] = [
  ['nobody', { unsigned: true }],
  ['another account', { signedBy: otherKey }],
  ['a key that is permitted nothing', { signedBy: narrow }],
]

wireTests(
  'GetObject',
  [
    ...anybody.flatMap(([who, by]): Row[] => [
      {
        it: `gives ${who} what is open`,
        status: 200,
        given: under(open),
        ask: read('public/a', by),
        body: 'data of public/a',
      },
      { it: `keeps the rest from ${who}`, ...denied, given: under(open), ask: read('private', by) },
      { it: `keeps from ${who} whether there is more`, ...denied, given: under(open), ask: read('public/c', by) },
      {
        it: `tells ${who} that there is no more where the bucket may be listed`,
        status: 404,
        code: 'NoSuchKey',
        given: under(open, allow('s3:ListBucket', 'arn:aws:s3:::wire')),
        ask: read('public/c', by),
      },
      {
        it: `tells ${who} that there is no more under a prefix that may be listed, as if the key were listed`,
        status: 404,
        code: 'NoSuchKey',
        given: under(open, listed('public/*')),
        ask: read('public/c', by),
      },
      {
        it: `keeps from ${who} whether there is more outside of the prefix that may be listed`,
        ...denied,
        given: under(open, listed('other/*')),
        ask: read('public/c', { ...by, query: { prefix: 'other/' } }),
      },
      {
        it: `keeps other versions from ${who}`,
        ...denied,
        given: under(open),
        ask: read('public/a', { ...by, query: { versionId: 'null' } }),
      },
    ]),
    {
      it: 'denies the owner what the policy denies',
      ...denied,
      given: under(deny('s3:GetObject', 'arn:aws:s3:::wire/private')),
      ask: read('private'),
    },
    {
      it: 'tells nobody that there is no such bucket',
      ...denied,
      withoutBucket: true,
      ask: read('public/a', { unsigned: true }),
    },
    {
      it: 'tells nobody what is wrong with a request for what is not open',
      ...denied,
      given: under(open),
      ask: read('private', { unsigned: true, query: { partNumber: 'x' } }),
    },
    {
      it: 'tells what is wrong with a request for what is open',
      status: 400,
      code: 'InvalidArgument',
      details: { ArgumentName: 'partNumber', ArgumentValue: 'x' },
      given: under(open),
      ask: read('public/a', { unsigned: true, query: { partNumber: 'x' } }),
    },
    ...(['GET', 'HEAD'] as const).map(
      (method): Row => ({
        it: `lets nobody choose the headers of an answer, ${method}`,
        ...refusal('InvalidRequest', {}),
        given: under(open),
        takenFor: method === 'GET' ? 'GetObject' : 'HeadObject',
        ask: { method, key: 'public/a', unsigned: true, query: { 'response-content-type': 'text/html' } },
      }),
    ),
    {
      it: 'hides what is not open from nobody who chooses the headers of an answer',
      ...denied,
      given: under(open),
      ask: read('private', { unsigned: true, query: { 'response-content-type': 'text/html' } }),
    },
    {
      it: 'lets another account choose the headers of an answer',
      status: 200,
      given: under(open),
      ask: read('public/a', { signedBy: otherKey, query: { 'response-content-type': 'text/html' } }),
      headers: { 'Content-Type': 'text/html' },
      body: 'data of public/a',
    },
    {
      it: 'lets nobody begin a multipart upload, where everybody may write',
      ...denied,
      given: under(allow(['s3:PutObject', 's3:AbortMultipartUpload'], 'arn:aws:s3:::wire/*')),
      takenFor: 'CreateMultipartUpload',
      ask: { method: 'POST', key: 'public/m', unsigned: true, query: { uploads: '' } },
      afterwards: async (wire) => {
        expect((await wire.ask({ method: 'PUT', key: 'public/m', unsigned: true, body: 'm' })).status).toBe(200)
      },
    },
    ...['/wire/public/a', '/nobodys-bucket/a'].map(
      (source): Row => ({
        it: `lets nobody copy ${source}, where everybody may read and write`,
        ...denied,
        given: under(
          allow(['s3:GetObject', 's3:PutObject', 's3:ListBucket'], ['arn:aws:s3:::wire', 'arn:aws:s3:::wire/*']),
        ),
        takenFor: 'CopyObject',
        ask: { method: 'PUT', key: 'public/m', unsigned: true, vendor: { 'copy-source': source } },
      }),
    ),
    {
      it: 'goes by the tags of the object',
      status: 200,
      given: async (wire) => {
        await wire.must({ method: 'PUT', key: 'tagged', body: 'tagged', vendor: { tagging: 'public=yes' } })
        await wire.must(
          put(
            document({
              ...allow('s3:GetObject', 'arn:aws:s3:::wire/*'),
              Condition: { StringEquals: { 's3:ExistingObjectTag/public': 'yes' } },
            }),
          ),
        )
      },
      ask: read('tagged', { unsigned: true }),
      body: 'tagged',
      vendor: { 'tagging-count': '1' },
      afterwards: async (wire) => {
        await wire.must({ method: 'PUT', key: 'tagged', body: 'tagged' })
        expect((await wire.ask(read('tagged', { unsigned: true }))).status).toBe(403)
      },
    },
    {
      it: 'goes by where the client is',
      status: 200,
      given: under({ ...open, Condition: { IpAddress: { 'aws:SourceIp': ['127.0.0.0/8', '::1'] } } }),
      ask: read('public/a', { unsigned: true }),
      afterwards: async (wire) => {
        await wire.must(
          put(document({ ...open, Condition: { NotIpAddress: { 'aws:SourceIp': ['127.0.0.0/8', '::1'] } } })),
        )
        expect((await wire.ask(read('public/a', { unsigned: true }))).status).toBe(403)
      },
    },
    {
      it: 'goes by a header',
      status: 200,
      given: under({ ...open, Condition: { StringLike: { 'aws:Referer': 'https://example.com/*' } } }),
      ask: read('public/a', { unsigned: true, headers: { Referer: 'https://example.com/page' } }),
      afterwards: async (wire) => expect((await wire.ask(read('public/a', { unsigned: true }))).status).toBe(403),
    },
    {
      it: 'is blocked for the public where public buckets are restricted',
      ...denied,
      given: async (wire) => {
        await under(open)(wire)
        const body =
          '<PublicAccessBlockConfiguration><RestrictPublicBuckets>true</RestrictPublicBuckets></PublicAccessBlockConfiguration>'
        await wire.must({
          method: 'PUT',
          query: { publicAccessBlock: '' },
          headers: { 'Content-MD5': md5Base64(body) },
          body,
        })
      },
      ask: read('public/a', { unsigned: true }),
    },
  ],
  { keys: [narrow] },
)

wireTests('PutObject', [
  {
    it: 'takes from another account what the policy lets it write, and it is the owner’s',
    status: 200,
    given: under(allow('s3:PutObject', 'arn:aws:s3:::wire/drop/*', ofOther)),
    ask: { method: 'PUT', key: 'drop/a', body: 'dropped', signedBy: otherKey },
    afterwards: async (wire) => {
      expect((await wire.must(read('drop/a'))).body.toString()).toBe('dropped')
      expect((await wire.ask(read('drop/a', { signedBy: otherKey }))).status).toBe(403)
    },
  },
  {
    it: 'refuses what the policy asks to be encrypted',
    ...denied,
    given: under(
      deny('s3:PutObject', 'arn:aws:s3:::wire/*', {
        Condition: { Null: { 's3:x-amz-server-side-encryption': 'true' } },
      }),
    ),
    ask: { method: 'PUT', key: 'plain', body: 'plain' },
    afterwards: async (wire) =>
      void (await wire.must({
        method: 'PUT',
        key: 'sealed',
        body: 'sealed',
        vendor: { 'server-side-encryption': 'AES256' },
      })),
  },
  {
    it: 'asks for the permission to tag, too',
    ...denied,
    given: under(allow('s3:PutObject', 'arn:aws:s3:::wire/drop/*', ofOther)),
    ask: { method: 'PUT', key: 'drop/a', body: 'dropped', vendor: { tagging: 'a=1' }, signedBy: otherKey },
    afterwards: async (wire) => expect((await wire.ask(read('drop/a'))).status).toBe(404),
  },
  {
    it: 'takes from nobody what is open to all',
    status: 200,
    given: under(allow('s3:PutObject', 'arn:aws:s3:::wire/drop/*')),
    ask: { method: 'PUT', key: 'drop/a', body: 'dropped', unsigned: true },
    afterwards: async (wire) => expect((await wire.must(read('drop/a'))).body.toString()).toBe('dropped'),
  },
])

const keysOf = (...keys: string[]): string =>
  `<Delete>${keys.map((key) => `<Object><Key>${key}</Key></Object>`).join('')}</Delete>`
wireTests('DeleteObjects', [
  {
    it: 'asks for each key by itself',
    status: 200,
    given: under(allow('s3:DeleteObject', 'arn:aws:s3:::wire/public/*', ofOther)),
    ask: {
      method: 'POST',
      query: { delete: '' },
      headers: { 'Content-MD5': md5Base64(keysOf('public/a', 'private')) },
      body: keysOf('public/a', 'private'),
      signedBy: otherKey,
    },
    afterwards: async (wire, reply) => {
      expect(reply.body.toString()).toMatch(
        /<Deleted><Key>public\/a<\/Key>.*<Error><Key>private<\/Key><Code>AccessDenied</s,
      )
      expect((await wire.ask(read('public/a'))).status).toBe(404)
      await wire.must(read('private'))
    },
  },
])

const oneVersion = '<Delete><Object><Key>private</Key><VersionId>null</VersionId></Object></Delete>'
wireTests('DeleteObjects', [
  {
    it: 'goes by the version of each entry',
    status: 200,
    given: under(
      deny('s3:DeleteObjectVersion', 'arn:aws:s3:::wire/*', {
        Condition: { StringEquals: { 's3:versionid': 'null' } },
      }),
    ),
    ask: {
      method: 'POST',
      query: { delete: '' },
      headers: { 'Content-MD5': md5Base64(oneVersion) },
      body: oneVersion,
    },
    afterwards: async (wire, reply) => {
      expect(reply.body.toString()).toContain('<Code>AccessDenied</Code>')
      await wire.must(read('private'))
    },
  },
])

wireTests('ListObjectsV2', [
  {
    it: 'lists to others under the prefix that is open to them, and names the owner',
    status: 200,
    given: under(
      allow('s3:ListBucket', 'arn:aws:s3:::wire', {
        ...ofOther,
        Condition: { StringEquals: { 's3:prefix': 'public/' } },
      }),
    ),
    ask: { method: 'GET', query: { 'list-type': '2', prefix: 'public/', 'fetch-owner': 'true' }, signedBy: otherKey },
    afterwards: async (wire, reply) => {
      expect(reply.body.toString()).toContain('<Owner><ID>main</ID>')
      expect((await wire.ask({ method: 'GET', query: { 'list-type': '2' }, signedBy: otherKey })).status).toBe(403)
    },
  },
])

/** Object `a` of bucket `far` is tagged, and so is `a` of bucket `wire`, otherwise. */
const farAndTagged =
  (...statements: object[]): Given =>
  async (wire) => {
    await wire.must({ method: 'PUT', bucket: 'far' })
    await wire.must({ method: 'PUT', bucket: 'far', key: 'a', body: 'far', vendor: { tagging: 'public=no' } })
    await wire.must({ method: 'PUT', key: 'a', body: 'near', vendor: { tagging: 'public=yes' } })
    await wire.must(put(document(allow('s3:*', everything, ofOther))))
    await wire.must({ method: 'PUT', bucket: 'far', query: { policy: '' }, body: document(...statements) })
  }
const ofFar = 'arn:aws:s3:::far/*'
const copy = (source: string): Ask => ({
  method: 'PUT',
  key: 'a',
  vendor: { 'copy-source': source, 'tagging-directive': 'REPLACE' },
  signedBy: otherKey,
})
const ifPublic = { Condition: { StringEquals: { 's3:ExistingObjectTag/public': 'yes' } } }

wireTests('CopyObject', [
  {
    it: 'goes by the tags of the source, and not by those of what it writes over',
    ...denied,
    given: farAndTagged(allow('s3:GetObject', ofFar, { ...ofOther, ...ifPublic })),
    ask: copy('/far/a'),
    afterwards: async (wire) => {
      await wire.must({ method: 'PUT', bucket: 'far', key: 'a', body: 'far', vendor: { tagging: 'public=yes' } })
      await wire.must(copy('/far/a'))
      expect((await wire.must(read('a'))).body.toString()).toBe('far')
    },
  },
  ...[
    ['far/a', 'far/*'],
    ['/far/a', 'far/*'],
    ['%66ar/a', 'far/*'],
    ['far%2Fa', 'far/*'],
    ['far/a', '/far/*'],
    ['far/a?versionId=null', 'far/a'],
  ].map(([source = '', pattern]) => ({
    it: `is denied from a source like ${pattern}, which the header spells ${source}`,
    ...denied,
    given: async (wire: Wire) => {
      await farAndTagged(allow('s3:GetObject*', ofFar, ofOther))(wire)
      const condition = { Condition: { StringLike: { 's3:x-amz-copy-source': pattern } } }
      await wire.must(put(document(allow('s3:*', everything, ofOther), deny('s3:PutObject', everything, condition))))
    },
    ask: copy(source),
    afterwards: async (wire: Wire) => {
      expect((await wire.ask(copy('/wire/a'))).status).toBe(200)
    },
  })),
  {
    it: 'is denied to who may not write, also where the source can’t be read',
    ...denied,
    given: async (wire) => {
      const condition = { Condition: { StringLike: { 's3:x-amz-copy-source': 'far/*' } } }
      await wire.must(put(document(allow('s3:PutObject', everything, { ...ofOther, ...condition }))))
    },
    ask: copy('no-key'),
  },
  {
    it: 'is allowed from a source that a Deny of all others names',
    status: 200,
    given: async (wire) => {
      await farAndTagged(allow('s3:GetObject', ofFar, ofOther))(wire)
      const condition = { Condition: { StringNotLike: { 's3:x-amz-copy-source': 'far/*' } } }
      await wire.must(put(document(allow('s3:*', everything, ofOther), deny('s3:PutObject', everything, condition))))
    },
    ask: copy('/far/%61'),
    afterwards: async (wire) => {
      expect((await wire.ask(copy('/wire/a'))).status).toBe(403)
    },
  },
  {
    it: 'is not allowed for tags that a header names and the copy does not get',
    ...denied,
    given: async (wire) => {
      const condition = { Condition: { StringEquals: { 's3:RequestObjectTag/public': 'no' } } }
      const allowed = allow(['s3:PutObject', 's3:PutObjectTagging'], everything, { ...ofOther, ...condition })
      await farAndTagged(allow('s3:GetObject*', ofFar, ofOther))(wire)
      await wire.must(put(document(allowed)))
    },
    ask: { ...copy('/far/a'), vendor: { 'copy-source': '/far/a', tagging: 'public=no' } },
    afterwards: async (wire) => {
      const replaced = { 'copy-source': '/far/a', 'tagging-directive': 'REPLACE', tagging: 'public=no' }
      await wire.must({ ...copy('/far/a'), vendor: replaced })
    },
  },
  {
    it: 'goes by the version of the source',
    ...denied,
    given: farAndTagged(
      allow('s3:GetObject*', ofFar, ofOther),
      deny('s3:GetObjectVersion', ofFar, { Condition: { StringEquals: { 's3:versionid': 'null' } } }),
    ),
    ask: copy('/far/a?versionId=null'),
  },
  {
    it: 'keeps from who may not list the source whether there is any',
    ...denied,
    given: farAndTagged(allow('s3:GetObject', ofFar, ofOther)),
    ask: copy('/far/none'),
  },
  {
    it: 'tells who may list the source that there is none',
    status: 404,
    code: 'NoSuchKey',
    given: farAndTagged(allow('s3:GetObject', ofFar, ofOther), allow('s3:ListBucket', 'arn:aws:s3:::far', ofOther)),
    ask: copy('/far/none'),
  },
  ...[
    { it: 'tells who may list the source under its prefix that there is none', prefix: 'non*', status: 404 },
    { it: 'keeps that from who may list another prefix', prefix: 'other*', status: 403 },
  ].map(
    ({ it, prefix, status }): Row => ({
      it,
      status,
      code: status === 404 ? 'NoSuchKey' : 'AccessDenied',
      given: farAndTagged(
        allow('s3:GetObject', ofFar, ofOther),
        allow('s3:ListBucket', 'arn:aws:s3:::far', { ...ofOther, Condition: { StringLike: { 's3:prefix': prefix } } }),
      ),
      ask: copy('/far/none'),
    }),
  ),
])
