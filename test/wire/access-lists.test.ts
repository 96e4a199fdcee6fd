/** What access control lists and the owners of objects let whom do: accounts, whoever signs, and nobody. */
import { expect } from 'vitest'
import { grant, grantsOf, ownedBy, policy, putOwnership, user } from '../support/wire-acl.ts'
import { putBlock } from '../support/wire-acl-lists.ts'
import { md5Base64 } from '../support/wire-checksums.ts'
import type { Ask, Wire } from '../support/wire-client.ts'
import { putDocument } from '../support/wire-documents.ts'
import { type Given, type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { otherKey } from '../support/wire-server.ts'
import { completeDocument, putPart, textIn } from '../support/wire-uploads.ts'
import { enabled } from '../support/wire-versions.ts'

type Ownership = 'BucketOwnerPreferred' | 'ObjectWriter'

const key = 'a'
const read: Ask = { method: 'GET', key }
const denied = refusal('AccessDenied')
const unsigned = { unsigned: true } as const
const byOther = { signedBy: otherKey } as const
const write = (more: Partial<Ask> = {}): Ask => ({
  method: 'PUT',
  key,
  body: 'data',
  headers: { 'Content-MD5': md5Base64('data') },
  ...more,
})
const setList = (vendor: Record<string, string>, of = key): Ask => ({
  method: 'PUT',
  key: of,
  query: { acl: '' },
  vendor,
})

const mayWrite = JSON.stringify({
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Principal: '*', Action: 's3:PutObject', Resource: 'arn:aws:s3:::wire/*' }],
})

const mayWriteFull = mayWrite.replace(
  '"Action"',
  '"Condition":{"StringEquals":{"s3:x-amz-acl":"bucket-owner-full-control"}},"Action"',
)

const mayList = (prefix: string): Ask => {
  const Condition = { StringLike: { 's3:prefix': prefix } }
  const lists = { Effect: 'Allow', Principal: '*', Action: 's3:ListBucket', Resource: 'arn:aws:s3:::wire', Condition }
  return { method: 'PUT', query: { policy: '' }, body: JSON.stringify({ Version: '2012-10-17', Statement: [lists] }) }
}

/** The owner's object, and what is asked before and after it. */
const given =
  (ownership: Ownership | undefined, ...asks: Ask[]): Given =>
  async (wire) => {
    if (ownership !== undefined) await ownedBy(ownership)(wire)
    for (const ask of asks) await wire.must(ask)
  }
/** An object of another account, which the bucket's policy lets write. */
const ofOther = (ownership: Ownership | undefined, vendor: Record<string, string> = {}, ...asks: Ask[]): Given =>
  given(ownership, { method: 'PUT', query: { policy: '' }, body: mayWrite }, write({ ...byOther, vendor }), ...asks)

const may = (it: string, row: Pick<Row, 'given' | 'ask'> & Partial<Row>): Row => ({ it, status: 200, ...row })
const mayNot = (it: string, row: Pick<Row, 'given' | 'ask'> & Partial<Row>): Row => ({ it, ...denied, ...row })
const openTo = (list: string): Given => given('ObjectWriter', write({ vendor: { acl: list } }))

