/** The access control policy that everything here has, and the rows that PutBucketAcl and PutObjectAcl share: what changes nothing, and all that would. */
import type { AccessControlPolicy, Grant } from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import type { Ask, Wire } from './wire-client.ts'
import { type DocumentAsk, documentRows, putDocument } from './wire-documents.ts'
import { type Facts, type Row, refusal } from './wire-rows.ts'
import type { SdkCall } from './wire-sdk.ts'
import { readXml } from './wire-xml.ts'

const xsi = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'

export const ownersPolicy = {
  AccessControlPolicy: {
    Owner: { ID: 'main', DisplayName: 'Main' },
    AccessControlList: {
      Grant: {
        Grantee: { 'xsi:type': 'CanonicalUser', ID: 'main', DisplayName: 'Main' },
        Permission: 'FULL_CONTROL',
      },
    },
  },
}

/** The answer to a read where `public-read` was set. */
export const publicPolicy = {
  AccessControlPolicy: {
    ...ownersPolicy.AccessControlPolicy,
    AccessControlList: {
      Grant: [
        ownersPolicy.AccessControlPolicy.AccessControlList.Grant,
        {
          Grantee: { 'xsi:type': 'Group', URI: 'http://acs.amazonaws.com/groups/global/AllUsers' },
          Permission: 'READ',
        },
      ],
    },
  },
}

const sdkOwner = { ID: 'main', DisplayName: 'Main' }
const sdkGrant: Grant = { Grantee: { ...sdkOwner, Type: 'CanonicalUser' }, Permission: 'FULL_CONTROL' }
/** The policy as the AWS SDK reads it. */
export const sdkPolicy = { Owner: sdkOwner, Grants: [sdkGrant] }

export const user = (id: string, type = 'CanonicalUser') =>
  `<Grantee ${xsi} xsi:type="${type}"><ID>${id}</ID></Grantee>`
export const group = (name: string) =>
  `<Grantee ${xsi} xsi:type="Group"><URI>http://acs.amazonaws.com/groups/${name}</URI></Grantee>`
export const everyone = group('global/AllUsers')
export const byEmail = `<Grantee ${xsi} xsi:type="AmazonCustomerByEmail"><EmailAddress>a@example.com</EmailAddress></Grantee>`
export const grant = (grantee: string, permission = 'FULL_CONTROL') =>
  `<Grant>${grantee}<Permission>${permission}</Permission></Grant>`
export const policy = (grants: string, owner = '<Owner><ID>main</ID></Owner>') =>
  `<AccessControlPolicy>${owner}<AccessControlList>${grants}</AccessControlList></AccessControlPolicy>`
/** The owner as a grantee. */
export const owners = user('main')
const ownersGrant = grant(owners)
/** The policy of a new bucket and of what is in it, as a document. */
export const wholePolicy = policy(ownersGrant)

export const putOwnership = (value: string): DocumentAsk =>
  putDocument(
    { ownershipControls: '' },
    `<OwnershipControls><Rule><ObjectOwnership>${value}</ObjectOwnership></Rule></OwnershipControls>`,
  )

/** The bucket of the rows has access control lists. */
export const ownedBy =
  (value: 'BucketOwnerPreferred' | 'ObjectWriter') =>
  async (wire: Wire): Promise<void> =>
    void (await wire.must(putOwnership(value)))

/** What the list of the bucket or of an object holds: `main FULL_CONTROL`, `AllUsers READ`. */
export async function grantsOf(wire: Wire, ask: Partial<Ask> = {}): Promise<string[]> {
  const { body } = await wire.must({ method: 'GET', ...ask, query: { acl: '', ...ask.query } })
  return [...body.toString().matchAll(/<Grant>(.*?)<\/Grant>/g)].map(([, text = '']) => {
    const name = /<ID>([^<]*)</.exec(text)?.[1] ?? /\/([^/<]*)<\/URI>/.exec(text)?.[1]
    return `${name} ${/<Permission>([^<]*)</.exec(text)?.[1]}`
  })
}

const inGrant = (name: string): string => `element:AccessControlPolicy/AccessControlList/Grant/${name}`

/** With what a refusal shows to be looked at. */
type RefusedPolicy = readonly [what: string, document: string, ...proves: string[]]

const unsupported: readonly RefusedPolicy[] = [
  [
    'a right for another account beside the owner',
    policy(ownersGrant + grant(user('other'), 'READ')),
    inGrant('Grantee/ID'),
  ],
  ['a right for everyone', policy(ownersGrant + grant(everyone, 'READ')), inGrant('Grantee/URI')],
  ['a right by electronic mail', policy(ownersGrant + grant(byEmail, 'READ')), inGrant('Grantee/EmailAddress')],
  ['less than all rights for the owner', policy(grant(user('main'), 'READ')), inGrant('Permission')],
  ['no rights at all', policy('')],
  ['another owner', policy(ownersGrant, '<Owner><ID>other</ID></Owner>'), 'element:AccessControlPolicy/Owner/ID'],
  [
    'another owner whose name is that of the first',
    policy(ownersGrant, '<Owner><ID>other</ID><DisplayName>Main</DisplayName></Owner>'),
  ],
]

