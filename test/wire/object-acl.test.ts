/** PutObjectAcl and GetObjectAcl over the wire. */
import { GetObjectAclCommand, PutObjectAclCommand } from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import {
  type AclTarget,
  grantsOf,
  ownersPolicy,
  publicPolicy,
  putAclRows,
  putOwnership,
  sdkPolicy,
} from '../support/wire-acl.ts'
import { listRows } from '../support/wire-acl-lists.ts'
import type { Ask, Wire } from '../support/wire-client.ts'
import { type Row, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import { enabled, history, leaves, missingVersionRows, ownerRows, putVersion } from '../support/wire-versions.ts'

const key = 'a'
const input = { Bucket: 'wire', Key: key }
const get = { method: 'GET', key, query: { acl: '' } } as const
const put = { method: 'PUT', key, query: { acl: '' }, vendor: { acl: 'private' } } as const
const of = (ask: Ask, versionId: string): Ask => ({ ...ask, query: { ...ask.query, versionId } })

const stored = async (wire: Wire): Promise<void> => {
  await putVersion(wire, key, 'x')
}

/** Of a bucket with versions: which one is meant, and that none came or went. */
function versionRows(ask: Ask): Row[] {
  const all = { status: 200, given: history, afterwards: leaves('v2*', 'v1', 'null') }
  return [
    { it: 'names the current version', ...all, ask, vendor: { 'version-id': '{{v2}}' } },
    {
      it: 'takes another version',
      proves: ['query:versionId'],
      ...all,
      ask: of(ask, '{{v1}}'),
      vendor: { 'version-id': '{{v1}}' },
    },
    { it: 'takes the null version', ...all, ask: of(ask, 'null'), vendor: { 'version-id': 'null' } },
    ...missingVersionRows(ask, enabled, ask.method === 'PUT' ? 'MethodNotAllowed' : 'NoSuchKey'),
  ]
}

const target: AclTarget = { key, given: stored, call: (acl) => sdk(PutObjectAclCommand, { ...input, ...acl }) }

const ofOneVersion: Row = {
  it: 'changes the list of the version that is named, and of no other',
  status: 200,
  given: async (wire) => {
    await wire.must(putOwnership('ObjectWriter'))
    return history(wire)
  },
  ask: { ...put, query: { acl: '', versionId: '{{v1}}' }, vendor: { acl: 'public-read' } },
  vendor: { 'version-id': '{{v1}}' },
  afterwards: async (wire, _, { v1 = '' }) => {
    const read = (versionId?: string) =>
      wire.ask({ method: 'GET', key, unsigned: true, ...(versionId === undefined ? {} : { query: { versionId } }) })
    expect([(await read(v1)).status, (await read()).status]).toEqual([200, 403])
    expect(await grantsOf(wire, { key, query: { versionId: v1 } })).toEqual(['main FULL_CONTROL', 'AllUsers READ'])
    expect(await grantsOf(wire, { key })).toEqual(['main FULL_CONTROL'])
  },
}

wireTests('PutObjectAcl', [
  ...putAclRows(target),
  ...listRows(target),
  ofOneVersion,
  ...versionRows(put),
  ...ownerRows(put),
])

wireTests('GetObjectAcl', [
  {
    it: 'answers that the owner of the bucket alone may do everything',
    status: 200,
    given: stored,
    ask: get,
    headers: { 'Content-Type': 'application/xml' },
    vendor: {},
    xml: ownersPolicy,
    sdk: sdk(GetObjectAclCommand, input, sdkPolicy),
  },
  {
    it: 'answers a group by its URI, and nobody by mail',
    proves: ['answer element:AccessControlPolicy/AccessControlList/Grant/Grantee/EmailAddress'],
    status: 200,
    given: async (wire) => {
      await wire.must(putOwnership('ObjectWriter'))
      await wire.must({ method: 'PUT', key, body: 'x', vendor: { acl: 'public-read' } })
    },
    ask: get,
    xml: publicPolicy,
  },
  {
    it: 'answers the same of a version',
    status: 200,
    given: history,
    ask: of(get, '{{v1}}'),
    vendor: { 'version-id': '{{v1}}' },
    xml: ownersPolicy,
    sdk: sdk(GetObjectAclCommand, { ...input, VersionId: '{{v1}}' }, sdkPolicy),
  },
  ...versionRows(get),
  ...ownerRows(get),
])
