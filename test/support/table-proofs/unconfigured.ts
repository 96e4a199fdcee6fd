/** Proofs of configurations that are the same for every bucket here, and of access control lists that change nothing: what holds is accepted and answered, all else is refused. */
import { expect } from 'vitest'
import type { Ask, Wire } from '../wire-client.ts'
import { putDocument } from '../wire-documents.ts'
import { enabled, putVersion } from '../wire-versions.ts'
import { answering, effect, type Proof, refuses, vendorOf } from './proof.ts'

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

export const unconfiguredProofs: readonly Proof[] = [...lists, ...ofVersions]
