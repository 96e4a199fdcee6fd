/** CreateBucket over the wire. What is wrong with names and documents is in bad-input. */
import { CreateBucketCommand } from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import { grantsOf } from '../support/wire-acl.ts'
import type { Ask, Reply, Wire } from '../support/wire-client.ts'
import { type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import { otherKey } from '../support/wire-server.ts'

const configuration = (inside: string): string => `<CreateBucketConfiguration>${inside}</CreateBucketConfiguration>`
const located = (constraint: string): string => configuration(`<LocationConstraint>${constraint}</LocationConstraint>`)

const tags = (...pairs: [key: string, value: string][]): string =>
  `<Tags>${pairs.map(([key, value]) => `<Tag><Key>${key}</Key><Value>${value}</Value></Tag>`).join('')}</Tags>`

const made = { status: 200, headers: { Location: '/wire', 'Content-Length': '0' }, withoutBucket: true }

const isThere = async (wire: Wire): Promise<void> => {
  expect((await wire.ask({ method: 'HEAD' })).status).toBe(200)
}
const isNotThere = async (wire: Wire): Promise<void> => {
  expect((await wire.ask({ method: 'HEAD' })).status).toBe(404)
}
const answersLocation =
  (location: string) =>
  async (wire: Wire): Promise<void> => {
    const reply: Reply = await wire.must({ method: 'GET', query: { location: '' } })
    expect(reply.body.toString()).toContain(`>${location}</LocationConstraint>`)
  }

const lockedAndTagged: Ask = {
  method: 'PUT',
  vendor: { 'bucket-object-lock-enabled': 'true' },
  body: configuration(tags(['a', '1'], ['b', ''])),
}

const isPlain = async (wire: Wire): Promise<void> => {
  await answersLocation('')(wire)
  expect((await wire.ask({ method: 'GET', query: { 'object-lock': '' } })).status).toBe(404)
  expect((await wire.ask({ method: 'GET', query: { tagging: '' } })).status).toBe(404)
}

const rows: Row[] = [
  {
    it: 'makes a bucket without a body',
    proves: ['CreateBucket: the bucket exists, and Location names it', 'the body of an answer is empty unless stated'],
    ...made,
    ask: { method: 'PUT' },
    afterwards: isThere,
    sdk: sdk(CreateBucketCommand, { Bucket: 'wire' }, { Location: '/wire' }),
  },
  {
    it: 'makes a bucket in a location, which GetBucketLocation then answers',
    ...made,
    ask: { method: 'PUT', body: located('default') },
    afterwards: answersLocation('default'),
    sdk: sdk(
      CreateBucketCommand,
      { Bucket: 'wire', CreateBucketConfiguration: { LocationConstraint: 'default' as 'eu-west-1' } },
      { Location: '/wire' },
    ),
  },
  {
    it: 'takes the name of a cloud region for the default location, and answers it as it was given',
    proves: ['element:CreateBucketConfiguration/LocationConstraint'],
    ...made,
    ask: { method: 'PUT', body: located('eu-west-1') },
    afterwards: answersLocation('eu-west-1'),
    sdk: sdk(CreateBucketCommand, { Bucket: 'wire', CreateBucketConfiguration: { LocationConstraint: 'eu-west-1' } }),
  },
  {
    it: 'takes an empty configuration for none',
    ...made,
    ask: { method: 'PUT', body: configuration('') },
    afterwards: answersLocation(''),
    sdk: sdk(CreateBucketCommand, { Bucket: 'wire', CreateBucketConfiguration: {} }),
  },
  {
    it: 'accepts a document in S3 namespace in either dialect',
    ...made,
    ask: {
      method: 'PUT',
      body: '<?xml version="1.0" encoding="UTF-8"?><CreateBucketConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><LocationConstraint>EU</LocationConstraint></CreateBucketConfiguration>',
    },
    afterwards: answersLocation('EU'),
  },
  {
    it: 'refuses a location that is not configured',
    withoutBucket: true,
    ...refusal('InvalidLocationConstraint', { LocationConstraint: 'mars' }),
    ask: { method: 'PUT', body: located('mars') },
    afterwards: isNotThere,
    sdk: sdk(CreateBucketCommand, {
      Bucket: 'wire',
      CreateBucketConfiguration: { LocationConstraint: 'mars' as 'eu-west-1' },
    }),
  },
  {
    it: 'answers its owner the second time as the first, where the region is us-east-1',
    status: 200,
    headers: { Location: '/wire', 'Content-Length': '0' },
    given: async (wire) => {
      await wire.must({ method: 'PUT', key: 'kept', body: 'x' })
    },
    ask: { method: 'PUT' },
    afterwards: async (wire) => {
      expect((await wire.ask({ method: 'HEAD', key: 'kept' })).status).toBe(200)
    },
    sdk: sdk(CreateBucketCommand, { Bucket: 'wire' }, { Location: '/wire' }),
  },
  {
    it: 'answers its owner the second time where all that it asks for is there: lock and tags',
    status: 200,
    withoutBucket: true,
    given: async (wire) => {
      await wire.must(lockedAndTagged)
    },
    ask: lockedAndTagged,
  },
  {
    it: 'answers BucketAlreadyOwnedByYou to its owner who asks for the same location again, as S3 does outside us-east-1',
    ...refusal('BucketAlreadyOwnedByYou', { BucketName: 'wire' }),
    message: 'Your previous request to create the named bucket succeeded and you already own it.',
    withoutBucket: true,
    given: async (wire) => {
      await wire.must({ method: 'PUT', body: located('eu-west-1') })
    },
    ask: { method: 'PUT', body: located('eu-west-1') },
  },
  ...(
    [
      ['another location', { body: located('eu-west-1') }],
      ['Object Lock, which it does not have', { vendor: { 'bucket-object-lock-enabled': 'true' } }],
      ['tags that it does not have', { body: configuration(tags(['a', '1'])) }],
    ] as const
  ).map(
    ([what, more]): Row => ({
      it: `answers BucketAlreadyOwnedByYou to its owner who asks for ${what}, and changes nothing`,
      ...refusal('BucketAlreadyOwnedByYou', { BucketName: 'wire' }),
      ask: { method: 'PUT', ...more },
      afterwards: isPlain,
    }),
  ),
  ...(
    [
      ['without Object Lock', {}],
      ['without Object Lock, said so', { vendor: { 'bucket-object-lock-enabled': 'false' } }],
    ] as const
  ).map(
    ([what, more]): Row => ({
      it: `answers BucketAlreadyOwnedByYou to who asks for a locked bucket ${what}`,
      withoutBucket: true,
      ...refusal('BucketAlreadyOwnedByYou', { BucketName: 'wire' }),
      given: async (wire) => {
        await wire.must({ method: 'PUT', vendor: { 'bucket-object-lock-enabled': 'true' } })
      },
      ask: { method: 'PUT', ...more },
    }),
  ),
  {
    it: 'answers BucketAlreadyExists to another account',
    ...refusal('BucketAlreadyExists', { BucketName: 'wire' }),
    ask: { method: 'PUT', signedBy: otherKey },
  },
  {
    it: 'leaves a bucket as it was when it is made again',
    ...refusal('BucketAlreadyOwnedByYou'),
    given: async (wire) => {
      await wire.must({ method: 'PUT', key: 'kept', body: 'x' })
    },
    ask: { method: 'PUT', body: located('eu-west-1') },
    afterwards: async (wire) => {
      await answersLocation('')(wire)
      expect((await wire.ask({ method: 'HEAD', key: 'kept' })).status).toBe(200)
    },
  },
  ...['private', 'bucket-owner-full-control'].map(
    (acl): Row => ({
      it: `accepts acl ${acl}, which changes nothing`,
      ...made,
      ask: { method: 'PUT', vendor: { acl } },
    }),
  ),
  {
    it: 'accepts acl private from the SDK',
    ...made,
    ask: { method: 'PUT', vendor: { acl: 'private' } },
    sdk: sdk(CreateBucketCommand, { Bucket: 'wire', ACL: 'private' }),
  },
  ...['public-read', 'public-read-write', 'authenticated-read', 'log-delivery-write'].map(
    (acl): Row => ({
      it: `refuses acl ${acl}`,
      withoutBucket: true,
      ...refusal('InvalidBucketAclWithObjectOwnership', {}),
      ask: { method: 'PUT', vendor: { acl } },
      afterwards: isNotThere,
      sdk: sdk(CreateBucketCommand, { Bucket: 'wire', ACL: acl as 'public-read' }),
    }),
  ),
  ...['full-control', 'read', 'read-acp', 'write', 'write-acp'].map(
    (grant): Row => ({
      it: `refuses grant-${grant}`,
      withoutBucket: true,
      ...refusal('InvalidBucketAclWithObjectOwnership', {}),
      ask: { method: 'PUT', vendor: { [`grant-${grant}`]: 'id=main' } },
      afterwards: isNotThere,
    }),
  ),
  {
    it: 'turns versioning on with Object Lock',
    ...made,
    ask: { method: 'PUT', vendor: { 'bucket-object-lock-enabled': 'true' } },
    afterwards: async (wire) => {
      const { body } = await wire.must({ method: 'GET', query: { versioning: '' } })
      expect(body.toString()).toContain('<Status>Enabled</Status>')
    },
    sdk: sdk(CreateBucketCommand, { Bucket: 'wire', ObjectLockEnabledForBucket: true }),
  },
  {
    it: 'accepts Object Lock switched off',
    ...made,
    ask: { method: 'PUT', vendor: { 'bucket-object-lock-enabled': 'false' } },
    sdk: sdk(CreateBucketCommand, { Bucket: 'wire', ObjectLockEnabledForBucket: false }),
  },
  {
    it: 'refuses Object Lock that is neither on nor off',
    withoutBucket: true,
    ...refusal('InvalidArgument', {
      ArgumentName: '{{prefix}}bucket-object-lock-enabled',
      ArgumentValue: 'perhaps',
    }),
    ask: { method: 'PUT', vendor: { 'bucket-object-lock-enabled': 'perhaps' } },
  },
  {
    it: 'accepts object ownership without access control lists',
    ...made,
    ask: { method: 'PUT', vendor: { 'object-ownership': 'BucketOwnerEnforced' } },
    sdk: sdk(CreateBucketCommand, { Bucket: 'wire', ObjectOwnership: 'BucketOwnerEnforced' }),
  },
  ...(['BucketOwnerPreferred', 'ObjectWriter'] as const).map(
    (ownership): Row => ({
      it: `makes a bucket with access control lists: ${ownership}, and a list of its own`,
      proves: ['vendor:object-ownership', 'vendor:acl'],
      ...made,
      ask: { method: 'PUT', vendor: { 'object-ownership': ownership, acl: 'public-read' } },
      afterwards: async (wire) => {
        const ask = (query: Record<string, string>) => wire.must({ method: 'GET', query })
        expect((await ask({ ownershipControls: '' })).body.toString()).toContain(`>${ownership}<`)
        expect((await ask({ acl: '' })).body.toString()).toContain('/groups/global/AllUsers</URI>')
      },
      sdk: sdk(CreateBucketCommand, { Bucket: 'wire', ObjectOwnership: ownership, ACL: 'public-read' }),
    }),
  ),
  {
    it: 'takes grants in headers',
    ...made,
    ask: { method: 'PUT', vendor: { 'object-ownership': 'ObjectWriter', 'grant-read': 'id=other, id="main"' } },
    afterwards: async (wire) => {
      const list = (await wire.must({ method: 'GET', query: { acl: '' } })).body.toString()
      expect(
        [...list.matchAll(/<ID>(\w+)<\/ID><DisplayName>\w+<\/DisplayName><\/Grantee>/g)].map(([, id]) => id),
      ).toEqual(['other', 'main'])
    },
  },
  ...Object.entries({
    'grant-full-control': 'FULL_CONTROL',
    'grant-read': 'READ',
    'grant-read-acp': 'READ_ACP',
    'grant-write': 'WRITE',
    'grant-write-acp': 'WRITE_ACP',
  }).map(
    ([name, permission]): Row => ({
      it: `grants another account ${permission} by ${name}`,
      proves: [`vendor:${name}`],
      ...made,
      ask: { method: 'PUT', vendor: { 'object-ownership': 'ObjectWriter', [name]: 'id=other' } },
      afterwards: async (wire) => expect(await grantsOf(wire)).toEqual([`other ${permission}`]),
    }),
  ),
  {
    it: 'takes the global namespace, which every bucket is in',
    proves: ['vendor:bucket-namespace'],
    ...made,
    ask: { method: 'PUT', vendor: { 'bucket-namespace': 'global' } },
    afterwards: isThere,
  },
  {
    it: 'refuses the namespace of an account in a region, and makes no bucket',
    withoutBucket: true,
    ...refusal('NotImplemented'),
    ask: { method: 'PUT', vendor: { 'bucket-namespace': 'account-regional' } },
    afterwards: isNotThere,
  },
  {
    it: 'refuses object ownership that there is none of',
    withoutBucket: true,
    ...refusal('InvalidArgument', { ArgumentName: '{{prefix}}object-ownership', ArgumentValue: 'Nobody' }),
    message: 'Invalid {{prefix}}object-ownership header: Nobody',
    ask: { method: 'PUT', vendor: { 'object-ownership': 'Nobody' } },
  },
  {
    it: 'refuses a list to an account that there is none of',
    withoutBucket: true,
    ...refusal('InvalidArgument', { ArgumentName: 'CanonicalUser/ID', ArgumentValue: 'nobody' }),
    ask: { method: 'PUT', vendor: { 'object-ownership': 'ObjectWriter', 'grant-read': 'id=nobody' } },
    afterwards: isNotThere,
  },
  {
    it: 'refuses a directory bucket by name',
    withoutBucket: true,
    ...refusal('NotImplemented', { NotImplemented: 'CreateBucketConfiguration/Location' }),
    ask: {
      method: 'PUT',
      body: configuration('<Location><Name>use1-az4</Name><Type>AvailabilityZone</Type></Location>'),
    },
    sdk: sdk(CreateBucketCommand, {
      Bucket: 'wire',
      CreateBucketConfiguration: { Location: { Name: 'use1-az4', Type: 'AvailabilityZone' } },
    }),
  },
  {
    it: 'refuses a data redundancy by name',
    withoutBucket: true,
    ...refusal('NotImplemented', { NotImplemented: 'CreateBucketConfiguration/Bucket' }),
    ask: {
      method: 'PUT',
      body: configuration('<Bucket><DataRedundancy>SingleAvailabilityZone</DataRedundancy></Bucket>'),
    },
  },
  ...['<Location/>', '<Bucket/>', '<Location></Location>', '<Bucket><Type>Directory</Type></Bucket>'].map(
    (inside): Row => {
      const name = inside.startsWith('<L') ? 'Location' : 'Bucket'
      return {
        it: `refuses ${inside} by name`,
        withoutBucket: true,
        ...refusal('NotImplemented', { NotImplemented: `CreateBucketConfiguration/${name}` }),
        ask: { method: 'PUT', body: configuration(inside) },
        afterwards: isNotThere,
      }
    },
  ),
  {
    it: 'tags the bucket',
    proves: ['element:CreateBucketConfiguration/Tags/Tag/Key', 'element:CreateBucketConfiguration/Tags/Tag/Value'],
    ...made,
    ask: { method: 'PUT', body: configuration(tags(['a', '1'], ['b', ''])) },
    afterwards: async (wire) => {
      const { body } = await wire.must({ method: 'GET', query: { tagging: '' } })
      expect(body.toString()).toContain('<Tag><Key>a</Key><Value>1</Value></Tag><Tag><Key>b</Key><Value></Value></Tag>')
    },
    sdk: sdk(CreateBucketCommand, {
      Bucket: 'wire',
      CreateBucketConfiguration: { Tags: [{ Key: 'a', Value: '1' }] },
    }),
  },
  {
    it: 'takes no tags for none',
    ...made,
    ask: { method: 'PUT', body: configuration('<Tags/>') },
    afterwards: async (wire) => {
      expect((await wire.ask({ method: 'GET', query: { tagging: '' } })).status).toBe(404)
    },
  },
  {
    it: 'refuses a tag twice, and makes no bucket',
    withoutBucket: true,
    ...refusal('InvalidTag', { TagKey: 'a' }),
    ask: { method: 'PUT', body: configuration(tags(['a', '1'], ['a', '2'])) },
    afterwards: isNotThere,
  },
]

wireTests('CreateBucket', [
  ...rows,
  {
    it: 'ignores whose the bucket is expected to be, as in S3',
    status: 200,
    ask: { method: 'PUT', vendor: { 'expected-bucket-owner': 'nobody' } },
  },
])

wireTests(
  'CreateBucket',
  [
    {
      it: 'answers BucketAlreadyOwnedByYou to its owner the second time, in any other region',
      ...refusal('BucketAlreadyOwnedByYou', { BucketName: 'wire' }),
      ask: { method: 'PUT' },
      sdk: sdk(CreateBucketCommand, { Bucket: 'wire' }),
    },
  ],
  { region: 'eu-central-1' },
)