wireTests('GetObject', [
  may('a public object is anybody’s to read', { given: openTo('public-read'), ask: { ...read, ...unsigned } }),
  mayNot('an object without a list is not', { given: given('ObjectWriter', write()), ask: { ...read, ...unsigned } }),
  mayNot('nor is one whose list is for whoever signs', {
    given: openTo('authenticated-read'),
    ask: { ...read, ...unsigned },
  }),
  may('that is for another account', { given: openTo('authenticated-read'), ask: { ...read, ...byOther } }),
  mayNot('another account reads no private object', { given: openTo('private'), ask: { ...read, ...byOther } }),
  may('but what is granted to it', {
    given: given('ObjectWriter', write({ vendor: { 'grant-read': 'id=other' } })),
    ask: { ...read, ...byOther },
  }),
  mayNot('a right to read the list is none to read the object', {
    given: given('ObjectWriter', write({ vendor: { 'grant-read-acp': 'id=other' } })),
    ask: { ...read, ...byOther },
  }),
  mayNot('public lists are ignored where the block says so', {
    given: given('ObjectWriter', write({ vendor: { acl: 'public-read' } }), putBlock('IgnorePublicAcls')),
    ask: { ...read, ...unsigned },
  }),
  mayNot('lists do not count once the bucket owner owns all', {
    given: given('ObjectWriter', write({ vendor: { acl: 'public-read' } }), putOwnership('BucketOwnerEnforced')),
    ask: { ...read, ...unsigned },
  }),
  may('and count again when there are lists again', {
    given: given(
      'ObjectWriter',
      write({ vendor: { acl: 'public-read' } }),
      putOwnership('BucketOwnerEnforced'),
      putOwnership('ObjectWriter'),
    ),
    ask: { ...read, ...unsigned },
  }),
  mayNot('but not those that were taken away meanwhile', {
    given: given(
      'ObjectWriter',
      write({ vendor: { acl: 'public-read' } }),
      putOwnership('BucketOwnerEnforced'),
      setList({ acl: 'private' }),
      putOwnership('ObjectWriter'),
    ),
    ask: { ...read, ...unsigned },
  }),
  mayNot('a copy has not the list of its source', {
    given: given('ObjectWriter', write({ vendor: { acl: 'public-read' } }), {
      method: 'PUT',
      key: 'copy',
      vendor: { 'copy-source': '/wire/a' },
    }),
    ask: { ...read, key: 'copy', ...unsigned },
  }),
  mayNot('an overwrite has not the list of what was there', {
    given: given('ObjectWriter', write({ vendor: { acl: 'public-read' } }), write()),
    ask: { ...read, ...unsigned },
  }),
  may('an upload in parts has the list of its beginning', {
    given: async (wire) => {
      await ownedBy('ObjectWriter')(wire)
      const begun = await wire.must({ method: 'POST', key, query: { uploads: '' }, vendor: { acl: 'public-read' } })
      const uploadId = textIn(begun, 'UploadId')
      const etag = await putPart(wire, uploadId, 1, 'data', {}, key)
      await wire.must({ method: 'POST', key, query: { uploadId }, body: completeDocument([[1, etag]]) })
    },
    ask: { ...read, ...unsigned },
    body: 'data',
  }),
  mayNot('the owner of the bucket reads nothing of another writer', {
    given: ofOther('ObjectWriter'),
    ask: read,
  }),
  may('the writer does', { given: ofOther('ObjectWriter'), ask: { ...read, ...byOther } }),
  may('the owner of the bucket reads what the writer gives him', {
    given: ofOther('ObjectWriter', { acl: 'bucket-owner-read' }),
    ask: read,
  }),
  may('under BucketOwnerEnforced he reads all', { given: ofOther(undefined), ask: read }),
  mayNot('and the writer reads nothing', { given: ofOther(undefined), ask: { ...read, ...byOther } }),
  mayNot('a policy gives away nothing of another writer', {
    given: ofOther(
      'ObjectWriter',
      {},
      {
        method: 'PUT',
        query: { policy: '' },
        body: mayWrite.replace('s3:PutObject', 's3:GetObject'),
      },
    ),
    ask: { ...read, ...unsigned },
  }),
  {
    it: 'what is missing is missing to whoever may list the bucket',
    ...refusal('NoSuchKey', { Key: 'a' }),
    given: given('ObjectWriter', setList({ acl: 'public-read' }, '')),
    ask: { ...read, ...unsigned },
  },
  mayNot('and denied to whoever may not', { given: given('ObjectWriter'), ask: { ...read, ...unsigned } }),
  {
    it: 'missing to whoever a policy lets list the prefix that the key has',
    ...refusal('NoSuchKey', { Key: 'a' }),
    given: given('ObjectWriter', mayList('a*')),
    ask: { ...read, ...unsigned },
  },
  mayNot('and denied to whoever may list another prefix', {
    given: given('ObjectWriter', mayList('b*')),
    ask: { ...read, ...unsigned },
  }),
  {
    it: 'tells the owner what is wrong with his request',
    ...refusal('InvalidArgument'),
    given: given('ObjectWriter', write()),
    ask: { ...read, query: { versionId: 'x' } },
  },
])

