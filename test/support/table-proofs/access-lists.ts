/** Proofs of access control lists: what a request grants is granted, and who may own objects owns them. */
import { expect } from 'vitest'
import { ownedBy, putOwnership } from '../wire-acl.ts'
import { md5Base64 } from '../wire-checksums.ts'
import type { Ask, Wire } from '../wire-client.ts'
import { otherKey } from '../wire-server.ts'
import { putVersion } from '../wire-versions.ts'
import { answering, effect, type Proof, refuses, texts } from './proof.ts'
import { ofWrites, writing } from './writes.ts'

const withLists = ownedBy('ObjectWriter')

const permissions = {
  'grant-full-control': 'FULL_CONTROL',
  'grant-read': 'READ',
  'grant-read-acp': 'READ_ACP',
  'grant-write': 'WRITE',
  'grant-write-acp': 'WRITE_ACP',
} as const

async function expectGrant(wire: Wire, of: Partial<Ask>, permission: string): Promise<void> {
  const list: Ask = { method: 'GET', ...of, query: { acl: '' } }
  const grant = 'AccessControlPolicy/AccessControlList/Grant'
  expect(await texts(wire, list, `${grant}/Grantee/ID`)).toEqual(['other'])
  expect(await texts(wire, list, `${grant}/Permission`)).toEqual([permission])
}

const grants = Object.entries(permissions).flatMap(([name, permission]): Proof[] => {
  const vendor = { [name]: 'id=other' }
  const row = `request vendor:${name}`
  return [
    ...ofWrites(row, async (wire, operation) => {
      await withLists(wire)
      expect((await writing(operation)(wire, { vendor })).status).toBe(200)
      await expectGrant(wire, { key: 'a' }, permission)
    }),
    effect('CreateBucket', [row], async (wire) => {
      const asked = { ...vendor, 'object-ownership': 'ObjectWriter' }
      await wire.must({ method: 'PUT', bucket: 'made', vendor: asked })
      await expectGrant(wire, { bucket: 'made' }, permission)
    }),
    effect('PutBucketAcl', [row], async (wire) => {
      await withLists(wire)
      await wire.must({ method: 'PUT', query: { acl: '' }, vendor })
      await expectGrant(wire, {}, permission)
    }),
    effect('PutObjectAcl', [row], async (wire) => {
      await withLists(wire)
      await putVersion(wire, 'a', 'one')
      await wire.must({ method: 'PUT', key: 'a', query: { acl: '' }, vendor })
      await expectGrant(wire, { key: 'a' }, permission)
    }),
  ]
})

const toAllowWrites = JSON.stringify({
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Principal: '*', Action: 's3:PutObject', Resource: 'arn:aws:s3:::wire/*' }],
})

async function ownerOfAnothers(wire: Wire): Promise<string[]> {
  await wire.must({ method: 'PUT', query: { policy: '' }, body: toAllowWrites })
  await wire.must({
    method: 'PUT',
    key: 'a',
    body: 'x',
    signedBy: otherKey,
    headers: { 'Content-MD5': md5Base64('x') },
  })
  return texts(wire, { method: 'GET' }, 'ListBucketResult/Contents/Owner/ID')
}

export const accessListProofs: readonly Proof[] = [
  ...grants,
  effect('PutBucketOwnershipControls', ['request element:OwnershipControls/Rule/ObjectOwnership'], async (wire) => {
    await refuses(wire, putOwnership('Nobody'), 400, 'MalformedXML')
    await wire.must(putOwnership('ObjectWriter'))
    expect(await ownerOfAnothers(wire)).toEqual(['other'])
    await wire.must(putOwnership('BucketOwnerEnforced'))
    expect(await ownerOfAnothers(wire)).toEqual(['main'])
  }),
  answering({
    operation: 'GetBucketOwnershipControls',
    it: 'what was set',
    given: withLists,
    ask: { method: 'GET', query: { ownershipControls: '' } },
    elements: { 'OwnershipControls/Rule/ObjectOwnership': 'ObjectWriter' },
  }),
]
