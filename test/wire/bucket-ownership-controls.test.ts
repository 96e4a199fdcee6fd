/** PutBucketOwnershipControls, GetBucketOwnershipControls and DeleteBucketOwnershipControls over the wire. */
import {
  DeleteBucketOwnershipControlsCommand,
  GetBucketOwnershipControlsCommand,
  PutBucketOwnershipControlsCommand,
} from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import { everyone, grant, grantsOf, ownedBy, owners, policy, putOwnership } from '../support/wire-acl.ts'
import { md5Base64 } from '../support/wire-checksums.ts'
import type { Ask, Wire } from '../support/wire-client.ts'
import { documentRows, putDocument } from '../support/wire-documents.ts'
import { type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import { otherKey } from '../support/wire-server.ts'
import { ownerRows } from '../support/wire-versions.ts'
import { readXml } from '../support/wire-xml.ts'

const Bucket = 'wire'
const query = { ownershipControls: '' }
const get: Ask = { method: 'GET', query }
const remove: Ask = { method: 'DELETE', query }
const values = ['BucketOwnerEnforced', 'BucketOwnerPreferred', 'ObjectWriter'] as const
const rule = (value: string) => `<Rule><ObjectOwnership>${value}</ObjectOwnership></Rule>`
const put = (rules: string) => putDocument(query, `<OwnershipControls>${rules}</OwnershipControls>`)

const holds =
  (ObjectOwnership: string) =>
  async (wire: Wire): Promise<void> =>
    expect(readXml((await wire.must(get)).body).value).toEqual({ Rule: { ObjectOwnership } })

const openToWriters = JSON.stringify({
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Principal: '*', Action: 's3:PutObject', Resource: 'arn:aws:s3:::wire/*' }],
})
const enforcingOnly = JSON.stringify({
  Version: '2012-10-17',
  Statement: [
    {
      Effect: 'Allow',
      Principal: { AWS: 'other' },
      Action: 's3:PutBucketOwnershipControls',
      Resource: 'arn:aws:s3:::wire',
      Condition: { StringEquals: { 's3:x-amz-object-ownership': 'BucketOwnerEnforced' } },
    },
  ],
})
const allowEnforcing = async (wire: Wire): Promise<void> => {
  await wire.must(putOwnership('ObjectWriter'))
  await wire.must({ method: 'PUT', query: { policy: '' }, body: enforcingOnly })
}
const putAcl = (grants: string) => putDocument({ acl: '' }, policy(grants))

