/** What Object Lock changes in making buckets, and in writing and reading objects. Deleting is in delete-locked.test.ts. */
import {
  CopyObjectCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import { md5Base64, referenceChecksum } from '../support/wire-checksums.ts'
import type { Ask, Wire } from '../support/wire-client.ts'
import { type Given, type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import { completeDocument, putPart, textIn, uploadOf } from '../support/wire-uploads.ts'
import {
  aVersionId,
  compliant,
  enabled,
  governed,
  lockedUntil,
  lockedVersion,
  locksOf,
  onHold,
  putVersion,
  vault,
} from '../support/wire-versions.ts'

const input = { Bucket: 'wire', Key: 'a' }
const dayMs = 86_400_000
const tenDays = '<Mode>GOVERNANCE</Mode><Days>10</Days>'

const isLocked =
  (...expected: (string | undefined)[]) =>
  async (wire: Wire): Promise<void> =>
    expect(await locksOf(wire)).toEqual(expected)
/** The retention that the bucket's rule gives: ten days from now, in GOVERNANCE mode. */
const hasDefault =
  (hold?: 'ON') =>
  async (wire: Wire): Promise<void> => {
    const [mode, until = '', found] = await locksOf(wire)
    expect([mode, Math.round((Date.parse(until) - Date.now()) / dayMs), found]).toEqual(['GOVERNANCE', 10, hold])
  }
const isAbsent = async (wire: Wire): Promise<void> =>
  expect((await wire.ask({ method: 'HEAD', key: 'a' })).status).toBe(404)

/** Whether the bucket has versions, and whether it has Object Lock. */
const bucketHas = (versioning: string | undefined, lock: string | undefined) => async (wire: Wire) => {
  const versions = await wire.must({ method: 'GET', query: { versioning: '' } })
  const configuration = await wire.ask({ method: 'GET', query: { 'object-lock': '' } })
  const found = (text: Buffer, name: string): string | undefined =>
    new RegExp(`<${name}>(\\w+)</${name}>`).exec(text.toString())?.[1]
  expect([found(versions.body, 'Status'), found(configuration.body, 'ObjectLockEnabled')]).toEqual([versioning, lock])
}

const created = (value: string, lock: 'Enabled' | undefined): Row => ({
  it: `makes a bucket ${lock === undefined ? 'without' : 'with'} Object Lock for "${value}"`,
  proves: [
    'vendor:bucket-object-lock-enabled',
    ...(lock === undefined ? [] : ['CreateBucket with bucket-object-lock-enabled: Object Lock is enabled']),
  ],
  withoutBucket: true,
  status: 200,
  ask: { method: 'PUT', vendor: { 'bucket-object-lock-enabled': value } },
  headers: { Location: '/wire' },
  vendor: {},
  afterwards: bucketHas(lock, lock),
  sdk: sdk(CreateBucketCommand, { Bucket: 'wire', ObjectLockEnabledForBucket: lock !== undefined }),
})

wireTests('CreateBucket', [
  created('true', 'Enabled'),
  created('True', 'Enabled'),
  created('false', undefined),
  ...['yes', '1', ''].map(
    (value): Row => ({
      it: `refuses "${value}" for Object Lock, rather than making a bucket without it`,
      withoutBucket: true,
      ...refusal('InvalidArgument', {
        ArgumentName: '{{prefix}}bucket-object-lock-enabled',
        ArgumentValue: value,
      }),
      ask: { method: 'PUT', vendor: { 'bucket-object-lock-enabled': value } },
      afterwards: async (wire) => expect((await wire.ask({ method: 'HEAD' })).status).toBe(404),
    }),
  ),
])

interface Writing {
  /** With the vendor headers of a lock. */
  ask(vendor: Record<string, string>): Ask
  /** Nothing has been written, or begun. */
  unwritten(wire: Wire): Promise<void>
}

const past = '2020-01-01T00:00:00.000Z'
const both = '{{prefix}}object-lock-retain-until-date and {{prefix}}object-lock-mode must both be supplied'
const invalid: [what: string, vendor: Record<string, string>, details: Record<string, unknown>, message?: string][] = [
  ['a mode without a date', { 'object-lock-mode': 'GOVERNANCE' }, {}, both],
  ['a date without a mode', { 'object-lock-retain-until-date': lockedUntil }, {}, both],
  [
    'an unknown mode',
    { ...governed, 'object-lock-mode': 'governance' },
    { ArgumentName: '{{prefix}}object-lock-mode', ArgumentValue: 'governance' },
    'Unknown wormMode directive.',
  ],
  [
    'an unknown status of a hold',
    { 'object-lock-legal-hold': 'on' },
    { ArgumentName: '{{prefix}}object-lock-legal-hold', ArgumentValue: 'on' },
    "Legal Hold must be either of 'ON' or 'OFF'",
  ],
  [
    'a date that has passed',
    { ...governed, 'object-lock-retain-until-date': past },
    { ArgumentName: '{{prefix}}object-lock-retain-until-date', ArgumentValue: past },
  ],
  ...[
    'tomorrow',
    '32503680000',
    '2999-01-01',
    '2999-01-01T00:00:00',
    'Tue, 01 Jan 2999 00:00:00 GMT',
    '2999-13-01T00:00:00Z',
    '2999-02-31T00:00:00Z',
  ].map((date): [string, Record<string, string>, Record<string, unknown>] => [
    `the date "${date}", which is not ISO 8601 with a zone`,
    { ...governed, 'object-lock-retain-until-date': date },
    { ArgumentName: '{{prefix}}object-lock-retain-until-date', ArgumentValue: date },
  ]),
]

/** Locks that no write takes. */
function badLockRows({ ask, unwritten }: Writing): Row[] {
  const unlocked = (
    [
      ['versions never were on', undefined],
      ['versions are on', enabled],
    ] as const
  ).flatMap(([where, given]) =>
    [governed, compliant, onHold, { 'object-lock-legal-hold': 'OFF' }].map(
      (vendor): Row => ({
        it: `answers InvalidRequest for ${Object.values(vendor)[0]} where there is no Object Lock and ${where}`,
        ...refusal('InvalidRequest', { BucketName: 'wire' }),
        given: async (wire) => {
          await given?.(wire)
          await putVersion(wire, 'source', 'one')
        },
        ask: ask(vendor),
        afterwards: unwritten,
      }),
    ),
  )
  return [
    ...unlocked,
    ...invalid.map(
      ([what, vendor, details, message]): Row => ({
        it: `refuses ${what}`,
        ...refusal('InvalidArgument', details),
        ...(message === undefined ? {} : { message }),
        given: inVault,
        ask: ask(vendor),
        afterwards: unwritten,
      }),
    ),
  ]
}
const inVault: Given = async (wire) => {
  await vault(wire)
  await putVersion(wire, 'source', 'one')
}
const inDefaultVault: Given = async (wire) => {
  await vault(wire, tenDays)
  await putVersion(wire, 'source', 'one', compliant)
}

/** Locks that each write takes: its own, or the bucket's. */
const goodLocks: [it: string, given: Given, vendor: Record<string, string>, locked: (wire: Wire) => Promise<void>][] = [
  ['retains in GOVERNANCE mode', inVault, governed, isLocked('GOVERNANCE', lockedUntil, undefined)],
  ['retains in COMPLIANCE mode', inVault, compliant, isLocked('COMPLIANCE', lockedUntil, undefined)],
  ['holds', inVault, onHold, isLocked(undefined, undefined, 'ON')],
  ['holds and retains', inVault, { ...governed, ...onHold }, isLocked('GOVERNANCE', lockedUntil, 'ON')],
  ['says that it does not hold', inVault, { 'object-lock-legal-hold': 'OFF' }, isLocked(undefined, undefined, 'OFF')],
  ['locks nothing that is not asked for', inVault, {}, isLocked(undefined, undefined, undefined)],
  ["gives what asks for no retention the bucket's", inDefaultVault, {}, hasDefault()],
  ["gives what is only held the bucket's retention", inDefaultVault, onHold, hasDefault('ON')],
  [
    'prefers the retention that is asked for, also a shorter one',
    inDefaultVault,
    compliant,
    isLocked('COMPLIANCE', lockedUntil, undefined),
  ],
]

const body = 'locked'
const put: Writing = {
  ask: (vendor) => ({ method: 'PUT', key: 'a', body, headers: { 'Content-MD5': md5Base64(body) }, vendor }),
  unwritten: isAbsent,
}
const takes = { status: 200, given: inVault, afterwards: isLocked('GOVERNANCE', lockedUntil, undefined) }

wireTests('PutObject', [
  ...goodLocks.map(
    ([it, given, vendor, afterwards]): Row => ({
      it,
      status: 200,
      given,
      ask: put.ask(vendor),
      vendor: { 'version-id': aVersionId },
      afterwards,
    }),
  ),
  {
    it: 'takes the locks that the SDK asks for, with the checksum that it sends',
    ...takes,
    ask: put.ask(governed),
    vendor: { 'version-id': aVersionId },
    sdk: sdk(
      PutObjectCommand,
      {
        ...input,
        Body: body,
        ObjectLockMode: 'COMPLIANCE',
        ObjectLockRetainUntilDate: new Date(lockedUntil),
        ObjectLockLegalHoldStatus: 'ON',
      },
      { VersionId: aVersionId },
    ),
  },
  ...[
    ['Content-MD5', { headers: { 'Content-MD5': md5Base64(body) }, vendor: governed }, {}],
    [
      'a checksum',
      { vendor: { ...governed, 'checksum-sha1': referenceChecksum('SHA1', body) } },
      { 'checksum-sha1': referenceChecksum('SHA1', body), 'checksum-type': 'FULL_OBJECT' },
    ],
    [
      'a checksum behind the data',
      {
        body: '',
        vendor: governed,
        payload: {
          mode: 'unsigned-trailer',
          chunks: [body],
          trailers: { 'checksum-crc32': referenceChecksum('CRC32', body) },
        },
      },
      { 'checksum-crc32': referenceChecksum('CRC32', body), 'checksum-type': 'FULL_OBJECT' },
    ],
  ].map(
    ([what, more, vendor]): Row => ({
      it: `takes ${what} for the digest that a lock needs`,
      ...takes,
      ask: { method: 'PUT', key: 'a', body, ...(more as Partial<Ask>) },
      vendor: { 'version-id': aVersionId, ...(vendor as object) },
    }),
  ),
  ...[governed, compliant, onHold].map(
    (vendor): Row => ({
      it: `refuses ${Object.values(vendor)[0]} without any digest of the data`,
      ...refusal('InvalidRequest', {}),
      given: inVault,
      ask: { method: 'PUT', key: 'a', body, vendor },
      afterwards: async (wire, reply) => {
        const needed = /Content-MD5 OR x-(amz|store)-checksum- HTTP header is required for Put Object requests/
        expect(reply.body.toString()).toMatch(needed)
        await isAbsent(wire)
      },
    }),
  ),
  {
    it: "needs no digest for the bucket's own retention",
    status: 200,
    given: inDefaultVault,
    ask: { method: 'PUT', key: 'a', body },
    vendor: { 'version-id': aVersionId },
    afterwards: hasDefault(),
  },
  {
    it: 'leaves a locked version below the new one',
    status: 200,
    given: lockedVersion({ ...compliant, ...onHold }),
    ask: { method: 'PUT', key: 'a', body },
    vendor: { 'version-id': aVersionId },
    afterwards: async (wire, _, { id = '' }) => {
      expect((await wire.must({ method: 'GET', key: 'a', query: { versionId: id } })).body.toString()).toBe('one')
      expect(await locksOf(wire, id)).toEqual(['COMPLIANCE', lockedUntil, 'ON'])
      expect(await locksOf(wire)).toEqual([undefined, undefined, undefined])
    },
  },
  ...badLockRows(put),
])

const copy: Writing = {
  ask: (vendor) => ({ method: 'PUT', key: 'a', vendor: { 'copy-source': 'wire/source', ...vendor } }),
  unwritten: isAbsent,
}

wireTests('CopyObject', [
  ...goodLocks.map(
    ([it, given, vendor, afterwards]): Row => ({
      it,
      status: 200,
      given,
      ask: copy.ask(vendor),
      vendor: { 'version-id': aVersionId, 'copy-source-version-id': aVersionId },
      afterwards,
    }),
  ),
  {
    it: 'does not copy the lock of its source',
    status: 200,
    given: async (wire) => {
      await vault(wire)
      await putVersion(wire, 'source', 'one', { ...compliant, ...onHold })
    },
    ask: copy.ask({}),
    vendor: { 'version-id': aVersionId, 'copy-source-version-id': aVersionId },
    afterwards: isLocked(undefined, undefined, undefined),
    sdk: sdk(CopyObjectCommand, { ...input, CopySource: 'wire/source' }, { VersionId: aVersionId }),
  },
  ...badLockRows(copy),
])

const begin: Writing = {
  ask: (vendor) => ({ method: 'POST', key: 'a', query: { uploads: '' }, vendor }),
  unwritten: async (wire) => {
    const { body } = await wire.must({ method: 'GET', query: { uploads: '' } })
    expect(body.toString()).not.toContain('<Upload>')
  },
}
const completed: NonNullable<Row['afterwards']> = async (wire, reply) => {
  const uploadId = textIn(reply, 'UploadId')
  const etag = await putPart(wire, uploadId, 1, 'part', { 'checksum-crc32': referenceChecksum('CRC32', 'part') }, 'a')
  await wire.must({ method: 'POST', key: 'a', query: { uploadId }, body: completeDocument([[1, etag]]) })
}

wireTests('CreateMultipartUpload', [
  ...goodLocks.map(
    ([it, given, vendor, afterwards]): Row => ({
      it: `${it}, once the upload is completed`,
      status: 200,
      given,
      ask: begin.ask(vendor),
      vendor: {},
      afterwards: async (wire, reply, facts) => {
        await completed(wire, reply, facts)
        await afterwards(wire)
      },
    }),
  ),
  {
    it: 'takes the locks that the SDK asks for',
    status: 200,
    given: inVault,
    ask: begin.ask(governed),
    sdk: sdk(CreateMultipartUploadCommand, {
      ...input,
      ObjectLockMode: 'GOVERNANCE',
      ObjectLockRetainUntilDate: new Date(lockedUntil),
      ObjectLockLegalHoldStatus: 'ON',
    }),
  },
  ...badLockRows(begin),
])

wireTests('CompleteMultipartUpload', [
  {
    it: 'gives the object the rule that its bucket has by now',
    status: 200,
    given: async (wire) => {
      await vault(wire)
      const facts = await uploadOf(wire, ['part'])
      await vault(wire, tenDays)
      return facts
    },
    ask: {
      method: 'POST',
      key: 'big',
      query: { uploadId: '{{uploadId}}' },
      body: completeDocument([[1, '{{etag1}}']]),
    },
    vendor: { 'version-id': aVersionId },
    afterwards: async (wire) => {
      const [mode, until = ''] = await locksOf(wire, undefined, 'big')
      expect([mode, Math.round((Date.parse(until) - Date.now()) / dayMs)]).toEqual(['GOVERNANCE', 10])
    },
  },
])

for (const [method, Command] of [
  ['GET', GetObjectCommand],
  ['HEAD', HeadObjectCommand],
] as const) {
  wireTests(`${method === 'GET' ? 'Get' : 'Head'}Object`, [
    {
      it: 'answers retention and hold of a version',
      status: 200,
      given: lockedVersion({ ...compliant, ...onHold }),
      ask: { method, key: 'a' },
      vendor: { 'version-id': '{{id}}', ...compliant, ...onHold },
      sdk: sdk(Command, input, {
        ObjectLockMode: 'COMPLIANCE',
        ObjectLockRetainUntilDate: new Date(lockedUntil),
        ObjectLockLegalHoldStatus: 'ON',
      }),
    },
    {
      it: 'answers neither where there is none',
      status: 200,
      given: lockedVersion(),
      ask: { method, key: 'a' },
      vendor: { 'version-id': '{{id}}' },
      sdk: sdk(Command, input, {
        ObjectLockMode: undefined,
        ObjectLockRetainUntilDate: undefined,
        ObjectLockLegalHoldStatus: undefined,
      }),
    },
  ])
}