/** Whose the object is, as lists and its own list say. */
const owners =
  (owner: string) =>
  async (wire: Wire): Promise<void> => {
    const shown = owner === 'other' ? byOther : {}
    const asks: readonly Ask[] = [
      { method: 'GET' },
      { method: 'GET', query: { 'list-type': '2', 'fetch-owner': 'true' } },
      { method: 'GET', query: { versions: '' } },
      { ...read, query: { acl: '' }, ...shown },
    ]
    const texts = await Promise.all(asks.map(async (ask) => (await wire.must(ask)).body.toString()))
    for (const text of texts) expect(/<Owner><ID>([^<]*)</.exec(text)?.[1]).toBe(owner)
  }
const writable = (ownership: Ownership | undefined): Given =>
  given(ownership, { method: 'PUT', query: { policy: '' }, body: mayWrite })
const full = { acl: 'bucket-owner-full-control' }

wireTests('PutObject', [
  may('what another account writes is its own under ObjectWriter', {
    given: writable('ObjectWriter'),
    ask: write(byOther),
    afterwards: owners('other'),
  }),
  may('also when it gives the owner of the bucket full control', {
    given: writable('ObjectWriter'),
    ask: write({ ...byOther, vendor: full }),
    afterwards: async (wire) => {
      await owners('other')(wire)
      expect(await grantsOf(wire, { key })).toEqual(['other FULL_CONTROL', 'main FULL_CONTROL'])
    },
  }),
  may('is its own under BucketOwnerPreferred', {
    given: writable('BucketOwnerPreferred'),
    ask: write(byOther),
    afterwards: owners('other'),
  }),
  may('and the owner’s of the bucket when it says so', {
    given: writable('BucketOwnerPreferred'),
    ask: write({ ...byOther, vendor: full }),
    afterwards: async (wire) => {
      await owners('main')(wire)
      expect(await grantsOf(wire, { key })).toEqual(['main FULL_CONTROL'])
    },
  }),
  may('is the owner’s of the bucket under BucketOwnerEnforced', {
    given: writable(undefined),
    ask: write(byOther),
    afterwards: owners('main'),
  }),
  may('may say so there, too, though there are no lists', {
    given: writable(undefined),
    ask: write({ ...byOther, vendor: full }),
    afterwards: owners('main'),
  }),
  {
    it: 'but no other list',
    ...refusal('AccessControlListNotSupported', {}),
    given: writable(undefined),
    ask: write({ ...byOther, vendor: { acl: 'public-read' } }),
  },
  mayNot('a policy may ask for that list', {
    given: given('BucketOwnerPreferred', { method: 'PUT', query: { policy: '' }, body: mayWriteFull }),
    ask: write(byOther),
  }),
  may('and admit it', {
    given: given('BucketOwnerPreferred', { method: 'PUT', query: { policy: '' }, body: mayWriteFull }),
    ask: write({ ...byOther, vendor: full }),
  }),
  mayNot('a policy may forbid lists', {
    given: given('ObjectWriter', {
      method: 'PUT',
      query: { policy: '' },
      body: mayWrite.replace('Allow', 'Deny').replace('s3:PutObject', 's3:PutObjectAcl'),
    }),
    ask: write({ vendor: { acl: 'public-read' } }),
  }),
  may('whoever may write by the list of the bucket writes', {
    given: given('ObjectWriter', setList({ 'grant-write': 'id=other' }, '')),
    ask: write(byOther),
  }),
  mayNot('whoever may read by it does not', {
    given: given('ObjectWriter', setList({ 'grant-read': 'id=other' }, '')),
    ask: write(byOther),
  }),
  may('nobody at all writes where everybody may', {
    given: given('ObjectWriter', setList({ acl: 'public-read-write' }, '')),
    ask: write(unsigned),
    afterwards: async (wire) => {
      expect((await wire.must({ method: 'GET' })).body.toString()).toContain(
        '<Owner><ID>65a011a29cdf8ec533ec3d1ccaae921c<',
      )
      expect((await wire.ask(read)).status).toBe(403)
    },
  }),
  {
    it: 'refuses a public list where those are blocked, and stores nothing',
    ...denied,
    given: given('ObjectWriter', putBlock('BlockPublicAcls')),
    ask: write({ vendor: { acl: 'public-read' } }),
    afterwards: async (wire) => expect((await wire.ask(read)).status).toBe(404),
  },
])

