/** Rows that PutBucketAcl and PutObjectAcl share where the bucket has access control lists: what is kept, and what is refused by name. */
import { expect } from 'vitest'
import { type AclTarget, byEmail, everyone, grant, grantsOf, group, ownedBy, owners, policy, user } from './wire-acl.ts'
import type { Ask, Wire } from './wire-client.ts'
import { putDocument } from './wire-documents.ts'
import { type Facts, type Row, refusal } from './wire-rows.ts'

const toOwner = 'main FULL_CONTROL'
const toEveryone = grant(everyone, 'READ')

/** By canned list: what it stands for. */
const canned: Readonly<Record<string, readonly string[]>> = {
  private: [toOwner],
  'public-read': [toOwner, 'AllUsers READ'],
  'public-read-write': [toOwner, 'AllUsers READ', 'AllUsers WRITE'],
  'authenticated-read': [toOwner, 'AuthenticatedUsers READ'],
  // The owner of the object is that of the bucket.
  'bucket-owner-read': [toOwner],
  'bucket-owner-full-control': [toOwner],
}

const inHeaders: readonly [vendor: Record<string, string>, grants: readonly string[]][] = [
  [{ 'grant-read': 'id=other' }, ['other READ']],
  [{ 'grant-full-control': 'id="main"', 'grant-write': 'id="other"' }, [toOwner, 'other WRITE']],
  [
    { 'grant-read-acp': 'ID="other", uri="http://acs.amazonaws.com/groups/global/AllUsers"' },
    ['other READ_ACP', 'AllUsers READ_ACP'],
  ],
  [
    { 'grant-write-acp': 'uri=http://acs.amazonaws.com/groups/global/AuthenticatedUsers' },
    ['AuthenticatedUsers WRITE_ACP'],
  ],
]

const inDocuments: readonly [grants: string, kept: readonly string[]][] = [
  [grant(owners) + grant(user('other'), 'READ'), [toOwner, 'other READ']],
  [toEveryone, ['AllUsers READ']],
  [grant(group('global/AuthenticatedUsers'), 'WRITE_ACP'), ['AuthenticatedUsers WRITE_ACP']],
  [grant(owners, 'READ'), ['main READ']],
  ['', []],
]

const many = (count: number): string => grant(user('other'), 'READ').repeat(count)

type Refused = [what: string, ask: Pick<Ask, 'vendor' | 'body'>, expected: ReturnType<typeof refusal>]

const document = (grants: string, owner?: string): Pick<Ask, 'body'> => ({
  body: owner === undefined ? policy(grants) : policy(grants, `<Owner><ID>${owner}</ID></Owner>`),
})
const argument = (ArgumentName: string, ArgumentValue: string): ReturnType<typeof refusal> =>
  refusal('InvalidArgument', { ArgumentName, ArgumentValue })
const byName = (NotImplemented: string): ReturnType<typeof refusal> => refusal('NotImplemented', { NotImplemented })

