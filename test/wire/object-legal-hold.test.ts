/** PutObjectLegalHold and GetObjectLegalHold over the wire. */
import { GetObjectLegalHoldCommand, PutObjectLegalHoldCommand } from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import type { Wire } from '../support/wire-client.ts'
import { documentRows, putDocument } from '../support/wire-documents.ts'
import { type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import {
  lockableHistory,
  lockedVersion,
  lockHeaders,
  locksOf,
  missingVersionRows,
  ownerRows,
  putHold,
  putVersion,
  unlockedRows,
  vault,
} from '../support/wire-versions.ts'

const query = { 'legal-hold': '' }
const get = { method: 'GET', key: 'a', query } as const
const input = { Bucket: 'wire', Key: 'a' }
const throughSdk = (Status: 'ON' | 'OFF', more: object = {}) =>
  sdk(PutObjectLegalHoldCommand, { ...input, LegalHold: { Status }, ...more })

const stored = lockedVersion()
const held = lockedVersion({ 'object-lock-legal-hold': 'ON' })
const isHeld = (status: 'ON' | 'OFF' | undefined, versionId?: string) => async (wire: Wire) => {
  const [, , header] = await locksOf(wire, versionId)
  expect(header).toBe(status)
}

/** Holds of v2, v1 and the null version. */
const holds =
  (...expected: ('ON' | undefined)[]): NonNullable<Row['afterwards']> =>
  async (wire, _, { v1 = '', v2 = '' }) => {
    const found = await Promise.all([v2, v1, 'null'].map((id) => locksOf(wire, id)))
    expect(found.map(([, , status]) => status)).toEqual(expected)
  }
const named = (versionId: string) => putHold('ON', { versionId })

const set: Row[] = [
  {
    it: 'puts an object under legal hold',
    proves: ['element:LegalHold/Status', 'PutObjectLegalHold: the object has the status'],
    status: 200,
    given: stored,
    ask: putHold('ON'),
    headers: { 'Content-Length': '0' },
    vendor: {},
    body: '',
    afterwards: isHeld('ON'),
    sdk: throughSdk('ON'),
  },
  {
    it: 'lifts the hold',
    proves: ['element:LegalHold/Status', 'PutObjectLegalHold: the object has the status'],
    status: 200,
    given: held,
    ask: putHold('OFF'),
    afterwards: isHeld('OFF'),
    sdk: throughSdk('OFF'),
  },
  { it: 'lifts a hold that never was', status: 200, given: stored, ask: putHold('OFF'), afterwards: isHeld('OFF') },
  { it: 'holds what is held', status: 200, given: held, ask: putHold('ON'), afterwards: isHeld('ON') },
  {
    it: 'holds the current version only',
    status: 200,
    given: lockableHistory,
    ask: putHold('ON'),
    afterwards: holds('ON', undefined, undefined),
  },
  {
    it: 'holds the version that is named',
    proves: ['query:versionId'],
    status: 200,
    given: lockableHistory,
    ask: named('{{v1}}'),
    afterwards: holds(undefined, 'ON', undefined),
    sdk: throughSdk('ON', { VersionId: '{{v1}}' }),
  },
  {
    it: 'holds the null version',
    status: 200,
    given: lockableHistory,
    ask: named('null'),
    afterwards: holds(undefined, undefined, 'ON'),
  },
  {
    it: 'leaves retention, bytes, entity tag and time of the version alone',
    status: 200,
    given: async (wire) => {
      await vault(wire)
      await putVersion(wire, 'a', 'one', lockHeaders('COMPLIANCE', 5))
      const { headers } = await wire.must({ method: 'HEAD', key: 'a' })
      const [mode = '', until = ''] = await locksOf(wire)
      return { mode, until, etag: headers.get('etag') ?? '', modified: headers.get('last-modified') ?? '' }
    },
    ask: putHold('ON'),
    afterwards: async (wire, _, { mode, until, etag, modified }) => {
      const { headers, body } = await wire.must({ method: 'GET', key: 'a' })
      expect([headers.get('etag'), headers.get('last-modified'), body.toString()]).toEqual([etag, modified, 'one'])
      expect(await locksOf(wire)).toEqual([mode, until, 'ON'])
    },
  },
]

const keeps = { given: held, afterwards: isHeld('ON') }

wireTests('PutObjectLegalHold', [
  ...set,
  ...unlockedRows(putHold('ON'), throughSdk('ON')),
  ...['on', 'On', 'true', ''].map(
    (status): Row => ({
      it: `refuses the status "${status}"`,
      ...keeps,
      ...refusal('MalformedXML'),
      ask: putHold(status),
    }),
  ),
  {
    it: 'refuses a hold without a status',
    ...keeps,
    ...refusal('MalformedXML'),
    ask: putDocument(query, '<LegalHold/>', 'a'),
  },
  ...missingVersionRows(putHold('ON'), (wire) => vault(wire), 'MethodNotAllowed'),
  ...documentRows(putHold('OFF'), held, isHeld('ON'), { digestRequired: 'by AWS' }),
  ...ownerRows(putHold('OFF'), keeps),
])

wireTests('GetObjectLegalHold', [
  {
    it: 'answers that an object is held',
    status: 200,
    given: held,
    ask: get,
    headers: { 'Content-Type': 'application/xml' },
    vendor: {},
    xml: { LegalHold: { Status: 'ON' } },
    sdk: sdk(GetObjectLegalHoldCommand, input, { LegalHold: { Status: 'ON' } }),
  },
  {
    it: 'answers that an object is held no more',
    status: 200,
    given: async (wire) => {
      await held(wire)
      await wire.must(putHold('OFF'))
    },
    ask: get,
    xml: { LegalHold: { Status: 'OFF' } },
    sdk: sdk(GetObjectLegalHoldCommand, input, { LegalHold: { Status: 'OFF' } }),
  },
  ...(['{{v1}}', 'null'] as const).map(
    (versionId): Row => ({
      it: `answers for the version ${versionId === 'null' ? 'null' : 'that is named'}`,
      proves: ['query:versionId'],
      status: 200,
      given: async (wire) => {
        const facts = await lockableHistory(wire)
        await wire.must(named(versionId === 'null' ? 'null' : (facts.v1 ?? '')))
        return facts
      },
      ask: { ...get, query: { ...query, versionId } },
      xml: { LegalHold: { Status: 'ON' } },
      sdk: sdk(GetObjectLegalHoldCommand, { ...input, VersionId: versionId }, { LegalHold: { Status: 'ON' } }),
    }),
  ),
  {
    it: 'answers NoSuchObjectLockConfiguration where there never was a hold, whatever another version has',
    ...refusal('NoSuchObjectLockConfiguration', { Key: 'a' }),
    given: async (wire) => {
      await held(wire)
      await putVersion(wire, 'a', 'two')
    },
    ask: get,
    sdk: sdk(GetObjectLegalHoldCommand, input),
  },
  ...unlockedRows(get, sdk(GetObjectLegalHoldCommand, input)),
  ...missingVersionRows(get, (wire) => vault(wire)),
  ...ownerRows(get, { given: held }),
])