const malformed: readonly RefusedPolicy[] = [
  ['without an owner', policy(ownersGrant, '')],
  ['without the id of the owner', policy(ownersGrant, '<Owner><DisplayName>Main</DisplayName></Owner>')],
  ['without a list', '<AccessControlPolicy><Owner><ID>main</ID></Owner></AccessControlPolicy>'],
  ['with a right that is none', policy(grant(user('main'), 'EVERYTHING'))],
  ['with a grant of nothing', policy(`<Grant>${user('main')}</Grant>`)],
  ['with a grant to nobody', policy('<Grant><Permission>FULL_CONTROL</Permission></Grant>')],
  ['with a grantee of an unknown type', policy(grant(user('main', 'Robot'))), inGrant('Grantee/@xsi:type')],
  ['with a group that is named like a user', policy(grant(user('main', 'Group')))],
  ['with a grantee of no name', policy(grant(`<Grantee ${xsi} xsi:type="CanonicalUser"/>`))],
  [
    'with a grantee of two names',
    policy(grant(`<Grantee ${xsi} xsi:type="CanonicalUser"><ID>main</ID><URI>main</URI></Grantee>`)),
  ],
]

export interface AclTarget {
  key?: string
  /** Makes what has the policy. */
  given?: (wire: Wire) => Promise<Facts> | Promise<void>
  call(input: {
    ACL?: 'private' | 'public-read'
    AccessControlPolicy?: AccessControlPolicy
    GrantRead?: string
  }): SdkCall
}

export function putAclRows({ key = '', given, call }: AclTarget): Row[] {
  const query = { acl: '' }
  const prepared = given === undefined ? {} : { given }
  const put = (document: string) => putDocument(query, document, key)
  const headed = (vendor: Ask['vendor'] = {}): Ask => ({ method: 'PUT', key, query, vendor })
  const unchanged = async (wire: Wire): Promise<void> => {
    const { root, value } = readXml((await wire.must({ method: 'GET', key, query })).body)
    expect({ [root]: value }).toEqual(ownersPolicy)
  }
  const accepted = { ...prepared, status: 200, vendor: {}, body: '', afterwards: unchanged }
  const kept = { ...prepared, afterwards: unchanged }
  const notSupported = { ...kept, ...refusal('AccessControlListNotSupported', {}) }
  const whole = put(wholePolicy)
  return [
    {
      it: 'accepts private',
      proves: ['vendor:acl'],
      ...accepted,
      ask: headed({ acl: 'private' }),
      sdk: call({ ACL: 'private' }),
    },
    { it: 'accepts bucket-owner-full-control', ...accepted, ask: headed({ acl: 'bucket-owner-full-control' }) },
    { it: 'accepts the policy that holds', ...accepted, ask: whole, sdk: call({ AccessControlPolicy: sdkPolicy }) },
    {
      it: 'accepts the very document that it answers',
      ...accepted,
      given: async (wire) => {
        const facts = await given?.(wire)
        const { body } = await wire.must({ method: 'GET', key, query })
        return { ...facts, answered: body.toString() }
      },
      ask: { method: 'PUT', key, query, body: '{{answered}}' },
    },
    {
      it: 'accepts a policy that calls the owner by another name, as the id decides',
      proves: ['element:AccessControlPolicy/Owner/DisplayName'],
      ...accepted,
      ask: put(policy(ownersGrant, '<Owner><ID>main</ID><DisplayName>me</DisplayName></Owner>')),
    },
    {
      it: 'accepts a grant that calls the owner by another name',
      proves: [inGrant('Grantee/DisplayName')],
      ...accepted,
      ask: put(policy(grant(owners.replace('</Grantee>', '<DisplayName>me</DisplayName></Grantee>')))),
    },
    {
      it: 'refuses public-read',
      ...notSupported,
      ask: headed({ acl: 'public-read' }),
      sdk: call({ ACL: 'public-read' }),
    },
    ...['public-read-write', 'authenticated-read', 'bucket-owner-read', 'log-delivery-write'].map(
      (acl): Row => ({ it: `refuses ${acl}`, ...notSupported, ask: headed({ acl }) }),
    ),
    {
      it: 'refuses a right to read, granted by a header',
      ...notSupported,
      ask: headed({ 'grant-read': 'id=other' }),
      sdk: call({ GrantRead: 'id=other' }),
    },
    ...['grant-full-control', 'grant-read-acp', 'grant-write', 'grant-write-acp'].map(
      (name): Row => ({ it: `refuses ${name}`, ...notSupported, ask: headed({ [name]: 'id=main' }) }),
    ),
    ...unsupported.map(
      ([what, document, ...proves]): Row => ({
        it: `refuses a policy with ${what}`,
        proves,
        ...notSupported,
        ask: put(document),
      }),
    ),
    ...malformed.map(
      ([what, document, ...proves]): Row => ({
        it: `refuses a policy ${what}`,
        proves,
        ...kept,
        ...refusal('MalformedACLError', {}),
        message: 'The XML you provided was not well-formed or did not validate against our published schema',
        ask: put(document),
      }),
    ),
    {
      it: 'refuses a grantee without a type',
      ...kept,
      ...refusal('MalformedXML', { Attribute: 'xsi:type' }),
      ask: put(policy(grant('<Grantee><ID>main</ID></Grantee>'))),
    },
    {
      it: 'refuses a policy beside a canned list',
      ...kept,
      ...refusal('UnexpectedContent', {}),
      ask: { ...whole, vendor: { acl: 'private' } },
      sdk: call({ ACL: 'private', AccessControlPolicy: sdkPolicy }),
    },
    {
      it: 'refuses neither a policy nor a canned list',
      ...kept,
      ...refusal('MissingSecurityHeader', { MissingHeaderName: '{{prefix}}acl' }),
      ask: headed(),
    },
    // Without a body there may be a canned list: see above.
    ...documentRows(whole, given, unchanged, { digestRequired: false }).filter(({ it }) => it !== 'refuses no body'),
  ]
}