const refused: readonly Refused[] = [
  ['log-delivery-write', { vendor: { acl: 'log-delivery-write' } }, byName('acl log-delivery-write')],
  ['aws-exec-read', { vendor: { acl: 'aws-exec-read' } }, byName('acl aws-exec-read')],
  ['an unknown account', document(grant(user('nobody'), 'READ')), argument('CanonicalUser/ID', 'nobody')],
  [
    'an unknown group',
    document(grant(group('global/Nobody'), 'READ')),
    argument('Group/URI', 'http://acs.amazonaws.com/groups/global/Nobody'),
  ],
  ['the group of log delivery', document(grant(group('s3/LogDelivery'), 'WRITE')), byName('Grantee/URI=LogDelivery')],
  ['electronic mail', document(grant(byEmail, 'READ')), byName('Grantee/EmailAddress')],
  ['another owner', document(grant(owners), 'other'), refusal('AccessDenied', {})],
  ['101 grants', document(many(101)), refusal('MalformedACLError', {})],
  [
    '101 grants in a header',
    { vendor: { 'grant-read': Array(101).fill('id=other').join(',') } },
    refusal('InvalidRequest', {}),
  ],
  ['an unknown account in a header', { vendor: { 'grant-read': 'id=nobody' } }, argument('CanonicalUser/ID', 'nobody')],
  [
    'electronic mail in a header',
    { vendor: { 'grant-read': 'emailAddress="a@example.com"' } },
    byName('Grantee/EmailAddress'),
  ],
  ...['other', 'id', 'name=other', 'id=', 'id=a b', 'id="a', 'id=other,', ''].map(
    (value): Refused => [
      `a header of ${value === '' ? 'nothing' : value}`,
      { vendor: { 'grant-read': value } },
      argument('{{prefix}}grant-read', value),
    ],
  ),
  [
    'a canned list beside a grant',
    { vendor: { acl: 'private', 'grant-read': 'id=other' } },
    refusal('InvalidRequest', {}),
  ],
  [
    'a document beside a grant',
    { ...document(toEveryone), vendor: { 'grant-read': 'id=other' } },
    refusal('UnexpectedContent', {}),
  ],
]

export function listRows({ key = '', given, call }: AclTarget): Row[] {
  const query = { acl: '' }
  const prepare = async (wire: Wire): Promise<Facts> => {
    await ownedBy('ObjectWriter')(wire)
    return { ...(await given?.(wire)) }
  }
  const put = (more: Pick<Ask, 'vendor' | 'body'>): Ask =>
    more.body === undefined
      ? { method: 'PUT', key, query, ...more }
      : { ...putDocument(query, String(more.body), key), ...more }
  const holds = (grants: readonly string[]) => async (wire: Wire) =>
    expect(await grantsOf(wire, { key })).toEqual(grants)
  const accepted = { given: prepare, status: 200, vendor: {}, body: '' }
  return [
    ...Object.entries(canned).map(
      ([acl, grants]): Row => ({
        it: `keeps ${acl} where there are lists`,
        ...accepted,
        ask: put({ vendor: { acl } }),
        afterwards: holds(grants),
        ...(acl === 'public-read' ? { sdk: call({ ACL: acl }) } : {}),
      }),
    ),
    ...inHeaders.map(
      ([vendor, grants]): Row => ({
        it: `keeps ${JSON.stringify(vendor)} where there are lists`,
        proves: Object.keys(vendor).map((name) => `vendor:${name}`),
        ...accepted,
        ask: put({ vendor }),
        afterwards: holds(grants),
      }),
    ),
    ...inDocuments.map(
      ([grants, kept]): Row => ({
        it: `keeps the list [${kept.join(', ')}] of a document`,
        ...accepted,
        ask: put(document(grants)),
        afterwards: holds(kept),
      }),
    ),
    {
      it: 'keeps 100 grants',
      ...accepted,
      ask: put(document(many(100))),
      afterwards: holds(Array(100).fill('other READ')),
    },
    ...refused.map(
      ([what, ask, expected]): Row => ({
        it: `refuses ${what} where there are lists`,
        given: prepare,
        ...expected,
        ask: put(ask),
        afterwards: holds([toOwner]),
      }),
    ),
    ...['public-read', 'public-read-write', 'authenticated-read'].map(
      (acl): Row => ({
        it: `refuses ${acl} where public lists are blocked`,
        given: async (wire) => {
          const facts = await prepare(wire)
          await wire.must(blockPublicAcls)
          return facts
        },
        ...refusal('AccessDenied', {}),
        ask: put({ vendor: { acl } }),
        afterwards: holds([toOwner]),
      }),
    ),
  ]
}

export const putBlock = (...names: string[]): Ask =>
  putDocument(
    { publicAccessBlock: '' },
    `<PublicAccessBlockConfiguration>${names.map((name) => `<${name}>true</${name}>`).join('')}</PublicAccessBlockConfiguration>`,
  )
const blockPublicAcls = putBlock('BlockPublicAcls')
