/** What Object Lock changes in deleting: what is locked stays, whoever asks and however. */
import { DeleteObjectCommand, DeleteObjectsCommand } from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import { md5Base64 } from '../support/wire-checksums.ts'
import type { Ask } from '../support/wire-client.ts'
import { type Given, type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import { deletingKey } from '../support/wire-server.ts'
import {
  aVersionId,
  compliant,
  governed,
  leaves,
  lockedVersion,
  lockHeaders,
  onHold,
  putHold,
  putMarker,
  putRetention,
  putVersion,
  vault,
} from '../support/wire-versions.ts'

const input = { Bucket: 'wire', Key: 'a' }
const bypass = { 'bypass-governance-retention': 'true' }
const named: Ask = { method: 'DELETE', key: 'a', query: { versionId: '{{id}}' } }

interface Locked {
  what: string
  vendor: Record<string, string>
  goesForBypass: boolean
}
const locked: Locked[] = [
  { what: 'COMPLIANCE', vendor: compliant, goesForBypass: false },
  { what: 'GOVERNANCE', vendor: governed, goesForBypass: true },
  { what: 'a legal hold', vendor: onHold, goesForBypass: false },
  { what: 'GOVERNANCE and a legal hold', vendor: { ...governed, ...onHold }, goesForBypass: false },
]

const keptVersion: NonNullable<Row['afterwards']> = async (wire, reply, facts) => {
  await leaves('id*')(wire, reply, facts)
  expect((await wire.must({ method: 'GET', key: 'a' })).body.toString()).toBe('one')
}

wireTests('DeleteObject', [
  ...locked.flatMap(({ what, vendor, goesForBypass }): Row[] => [
    {
      it: `keeps a version under ${what}`,
      proves: ['vendor:bypass-governance-retention'],
      ...refusal('AccessDenied', {}),
      given: lockedVersion(vendor),
      ask: { ...named, vendor: { 'bypass-governance-retention': 'false' } },
      afterwards: keptVersion,
      sdk: sdk(DeleteObjectCommand, { ...input, VersionId: '{{id}}' }),
    },
    {
      it: `${goesForBypass ? 'removes' : 'keeps'} a version under ${what} when governance is bypassed`,
      proves: ['vendor:bypass-governance-retention'],
      ...(goesForBypass ? { status: 204, vendor: { 'version-id': '{{id}}' } } : refusal('AccessDenied', {})),
      given: lockedVersion(vendor),
      ask: { ...named, vendor: bypass },
      afterwards: goesForBypass ? leaves() : keptVersion,
      sdk: sdk(DeleteObjectCommand, { ...input, VersionId: '{{id}}', BypassGovernanceRetention: true }),
    },
    {
      it: `puts a delete marker over a version under ${what}, and keeps it`,
      status: 204,
      given: lockedVersion(vendor),
      ask: { method: 'DELETE', key: 'a' },
      vendor: { 'delete-marker': 'true', 'version-id': aVersionId },
      afterwards: async (wire, _, { id = '' }) => {
        expect((await wire.must({ method: 'GET', key: 'a', query: { versionId: id } })).body.toString()).toBe('one')
      },
    },
  ]),
  {
    it: 'removes the delete marker over a locked version',
    status: 204,
    given: async (wire) => {
      const facts = await lockedVersion({ ...compliant, ...onHold })(wire)
      return { ...facts, marker: await putMarker(wire, 'a') }
    },
    ask: { ...named, query: { versionId: '{{marker}}' } },
    vendor: { 'delete-marker': 'true', 'version-id': '{{marker}}' },
    afterwards: keptVersion,
  },
  {
    it: 'removes a version whose hold was lifted',
    status: 204,
    given: async (wire) => {
      const facts = await lockedVersion(onHold)(wire)
      await wire.must(putHold('OFF'))
      return facts
    },
    ask: named,
    vendor: { 'version-id': '{{id}}' },
    afterwards: leaves(),
  },
  {
    it: "keeps a version under the bucket's default retention",
    ...refusal('AccessDenied', {}),
    given: async (wire) => {
      await vault(wire, '<Mode>COMPLIANCE</Mode><Years>1</Years>')
      return { id: await putVersion(wire, 'a', 'one') }
    },
    ask: { ...named, vendor: bypass },
    afterwards: keptVersion,
  },
  {
    it: 'refuses a bypass to a key that may delete and not bypass',
    proves: ['bypassing GOVERNANCE takes the permission BypassGovernanceRetention'],
    ...refusal('AccessDenied', {}),
    given: lockedVersion(governed),
    ask: { ...named, vendor: bypass, signedBy: deletingKey },
    afterwards: keptVersion,
  },
  {
    it: 'does not ask for that permission where no version is removed',
    status: 204,
    given: lockedVersion(governed),
    ask: { method: 'DELETE', key: 'a', vendor: bypass, signedBy: deletingKey },
    vendor: { 'delete-marker': 'true', 'version-id': aVersionId },
  },
  {
    it: 'refuses a bypass that is neither true nor false',
    ...refusal('InvalidArgument', { ArgumentName: '{{prefix}}bypass-governance-retention', ArgumentValue: 'yes' }),
    given: lockedVersion(governed),
    ask: { ...named, vendor: { 'bypass-governance-retention': 'yes' } },
    afterwards: keptVersion,
  },
])

const deleteDocument =
  '<Delete><Object><Key>a</Key><VersionId>null</VersionId></Object><Object><Key>b</Key></Object></Delete>'
/** The null version of `a` is locked, once Object Lock is on. */
const nullLocked =
  (vendor: Record<string, string>): Given =>
  async (wire) => {
    await putVersion(wire, 'a', 'one')
    await vault(wire)
    const {
      'object-lock-mode': mode,
      'object-lock-retain-until-date': until = '',
      'object-lock-legal-hold': hold,
    } = vendor
    if (mode !== undefined) await wire.must(putRetention(mode, until))
    if (hold !== undefined) await wire.must(putHold(hold))
  }
const hiddenB = { Key: 'b', DeleteMarker: 'true', DeleteMarkerVersionId: aVersionId }

wireTests(
  'DeleteObjects',
  locked.flatMap(({ what, vendor, goesForBypass }) =>
    [false, true].map((bypassed): Row => {
      const goes = goesForBypass && bypassed
      const Objects = [{ Key: 'a', VersionId: 'null' }, { Key: 'b' }]
      const refused = { Key: 'a', VersionId: 'null', Code: 'AccessDenied', Message: expect.any(String) }
      return {
        proves: ['vendor:bypass-governance-retention'],
        it: `${goes ? 'removes' : 'keeps'} a version under ${what}${bypassed ? ' when governance is bypassed' : ''}, and answers the others`,
        status: 200,
        given: nullLocked(vendor),
        ask: {
          method: 'POST',
          query: { delete: '' },
          body: deleteDocument,
          headers: { 'Content-MD5': md5Base64(deleteDocument) },
          vendor: { 'bypass-governance-retention': String(bypassed) },
        },
        xml: {
          DeleteResult: goes
            ? { Deleted: [{ Key: 'a', VersionId: 'null' }, hiddenB] }
            : { Deleted: hiddenB, Error: refused },
        },
        afterwards: leaves(...(goes ? [] : ['null*'])),
        sdk: sdk(
          DeleteObjectsCommand,
          { Bucket: 'wire', Delete: { Objects }, BypassGovernanceRetention: bypassed },
          goes ? { Errors: undefined } : { Errors: [refused] },
        ),
      }
    }),
  ),
)

const deleting = (object: string): Ask => {
  const body = `<Delete>${object}</Delete>`
  const headers = { 'Content-MD5': md5Base64(body) }
  return { method: 'POST', query: { delete: '' }, body, headers, vendor: bypass, signedBy: deletingKey }
}

wireTests('DeleteObjects', [
  {
    it: 'does not ask for the permission to bypass where no version is removed',
    status: 200,
    given: lockedVersion(governed),
    ask: deleting('<Object><Key>a</Key></Object>'),
    xml: { DeleteResult: { Deleted: { Key: 'a', DeleteMarker: 'true', DeleteMarkerVersionId: aVersionId } } },
  },
  {
    it: 'asks for it where one is',
    status: 200,
    given: nullLocked(governed),
    ask: deleting('<Object><Key>a</Key><VersionId>null</VersionId></Object>'),
    xml: {
      DeleteResult: { Error: { Key: 'a', VersionId: 'null', Code: 'AccessDenied', Message: expect.any(String) } },
    },
    afterwards: leaves('null*'),
  },
])

/** How far ahead of the machine's clock the store's is: what a retention waits for, without waiting. */
let aheadMs = 0
const expired =
  (vendor: Record<string, string>): Given =>
  async (wire) => {
    aheadMs = 0
    const facts = await lockedVersion(vendor)(wire)
    aheadMs = 2 * 3_600_000
    return facts
  }

wireTests(
  'DeleteObject',
  [
    ...(['GOVERNANCE', 'COMPLIANCE'] as const).map(
      (mode): Row => ({
        it: `removes a version whose retention in ${mode} mode is over`,
        status: 204,
        given: expired(lockHeaders(mode, 1)),
        ask: named,
        vendor: { 'version-id': '{{id}}' },
        afterwards: leaves(),
      }),
    ),
    {
      it: 'keeps a version whose retention is over and that is held',
      ...refusal('AccessDenied', {}),
      given: expired({ ...lockHeaders('COMPLIANCE', 1), ...onHold }),
      ask: { ...named, vendor: bypass },
      afterwards: keptVersion,
    },
    {
      it: 'keeps a version whose retention is not over yet',
      ...refusal('AccessDenied', {}),
      given: expired(lockHeaders('COMPLIANCE', 3)),
      ask: named,
      afterwards: keptVersion,
    },
  ],
  { over: (backend) => ({ ...backend, clock: { ...backend.clock, now: () => backend.clock.now() + aheadMs } }) },
)
