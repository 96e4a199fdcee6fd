/** PutObjectRetention and GetObjectRetention over the wire. */
import { GetObjectRetentionCommand, PutObjectRetentionCommand } from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import type { Ask, Wire } from '../support/wire-client.ts'
import { documentRows, putDocument } from '../support/wire-documents.ts'
import { type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import {
  hoursFromNow,
  lockableHistory,
  lockedVersion,
  lockHeaders,
  locksOf,
  missingVersionRows,
  ownerRows,
  putRetention,
  putVersion,
  unlockedRows,
  vault,
} from '../support/wire-versions.ts'

type Mode = 'GOVERNANCE' | 'COMPLIANCE'

const query = { retention: '' }
const input = { Bucket: 'wire', Key: 'a' }
const get = { method: 'GET', key: 'a', query } as const
const putText = (body: string) => putDocument(query, body, 'a')
const bypassing = (ask: Ask): Ask => ({ ...ask, vendor: { 'bypass-governance-retention': 'true' } })
const throughSdk = (Mode: Mode, until: string, more: object = {}) =>
  sdk(PutObjectRetentionCommand, { ...input, Retention: { Mode, RetainUntilDate: new Date(until) }, ...more })

const [sooner, then, later] = [hoursFromNow(10), hoursFromNow(20), hoursFromNow(30)]
const stored = lockedVersion()
const under = (mode: Mode) => lockedVersion({ ...lockHeaders(mode, 20), 'object-lock-retain-until-date': then })

const isRetained = (mode?: Mode, until?: string) => async (wire: Wire) => {
  expect((await locksOf(wire)).slice(0, 2)).toEqual([mode, until])
}

const changed = (it: string, from: Mode | undefined, ask: Ask, now: Row['afterwards'], call?: Row['sdk']): Row => ({
  it,
  proves: [
    ...(ask.vendor === undefined ? [] : ['vendor:bypass-governance-retention']),
    ...(String(ask.body).includes('<Mode>') ? ['element:Retention/Mode', 'element:Retention/RetainUntilDate'] : []),
  ],
  status: 200,
  given: from === undefined ? stored : under(from),
  ask,
  vendor: {},
  body: '',
  ...(now === undefined ? {} : { afterwards: now }),
  ...(call === undefined ? {} : { sdk: call }),
})
const none = '<Retention/>'

const set: Row[] = [
  ...(['GOVERNANCE', 'COMPLIANCE'] as const).flatMap((mode) => [
    changed(
      `retains an object in ${mode} mode`,
      undefined,
      putRetention(mode, then),
      isRetained(mode, then),
      throughSdk(mode, then),
    ),
    changed(
      `extends a retention in ${mode} mode`,
      mode,
      putRetention(mode, later),
      isRetained(mode, later),
      throughSdk(mode, later),
    ),
    changed(`takes the same retention in ${mode} mode again`, mode, putRetention(mode, then), isRetained(mode, then)),
  ]),
  changed(
    'shortens GOVERNANCE when it is bypassed',
    'GOVERNANCE',
    bypassing(putRetention('GOVERNANCE', sooner)),
    isRetained('GOVERNANCE', sooner),
    throughSdk('GOVERNANCE', sooner, { BypassGovernanceRetention: true }),
  ),
  changed(
    'makes GOVERNANCE COMPLIANCE when it is bypassed',
    'GOVERNANCE',
    bypassing(putRetention('COMPLIANCE', sooner)),
    isRetained('COMPLIANCE', sooner),
  ),
  changed('takes GOVERNANCE away when it is bypassed', 'GOVERNANCE', bypassing(putText(none)), isRetained()),
  changed('takes away a retention that never was', undefined, putText(none), isRetained()),
  changed(
    'has nothing to bypass where there is no retention',
    undefined,
    bypassing(putRetention('COMPLIANCE', then)),
    isRetained('COMPLIANCE', then),
  ),
  changed(
    'takes a date with an offset',
    undefined,
    putRetention('GOVERNANCE', then.replace('.000Z', '+00:00')),
    isRetained('GOVERNANCE', then),
  ),
  changed(
    'takes a date without seconds',
    undefined,
    putRetention('GOVERNANCE', '2999-01-01T00:00Z'),
    isRetained('GOVERNANCE', '2999-01-01T00:00:00.000Z'),
  ),
]

const named = (versionId: string): Ask => putRetention('GOVERNANCE', then, { versionId })
const modes =
  (...expected: (Mode | undefined)[]): NonNullable<Row['afterwards']> =>
  async (wire, _, { v1 = '', v2 = '' }) => {
    const found = await Promise.all([v2, v1, 'null'].map((id) => locksOf(wire, id)))
    expect(found.map(([mode]) => mode)).toEqual(expected)
  }

const addressed: Row[] = [
  {
    it: 'retains the current version only',
    status: 200,
    given: lockableHistory,
    ask: putRetention('GOVERNANCE', then),
    afterwards: modes('GOVERNANCE', undefined, undefined),
  },
  {
    it: 'retains the version that is named',
    proves: ['query:versionId'],
    status: 200,
    given: lockableHistory,
    ask: named('{{v1}}'),
    afterwards: modes(undefined, 'GOVERNANCE', undefined),
    sdk: throughSdk('GOVERNANCE', then, { VersionId: '{{v1}}' }),
  },
  {
    it: 'retains the null version',
    status: 200,
    given: lockableHistory,
    ask: named('null'),
    afterwards: modes(undefined, undefined, 'GOVERNANCE'),
  },
]

const denied = (it: string, from: Mode, ask: Ask, call?: Row['sdk']): Row => ({
  it,
  ...refusal('AccessDenied', {}),
  given: under(from),
  ask,
  afterwards: isRetained(from, then),
  ...(call === undefined ? {} : { sdk: call }),
})

const kept: Row[] = [
  denied(
    'does not shorten COMPLIANCE',
    'COMPLIANCE',
    putRetention('COMPLIANCE', sooner),
    throughSdk('COMPLIANCE', sooner),
  ),
  denied(
    'does not shorten COMPLIANCE for a bypass either',
    'COMPLIANCE',
    bypassing(putRetention('COMPLIANCE', sooner)),
    throughSdk('COMPLIANCE', sooner, { BypassGovernanceRetention: true }),
  ),
  denied('does not take COMPLIANCE away', 'COMPLIANCE', putText(none)),
  denied('does not take COMPLIANCE away for a bypass either', 'COMPLIANCE', bypassing(putText(none))),
  denied('does not make COMPLIANCE GOVERNANCE, however long', 'COMPLIANCE', putRetention('GOVERNANCE', later)),
  denied(
    'does not make COMPLIANCE GOVERNANCE for a bypass either',
    'COMPLIANCE',
    bypassing(putRetention('GOVERNANCE', later)),
  ),
  denied(
    'does not shorten GOVERNANCE that is not bypassed',
    'GOVERNANCE',
    putRetention('GOVERNANCE', sooner),
    throughSdk('GOVERNANCE', sooner),
  ),
  denied('does not take a bypass of "false" for one', 'GOVERNANCE', {
    ...putRetention('GOVERNANCE', sooner),
    vendor: { 'bypass-governance-retention': 'false' },
  }),
  denied('does not take GOVERNANCE away that is not bypassed', 'GOVERNANCE', putText(none)),
  denied(
    'does not change the mode of GOVERNANCE that is not bypassed',
    'GOVERNANCE',
    putRetention('COMPLIANCE', later),
  ),
]

const keeps = { given: under('GOVERNANCE'), afterwards: isRetained('GOVERNANCE', then) }
const malformed: [what: string, ask: Ask][] = [
  ['a mode without a date', putText('<Retention><Mode>COMPLIANCE</Mode></Retention>')],
  ['a date without a mode', putText(`<Retention><RetainUntilDate>${later}</RetainUntilDate></Retention>`)],
  ['an unknown mode', putRetention('compliance', later)],
  ['an empty mode', putRetention('', later)],
  ['an empty date', putRetention('GOVERNANCE', '')],
  ['what is no date', putRetention('GOVERNANCE', 'tomorrow')],
  ['a date that is not ISO 8601', putRetention('GOVERNANCE', new Date(later).toUTCString())],
  ['a date in seconds', putRetention('GOVERNANCE', '32503680000')],
  ['a day without a time', putRetention('GOVERNANCE', later.slice(0, 10))],
  ['the 31st of February', putRetention('GOVERNANCE', '2999-02-31T00:00:00.000Z')],
  ['the 29th of February of a year that has none', putRetention('GOVERNANCE', '2999-02-29T00:00:00Z')],
  ['the 31st of April', putRetention('GOVERNANCE', '2999-04-31T00:00:00+02:00')],
  ['a time without a zone', putRetention('GOVERNANCE', later.slice(0, 19))],
]

const refused: Row[] = [
  ...malformed.map(([what, ask]): Row => ({ it: `refuses ${what}`, ...keeps, ...refusal('MalformedXML'), ask })),
  {
    it: 'refuses a date that has passed, and a bypass does not help',
    ...keeps,
    ...refusal('InvalidArgument', {
      ArgumentName: '{{prefix}}object-lock-retain-until-date',
      ArgumentValue: '2020-01-01T00:00:00.000Z',
    }),
    ask: bypassing(putRetention('GOVERNANCE', '2020-01-01T00:00:00.000Z')),
    sdk: throughSdk('GOVERNANCE', '2020-01-01T00:00:00.000Z', { BypassGovernanceRetention: true }),
  },
  {
    it: 'refuses a bypass that is neither true nor false',
    ...keeps,
    ...refusal('InvalidArgument', { ArgumentName: '{{prefix}}bypass-governance-retention', ArgumentValue: 'yes' }),
    ask: { ...putRetention('GOVERNANCE', sooner), vendor: { 'bypass-governance-retention': 'yes' } },
  },
]

wireTests('PutObjectRetention', [
  ...set,
  ...addressed,
  ...kept,
  ...refused,
  ...unlockedRows(putRetention('GOVERNANCE', then), throughSdk('GOVERNANCE', then)),
  ...missingVersionRows(putRetention('GOVERNANCE', then), (wire) => vault(wire), 'MethodNotAllowed'),
  ...documentRows(putRetention('GOVERNANCE', later), under('GOVERNANCE'), isRetained('GOVERNANCE', then), {
    digestRequired: true,
  }),
  ...ownerRows(putRetention('GOVERNANCE', later), keeps),
])

const answered = (mode: Mode, given: Row['given'], until: string, versionId?: string): Omit<Row, 'it'> => ({
  status: 200,
  ...(given === undefined ? {} : { given }),
  ask: versionId === undefined ? get : { ...get, query: { ...query, versionId } },
  headers: { 'Content-Type': 'application/xml' },
  vendor: {},
  xml: { Retention: { Mode: mode, RetainUntilDate: until } },
  sdk: sdk(GetObjectRetentionCommand, versionId === undefined ? input : { ...input, VersionId: versionId }, {
    Retention: { Mode: mode, RetainUntilDate: new Date(until) },
  }),
})

wireTests('GetObjectRetention', [
  ...(['GOVERNANCE', 'COMPLIANCE'] as const).map(
    (mode): Row => ({ it: `answers ${mode} and until when`, ...answered(mode, under(mode), then) }),
  ),
  ...(['{{v1}}', 'null'] as const).map(
    (versionId): Row => ({
      it: `answers for the version ${versionId === 'null' ? 'null' : 'that is named'}`,
      proves: ['query:versionId'],
      ...answered(
        'GOVERNANCE',
        async (wire) => {
          const facts = await lockableHistory(wire)
          await wire.must(named(versionId === 'null' ? 'null' : (facts.v1 ?? '')))
          return facts
        },
        then,
        versionId,
      ),
    }),
  ),
  {
    it: 'answers NoSuchObjectLockConfiguration where there is no retention, whatever another version has',
    ...refusal('NoSuchObjectLockConfiguration', { Key: 'a' }),
    given: async (wire) => {
      await under('COMPLIANCE')(wire)
      await putVersion(wire, 'a', 'two')
    },
    ask: get,
    sdk: sdk(GetObjectRetentionCommand, input),
  },
  {
    it: 'answers NoSuchObjectLockConfiguration where it was taken away',
    ...refusal('NoSuchObjectLockConfiguration', { Key: 'a' }),
    given: async (wire) => {
      await under('GOVERNANCE')(wire)
      await wire.must(bypassing(putText(none)))
    },
    ask: get,
  },
  ...unlockedRows(get, sdk(GetObjectRetentionCommand, input)),
  ...missingVersionRows(get, (wire) => vault(wire)),
  ...ownerRows(get, { given: under('GOVERNANCE') }),
])