/** Nothing but the names of its fields says which dialect a form speaks. */
const post = (form: Record<string, string> = {}): Ask => ({
  method: 'POST',
  form: { key, '{{prefix}}meta-a': 'b', ...form },
  body: 'data',
  ...unsigned,
})
const isStored = async (wire: Wire): Promise<void> =>
  expect((await wire.must({ ...read, ...unsigned })).body.toString()).toBe('data')
const isNotThere = async (wire: Wire): Promise<void> =>
  expect((await wire.ask({ method: 'HEAD', key })).status).toBe(404)
const publicly = setList({ acl: 'public-read-write' }, '')
const readAndWrite = mayWrite.replace('"s3:PutObject"', '["s3:PutObject","s3:GetObject"]')

wireTests('PostObject', [
  may('a form that nobody signed writes where a policy lets everybody', {
    status: 204,
    given: given(undefined, { method: 'PUT', query: { policy: '' }, body: readAndWrite }),
    ask: post(),
    afterwards: isStored,
  }),
  may('and says what the object is', {
    status: 201,
    given: given(undefined, { method: 'PUT', query: { policy: '' }, body: readAndWrite }),
    ask: post({ success_action_status: '201', 'Content-Type': 'text/x-form' }),
    afterwards: async (wire) => {
      expect((await wire.must({ method: 'HEAD', key })).headers.get('content-type')).toBe('text/x-form')
    },
  }),
  may('or where the list of the bucket lets everybody', {
    status: 204,
    given: given('ObjectWriter', publicly),
    ask: post(),
    afterwards: async (wire) => expect((await wire.must({ method: 'GET' })).body.toString()).toContain('<Key>a<'),
  }),
  mayNot('nowhere else', { given: given('ObjectWriter'), ask: post(), afterwards: isNotThere }),
  mayNot('not by a list that does not count', {
    given: given('ObjectWriter', publicly, putBlock('IgnorePublicAcls')),
    ask: post(),
    afterwards: isNotThere,
  }),
  mayNot('not under another key than the policy opens', {
    given: given(undefined, { method: 'PUT', query: { policy: '' }, body: mayWrite.replace('/*', '/in/*') }),
    ask: post(),
    afterwards: isNotThere,
  }),
  ...['policy', '{{prefix}}signature', '{{prefix}}security-token'].map((name) =>
    mayNot(`not with ${name} alone, which says that somebody signed`, {
      given: given('ObjectWriter', publicly),
      ask: post({ [name]: 'e30=' }),
      afterwards: isNotThere,
    }),
  ),
  may('a form that is signed gives its object a list', {
    status: 204,
    given: given('ObjectWriter'),
    ask: { method: 'POST', form: { key, acl: 'public-read' }, body: 'data' },
    afterwards: isStored,
  }),
  may('or grants', {
    status: 204,
    given: given('ObjectWriter'),
    ask: { method: 'POST', form: { key }, vendor: { 'grant-read': 'id="other"' }, body: 'data' },
    afterwards: async (wire) => expect(await grantsOf(wire, { key })).toEqual(['other READ']),
  }),
])

wireTests('GetObjectAcl', [
  may('the writer reads the list of its object', {
    given: ofOther('ObjectWriter'),
    ask: { ...read, query: { acl: '' }, ...byOther },
  }),
  mayNot('the owner of the bucket does not', { given: ofOther('ObjectWriter'), ask: { ...read, query: { acl: '' } } }),
  may('but where it is granted to him', {
    given: ofOther('ObjectWriter', { 'grant-read-acp': 'id=main' }),
    ask: { ...read, query: { acl: '' } },
  }),
])

