/** Proofs of configurations that are the same for every bucket here, and of access control lists that change nothing: what holds is accepted and answered, all else is refused. */
import { expect } from 'vitest'
import type { Ask, Wire } from '../wire-client.ts'
import { putDocument } from '../wire-documents.ts'
import { enabled, putVersion } from '../wire-versions.ts'
import { readXml } from '../wire-xml.ts'
import { answering, effect, ofEach, type Proof, refuses, validAsk, vendorOf } from './proof.ts'

const get = (query: string): Ask => ({ method: 'GET', query: { [query]: '' } })

interface Fixed {
  read: string
  write: string
  query: string
  /** By path: what holds, and what does not. */
  elements: Readonly<Record<string, readonly [holds: string, refused: string]>>
  document(values: Readonly<Record<string, string>>): string
  /** What is read where nothing is configured. */
  absent?: boolean
}

const fixed: readonly Fixed[] = [
  {
    read: 'GetBucketAccelerateConfiguration',
    write: 'PutBucketAccelerateConfiguration',
    query: 'accelerate',
    elements: { 'AccelerateConfiguration/Status': ['Suspended', 'Enabled'] },
    document: ({ 'AccelerateConfiguration/Status': status }) =>
      `<AccelerateConfiguration><Status>${status}</Status></AccelerateConfiguration>`,
    absent: true,
  },
  {
    read: 'GetBucketRequestPayment',
    write: 'PutBucketRequestPayment',
    query: 'requestPayment',
    elements: { 'RequestPaymentConfiguration/Payer': ['BucketOwner', 'Requester'] },
    document: ({ 'RequestPaymentConfiguration/Payer': payer }) =>
      `<RequestPaymentConfiguration><Payer>${payer}</Payer></RequestPaymentConfiguration>`,
  },
]

const fixedProofs = fixed.flatMap(({ read, write, query, elements, document, absent = false }): Proof[] => {
  const holding = Object.fromEntries(Object.entries(elements).map(([path, [holds]]) => [path, holds]))
  return [
    answering({
      operation: read,
      it: 'what holds',
      ask: get(query),
      elements: absent ? Object.fromEntries(Object.keys(elements).map((path) => [path, []])) : holding,
    }),
    ...Object.entries(elements).map(([path, [, refused]]) =>
      effect(write, [`request element:${path}`], async (wire) => {
        await refuses(
          wire,
          putDocument({ [query]: '' }, document({ ...holding, [path]: refused })),
          501,
          'NotImplemented',
        )
        await wire.must(putDocument({ [query]: '' }, document(holding)))
      }),
    ),
  ]
})

const empty = [
  ['BucketLoggingStatus', 'GetBucketLogging', 'PutBucketLogging', 'logging'],
  [
    'NotificationConfiguration',
    'GetBucketNotificationConfiguration',
    'PutBucketNotificationConfiguration',
    'notification',
  ],
] as const

const emptyProofs = empty.flatMap(([root, read, write, query]): Proof[] => [
  effect(read, [`answer element:${root}`], async (wire) => {
    expect(readXml((await wire.must(get(query))).body)).toMatchObject({ root, value: '' })
  }),
  effect(write, [`request element:${root}`], async (wire) => {
    await refuses(wire, putDocument({ [query]: '' }, '<Another/>'), 400, 'MalformedXML')
    await wire.must(putDocument({ [query]: '' }, `<${root}/>`))
  }),
])

const validation = ofEach('request vendor:skip-destination-validation', async (wire, operation) => {
  const { ask, succeeds } = await validAsk(wire, operation)
  const skipping = (value: string): Ask => ({ ...ask, vendor: { 'skip-destination-validation': value } })
  await refuses(wire, skipping('perhaps'), 400, 'InvalidArgument')
  expect((await wire.ask(skipping('true'))).status).toBe(succeeds)
})

const kinds = [
  ['Analytics', 'analytics', 'ListBucketAnalyticsConfigurationsResult'],
  ['IntelligentTiering', 'intelligent-tiering', 'ListIntelligentTieringConfigurationsResult'],
  ['Inventory', 'inventory', 'ListInventoryConfigurationsResult'],
  ['Metrics', 'metrics', 'ListMetricsConfigurationsResult'],
] as const

const byId = kinds.flatMap(([kind, query, root]): Proof[] => [
  answering({
    operation: `ListBucket${kind}Configurations`,
    it: 'that there are none',
    ask: get(query),
    elements: { [`${root}/IsTruncated`]: 'false' },
  }),
  effect(`ListBucket${kind}Configurations`, ['request query:continuation-token'], (wire) =>
    refuses(wire, { method: 'GET', query: { [query]: '', 'continuation-token': 'x' } }, 400, 'InvalidArgument'),
  ),
  effect(`DeleteBucket${kind}Configuration`, ['request query:id'], async (wire) => {
    await refuses(wire, { method: 'DELETE', query: { [query]: '' } }, 400, 'InvalidArgument')
    await refuses(wire, { method: 'DELETE', query: { [query]: '', id: 'one' } }, 404, 'NoSuchConfiguration')
  }),
])