wireTests('PutBucketOwnershipControls', [
  ...values.map(
    (ObjectOwnership): Row => ({
      it: `takes ${ObjectOwnership}`,
      status: 200,
      ask: put(rule(ObjectOwnership)),
      vendor: {},
      body: '',
      afterwards: holds(ObjectOwnership),
      sdk: sdk(PutBucketOwnershipControlsCommand, { Bucket, OwnershipControls: { Rules: [{ ObjectOwnership }] } }),
    }),
  ),
  {
    it: 'takes BucketOwnerEnforced back',
    status: 200,
    given: ownedBy('ObjectWriter'),
    ask: put(rule('BucketOwnerEnforced')),
    afterwards: holds('BucketOwnerEnforced'),
  },
  {
    it: 'takes BucketOwnerEnforced where the list of the bucket gives something to its owner alone',
    status: 200,
    given: async (wire) => {
      await ownedBy('ObjectWriter')(wire)
      await wire.must(putAcl(grant(owners, 'READ')))
    },
    ask: put(rule('BucketOwnerEnforced')),
    afterwards: async (wire) => expect(await grantsOf(wire)).toEqual(['main FULL_CONTROL']),
  },
  {
    it: 'refuses BucketOwnerEnforced as long as the list of the bucket gives something to others',
    ...refusal('InvalidBucketAclWithObjectOwnership', {}),
    given: async (wire) => {
      await ownedBy('ObjectWriter')(wire)
      await wire.must(putAcl(grant(everyone, 'READ')))
    },
    ask: put(rule('BucketOwnerEnforced')),
    afterwards: holds('ObjectWriter'),
  },
  ...(
    [
      ['BucketOwnerEnforced', 'main'],
      ['ObjectWriter', 'other'],
    ] as const
  ).map(
    ([ownership, owner]): Row => ({
      it: `gives what another account writes to ${owner} under ${ownership}`,
      proves: ['element:OwnershipControls/Rule/ObjectOwnership'],
      status: 200,
      given: async (wire) => void (await wire.must({ method: 'PUT', query: { policy: '' }, body: openToWriters })),
      ask: put(rule(ownership)),
      afterwards: async (wire) => {
        const headers = { 'Content-MD5': md5Base64('x') }
        await wire.must({ method: 'PUT', key: 'a', body: 'x', signedBy: otherKey, headers })
        const page = (await wire.must({ method: 'GET' })).body.toString()
        expect(/<Owner><ID>(\w+)</.exec(page)?.[1]).toBe(owner)
      },
    }),
  ),
  {
    it: 'compares what the document asks for with the condition of a policy',
    status: 200,
    given: allowEnforcing,
    ask: { ...put(rule('BucketOwnerEnforced')), signedBy: otherKey },
    afterwards: holds('BucketOwnerEnforced'),
  },
  {
    it: 'refuses what a policy does not allow in the document',
    ...refusal('AccessDenied', {}),
    given: allowEnforcing,
    ask: { ...put(rule('BucketOwnerPreferred')), signedBy: otherKey },
    afterwards: holds('ObjectWriter'),
  },
  ...['', '<Rule/>', rule('Nobody'), rule('ObjectWriter') + rule('ObjectWriter')].map(
    (document): Row => ({
      it: `refuses as malformed: ${document}`,
      ...refusal('MalformedXML'),
      ask: put(document),
      afterwards: holds('BucketOwnerEnforced'),
    }),
  ),
  ...documentRows(put(rule('ObjectWriter')), undefined, holds('BucketOwnerEnforced'), { digestRequired: false }),
  ...ownerRows(put(rule('ObjectWriter'))),
])

wireTests('GetBucketOwnershipControls', [
  {
    it: 'answers that the owner of a new bucket owns all',
    status: 200,
    ask: get,
    vendor: {},
    xml: { OwnershipControls: { Rule: { ObjectOwnership: 'BucketOwnerEnforced' } } },
    sdk: sdk(
      GetBucketOwnershipControlsCommand,
      { Bucket },
      { OwnershipControls: { Rules: [{ ObjectOwnership: 'BucketOwnerEnforced' }] } },
    ),
  },
  {
    it: 'answers what was set',
    status: 200,
    given: ownedBy('BucketOwnerPreferred'),
    ask: get,
    xml: { OwnershipControls: { Rule: { ObjectOwnership: 'BucketOwnerPreferred' } } },
  },
  {
    it: 'answers an error where it was removed',
    ...refusal('OwnershipControlsNotFoundError', { BucketName: 'wire' }),
    given: async (wire) => void (await wire.must(remove)),
    ask: get,
    sdk: sdk(GetBucketOwnershipControlsCommand, { Bucket }),
  },
  ...ownerRows(get),
])

wireTests('DeleteBucketOwnershipControls', [
  {
    it: 'takes the setting away; the bucket then has access control lists',
    status: 204,
    ask: remove,
    vendor: {},
    body: '',
    afterwards: async (wire) => {
      expect((await wire.ask(get)).status).toBe(404)
      await wire.must({ method: 'PUT', query: { acl: '' }, vendor: { acl: 'public-read' } })
      expect((await wire.ask({ method: 'GET', unsigned: true })).status).toBe(200)
      await wire.must(putOwnership('ObjectWriter'))
    },
    sdk: sdk(DeleteBucketOwnershipControlsCommand, { Bucket }),
  },
  {
    it: 'takes it away a second time',
    status: 204,
    given: async (wire) => void (await wire.must(remove)),
    ask: remove,
  },
  {
    it: 'has no ownership that a policy could compare',
    ...refusal('AccessDenied', {}),
    given: allowEnforcing,
    ask: { ...remove, signedBy: otherKey },
    afterwards: holds('ObjectWriter'),
  },
  ...ownerRows(remove),
])