wireTests('PutObjectAcl', [
  may('the writer opens its object', {
    given: ofOther('ObjectWriter'),
    ask: { ...setList({ acl: 'public-read' }), ...byOther },
    afterwards: async (wire) => expect((await wire.ask({ ...read, ...unsigned })).status).toBe(200),
  }),
  mayNot('the owner of the bucket does not', { given: ofOther('ObjectWriter'), ask: setList({ acl: 'public-read' }) }),
  may('whoever may write the list sets it', {
    given: given('ObjectWriter', write({ vendor: { 'grant-write-acp': 'id=other' } })),
    ask: {
      ...putDocument({ acl: '' }, policy(grant(user('other'), 'READ')), key),
      ...byOther,
    },
    afterwards: async (wire) => expect(await grantsOf(wire, { key })).toEqual(['other READ']),
  }),
])

const mayRemove = setList({ 'grant-write': 'id=other', 'grant-read': 'id=other' }, '')

wireTests('DeleteObject', [
  may('the owner of the bucket removes what another wrote', {
    given: ofOther('ObjectWriter'),
    ask: { method: 'DELETE', key },
    status: 204,
  }),
  may('who may write into the bucket removes what is his', {
    given: ofOther('ObjectWriter', {}, mayRemove),
    ask: { method: 'DELETE', key, ...byOther },
    status: 204,
  }),
  mayNot('and nothing else', {
    given: given('ObjectWriter', write(), mayRemove),
    ask: { method: 'DELETE', key, ...byOther },
    afterwards: async (wire) => expect((await wire.ask(read)).status).toBe(200),
  }),
  may('nor a marker in place of what is not his', {
    given: async (wire) => {
      await enabled(wire)
      await given('ObjectWriter', write(), mayRemove)(wire)
    },
    ask: { method: 'DELETE', key, ...byOther },
    ...denied,
  }),
])

wireTests('ListMultipartUploads', [
  may('an upload belongs to who began it', {
    given: given('ObjectWriter', setList({ 'grant-write': 'id=other' }, ''), {
      method: 'POST',
      key,
      query: { uploads: '' },
      ...byOther,
    }),
    ask: { method: 'GET', query: { uploads: '' } },
    afterwards: async (_, { body }) => expect(body.toString()).toContain('<Owner><ID>other<'),
  }),
])

const forbids = (condition: string): Ask => ({
  method: 'PUT',
  query: { policy: '' },
  body: mayWrite
    .replace('"Allow"', '"Deny"')
    .replace('"Action"', `"Condition":{"StringLike":{"${condition}":"*"}},"Action"`),
})

wireTests(
  'PutObject',
  ['full-control', 'read', 'read-acp', 'write-acp'].map((name) =>
    mayNot(`a policy may forbid grant-${name}`, {
      given: given('ObjectWriter', write(), forbids(`s3:x-amz-grant-${name}`)),
      ask: write({ vendor: { [`grant-${name}`]: 'id=other' } }),
      afterwards: async (wire) => {
        await wire.must(write())
        expect(await grantsOf(wire, { key })).toEqual(['main FULL_CONTROL'])
      },
    }),
  ),
)

const both = '<Delete><Object><Key>a</Key></Object><Object><Key>own</Key></Object></Delete>'

wireTests('DeleteObjects', [
  may('each is asked for by itself', {
    given: ofOther('ObjectWriter', {}, write(), write({ key: 'own', ...byOther }), mayRemove),
    ask: { method: 'POST', query: { delete: '' }, body: both, headers: { 'Content-MD5': md5Base64(both) }, ...byOther },
    afterwards: async (wire, { body }) => {
      expect(body.toString()).toMatch(/<Deleted><Key>own<.*<Error><Key>a<\/Key><Code>AccessDenied</)
      expect((await wire.ask(read)).status).toBe(200)
    },
  }),
])

wireTests('ListObjectsV2', [
  may('the list of the bucket opens its listing', {
    given: given('ObjectWriter', setList({ acl: 'public-read' }, '')),
    ask: { method: 'GET', query: { 'list-type': '2' }, ...unsigned },
  }),
  mayNot('no list opens nothing', {
    given: given('ObjectWriter'),
    ask: { method: 'GET', query: { 'list-type': '2' }, ...unsigned },
    vendor: { 'bucket-region': 'us-east-1' },
  }),
])