const abac = answering({
  operation: 'GetBucketAbac',
  it: 'that tags permit nothing',
  ask: get('abac'),
  elements: { 'AbacStatus/Status': 'Disabled' },
})

const xsi = 'http://www.w3.org/2001/XMLSchema-instance'
/** The policy that everything here has. */
export const ownersPolicy = `<AccessControlPolicy><Owner><ID>main</ID><DisplayName>Main</DisplayName></Owner><AccessControlList><Grant><Grantee xmlns:xsi="${xsi}" xsi:type="CanonicalUser"><ID>main</ID><DisplayName>Main</DisplayName></Grantee><Permission>FULL_CONTROL</Permission></Grant></AccessControlList></AccessControlPolicy>`

const grantee = 'AccessControlPolicy/AccessControlList/Grant/Grantee'
/** By element: a change of the policy, and what it is answered. */
const altered: Readonly<Record<string, readonly [from: string, to: string, code: string | undefined]>> = {
  'AccessControlPolicy/Owner/ID': ['<Owner><ID>main', '<Owner><ID>other', 'AccessControlListNotSupported'],
  // A name only helps people to read a policy.
  'AccessControlPolicy/Owner/DisplayName': ['Main</DisplayName></Owner>', 'Me</DisplayName></Owner>', undefined],
  [`${grantee}/@xsi:type`]: ['"CanonicalUser"', '"Robot"', 'MalformedACLError'],
  [`${grantee}/ID`]: ['"><ID>main', '"><ID>other', 'AccessControlListNotSupported'],
  [`${grantee}/DisplayName`]: ['Main</DisplayName></Grantee>', 'Me</DisplayName></Grantee>', undefined],
  [`${grantee}/EmailAddress`]: [
    '</Grantee>',
    '<EmailAddress>a@example.com</EmailAddress></Grantee>',
    'MalformedACLError',
  ],
  [`${grantee}/URI`]: ['</Grantee>', '<URI>http://example.com/</URI></Grantee>', 'MalformedACLError'],
  'AccessControlPolicy/AccessControlList/Grant/Permission': ['FULL_CONTROL', 'READ', 'AccessControlListNotSupported'],
}

const targets = [
  ['PutBucketAcl', 'GetBucketAcl', ''],
  ['PutObjectAcl', 'GetObjectAcl', 'a'],
] as const

const lists = targets.flatMap(([write, read, key]): Proof[] => {
  const ask: Ask = { method: 'GET', key, query: { acl: '' } }
  const given = async (wire: Wire): Promise<void> => void (await putVersion(wire, 'a', 'one'))
  const put = (document: string): Ask => putDocument({ acl: '' }, document, key)
  return [
    ...Object.entries(altered).map(([path, [from, to, code]]) =>
      effect(write, [`request element:${path}`], async (wire) => {
        await given(wire)
        const document = ownersPolicy.replace(from, to)
        if (code === undefined) await wire.must(put(document))
        else await refuses(wire, put(document), 400, code)
        await wire.must(put(ownersPolicy))
        expect((await wire.must(ask)).body.toString()).toContain('<DisplayName>Main</DisplayName></Owner>')
      }),
    ),
    answering({
      operation: read,
      it: 'that its owner may do everything',
      given,
      ask,
      elements: {
        'AccessControlPolicy/Owner/ID': 'main',
        'AccessControlPolicy/Owner/DisplayName': 'Main',
        [`${grantee}/@xsi:type`]: 'CanonicalUser',
        [`${grantee}/ID`]: 'main',
        [`${grantee}/DisplayName`]: 'Main',
        [`${grantee}/EmailAddress`]: [],
        [`${grantee}/URI`]: [],
        'AccessControlPolicy/AccessControlList/Grant/Permission': 'FULL_CONTROL',
      },
    }),
    effect(write, ['request vendor:acl'], async (wire) => {
      await given(wire)
      const canned = (acl: string): Ask => ({ method: 'PUT', key, query: { acl: '' }, vendor: { acl } })
      await refuses(wire, canned('public-read'), 400, 'AccessControlListNotSupported')
      for (const acl of ['private', 'bucket-owner-full-control']) await wire.must(canned(acl))
    }),
  ]
})

const ofVersions = (['PutObjectAcl', 'GetObjectAcl'] as const).map((operation) =>
  effect(operation, ['request query:versionId', 'answer vendor:version-id'], async (wire) => {
    await enabled(wire)
    const older = await putVersion(wire, 'a', 'one')
    await putVersion(wire, 'a', 'two')
    const ask = (versionId: string): Ask =>
      operation === 'GetObjectAcl'
        ? { method: 'GET', key: 'a', query: { acl: '', versionId } }
        : putDocument({ acl: '', versionId }, ownersPolicy, 'a')
    expect(vendorOf(wire, await wire.must(ask(older)), 'version-id')).toBe(older)
    await refuses(wire, ask(`000000000001${'f'.repeat(20)}`), 404, 'NoSuchVersion')
  }),
)

export const unconfiguredProofs: readonly Proof[] = [
  ...fixedProofs,
  ...emptyProofs,
  ...validation,
  ...byId,
  abac,
  ...lists,
  ...ofVersions,
]
