/** Buckets with versions and locks as tests prepare them, and the rows that everything naming a version shares. */
import { expect } from 'vitest'
import { md5Base64 } from './wire-checksums.ts'
import type { Ask, Wire } from './wire-client.ts'
import { type DocumentAsk, putDocument } from './wire-documents.ts'
import { type Facts, type Given, type Row, refusal } from './wire-rows.ts'
import { otherKey } from './wire-server.ts'

export const aVersionId = expect.stringMatching(/^[0-9a-f]{32}$/)
/** Well-formed, of the sequence that a key's first version has, and nobody's. */
export const unknownVersionId = `000000000001${'f'.repeat(20)}`
export const malformedVersionIds = ['', 'v1', 'NULL', `${unknownVersionId}0`, unknownVersionId.toUpperCase()] as const

const hourMs = 60 * 60 * 1000
/** A point in time so many hours from now, without milliseconds: headers of SDKs have none. */
export const hoursFromNow = (hours: number): string =>
  new Date(Math.floor(Date.now() / 1000) * 1000 + hours * hourMs).toISOString()

export async function setVersioning(wire: Wire, status: 'Enabled' | 'Suspended'): Promise<void> {
  const body = `<VersioningConfiguration><Status>${status}</Status></VersioningConfiguration>`
  await wire.must(putDocument({ versioning: '' }, body))
}
export const enabled = (wire: Wire): Promise<void> => setVersioning(wire, 'Enabled')
export const suspended = (wire: Wire): Promise<void> => setVersioning(wire, 'Suspended')

/** Resolves with the version id that was answered; empty when there was none. */
export async function putVersion(wire: Wire, key: string, body: string, vendor?: Ask['vendor']): Promise<string> {
  const headers = { 'Content-MD5': md5Base64(body) }
  const reply = await wire.must({ method: 'PUT', key, body, headers, ...(vendor === undefined ? {} : { vendor }) })
  return vendorHeader(wire, reply.headers, 'version-id') ?? ''
}

/** Resolves with the id of the delete marker. */
export async function putMarker(wire: Wire, key: string): Promise<string> {
  const { headers } = await wire.must({ method: 'DELETE', key })
  expect(vendorHeader(wire, headers, 'delete-marker')).toBe('true')
  return vendorHeader(wire, headers, 'version-id') ?? ''
}

export const vendorHeader = (wire: Wire, headers: ReadonlyMap<string, string>, name: string): string | undefined =>
  headers.get(wire.style.prefix + name)

/** Key `a`, written before versioning and twice after. Facts: `v1` and `v2`; the oldest is the null version. */
export async function history(wire: Wire): Promise<Facts> {
  await putVersion(wire, 'a', 'zero')
  await enabled(wire)
  return { v1: await putVersion(wire, 'a', 'one'), v2: await putVersion(wire, 'a', 'two') }
}

/** The same, deleted. Facts: also `marker`. */
export async function deletedHistory(wire: Wire): Promise<Facts> {
  return { ...(await history(wire)), marker: await putMarker(wire, 'a') }
}

const element = (text: string, name: string): string => new RegExp(`<${name}>([^<]*)</${name}>`).exec(text)?.[1] ?? ''

/** What the bucket holds of a key: `id` of each version, `id!` of each delete marker; that of the latest has a star. */
async function versionsOf(wire: Wire, key = 'a'): Promise<string[]> {
  const { body } = await wire.must({ method: 'GET', query: { versions: '', prefix: key } })
  const found = [...body.toString().matchAll(/<(Version|DeleteMarker)>(.*?)<\/\1>/gs)]
  return found
    .filter(([, , text = '']) => element(text, 'Key') === key)
    .map(([, kind, text = '']) => {
      const latest = element(text, 'IsLatest') === 'true' ? '*' : ''
      return `${element(text, 'VersionId')}${kind === 'Version' ? '' : '!'}${latest}`
    })
}

/** What is left of `a`, with the facts of its row filled in. */
export const leaves =
  (...lines: string[]): NonNullable<Row['afterwards']> =>
  async (wire, _, facts) => {
    const filled = lines.map((line) => line.replace(/\w+/, (name) => facts[name] ?? name))
    expect((await versionsOf(wire)).sort()).toEqual(filled.sort())
  }

/** Object Lock on the bucket of the rows. `rule`: what is within DefaultRetention. */
export async function vault(wire: Wire, rule?: string): Promise<void> {
  await enabled(wire)
  await wire.must(putLockConfiguration(rule))
}

export const putLockConfiguration = (rule?: string): DocumentAsk =>
  putDocument({ 'object-lock': '' }, lockConfiguration(rule))
export const putHold = (status: string, query: Record<string, string> = {}): DocumentAsk =>
  putDocument({ 'legal-hold': '', ...query }, `<LegalHold><Status>${status}</Status></LegalHold>`, 'a')
export const putRetention = (mode: string, until: string, query: Record<string, string> = {}): DocumentAsk =>
  putDocument(
    { retention: '', ...query },
    `<Retention><Mode>${mode}</Mode><RetainUntilDate>${until}</RetainUntilDate></Retention>`,
    'a',
  )

export function lockConfiguration(rule?: string): string {
  const inner = rule === undefined ? '' : `<Rule><DefaultRetention>${rule}</DefaultRetention></Rule>`
  return `<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled>${inner}</ObjectLockConfiguration>`
}

/** The end of the locks below. */
export const lockedUntil = hoursFromNow(48)
export const governed = { 'object-lock-mode': 'GOVERNANCE', 'object-lock-retain-until-date': lockedUntil } as const
export const compliant = { 'object-lock-mode': 'COMPLIANCE', 'object-lock-retain-until-date': lockedUntil } as const
export const onHold = { 'object-lock-legal-hold': 'ON' } as const

/** Headers that lock what is written. */
export const lockHeaders = (mode: 'GOVERNANCE' | 'COMPLIANCE', hours: number): Record<string, string> => ({
  'object-lock-mode': mode,
  'object-lock-retain-until-date': hoursFromNow(hours),
})

/** The same as `history`, in a bucket with Object Lock. */
export async function lockableHistory(wire: Wire): Promise<Facts> {
  const facts = await history(wire)
  await wire.must(putLockConfiguration())
  return facts
}

/** One version of `a` in a bucket with Object Lock. Facts: `id`, and `until` of its lock. */
export const lockedVersion =
  (vendor: Record<string, string> = {}): ((wire: Wire) => Promise<Facts>) =>
  async (wire) => {
    await vault(wire)
    const id = await putVersion(wire, 'a', 'one', vendor)
    return { id, until: vendor['object-lock-retain-until-date'] ?? '' }
  }

/** The lock headers that HEAD answers of a version: mode, date, hold. */
export async function locksOf(wire: Wire, versionId?: string, key = 'a'): Promise<(string | undefined)[]> {
  const query: Record<string, string> = versionId === undefined ? {} : { versionId }
  const { headers } = await wire.must({ method: 'HEAD', key, query })
  const names = ['object-lock-mode', 'object-lock-retain-until-date', 'object-lock-legal-hold']
  return names.map((name) => vendorHeader(wire, headers, name))
}

/**
 * What a request that names a version, or none, is answered where there is no such object. `given` makes the bucket; `a` must not be in it. `deleted`: the code for a
 * key whose newest version is a delete marker.
 */
export function missingVersionRows(
  ask: Ask,
  given: Given,
  deleted: 'NoSuchKey' | 'MethodNotAllowed' = 'NoSuchKey',
): Row[] {
  const named = (versionId: string): Ask => ({ ...ask, query: { ...ask.query, versionId } })
  const ofMarker = { Method: ask.method, ResourceType: 'DeleteMarker' }
  const one: Given = async (wire) => {
    await given(wire)
    return { v1: await putVersion(wire, 'a', 'one'), marker: await putMarker(wire, 'a') }
  }
  return [
    { it: 'answers NoSuchKey where there is no object', ...refusal('NoSuchKey', { Key: 'a' }), given, ask },
    {
      it: `answers ${deleted} for a key that is deleted, and that a delete marker is why`,
      ...refusal(deleted, deleted === 'NoSuchKey' ? { Key: 'a' } : ofMarker),
      vendor: { 'delete-marker': 'true', 'version-id': '{{marker}}' },
      given: one,
      ask,
    },
    {
      it: 'answers MethodNotAllowed for the version of a delete marker, and what may be done to it',
      ...refusal('MethodNotAllowed', ofMarker),
      headers: { Allow: 'DELETE', 'Last-Modified': expect.stringMatching(/ GMT$/) },
      vendor: { 'delete-marker': 'true', 'version-id': '{{marker}}' },
      given: one,
      ask: named('{{marker}}'),
    },
    {
      it: 'answers NoSuchVersion for a version that the key does not have',
      ...refusal('NoSuchVersion', { Key: 'a', VersionId: unknownVersionId }),
      given: one,
      ask: named(unknownVersionId),
    },
    {
      it: 'answers NoSuchVersion for the version of another key',
      ...refusal('NoSuchVersion', { Key: 'a', VersionId: '{{other}}' }),
      given: async (wire) => {
        await given(wire)
        return { other: await putVersion(wire, 'b', 'x') }
      },
      ask: named('{{other}}'),
    },
    {
      it: 'answers NoSuchVersion for the null version where there is none',
      ...refusal('NoSuchVersion', { Key: 'a', VersionId: 'null' }),
      given: one,
      ask: named('null'),
    },
    ...malformedVersionIds.map(
      (id): Row => ({
        it: `refuses the version id "${id}"`,
        ...refusal('InvalidArgument', { ArgumentName: 'versionId', ArgumentValue: id }),
        message: id === '' ? 'Version id cannot be the empty string' : 'Invalid version id specified',
        given: one,
        ask: named(id),
      }),
    ),
  ]
}

/** Whose bucket it is. `keeps`: what is there before, and must be afterwards. */
export function ownerRows(ask: Ask, keeps: Pick<Row, 'given' | 'afterwards'> = {}): Row[] {
  return [
    {
      it: 'answers NoSuchBucket where there is no bucket',
      withoutBucket: true,
      ...refusal('NoSuchBucket', { BucketName: 'wire' }),
      ask,
    },
    {
      it: "answers AccessDenied for another account's bucket",
      ...keeps,
      ...refusal('AccessDenied', {}),
      ask: { ...ask, signedBy: otherKey },
    },
    {
      it: 'answers AccessDenied where another owner is expected',
      ...keeps,
      ...refusal('AccessDenied', {}),
      ask: { ...ask, vendor: { ...ask.vendor, 'expected-bucket-owner': 'other' } },
    },
  ]
}

/** What asks about the lock of `a` is answered in a bucket without Object Lock. */
export function unlockedRows(ask: Ask, call: NonNullable<Row['sdk']>): Row[] {
  return (
    [
      ['versions never were on', undefined],
      ['versions are on', enabled],
    ] as const
  ).map(
    ([where, prepare]): Row => ({
      it: `answers InvalidRequest where there is no Object Lock and ${where}`,
      ...refusal('InvalidRequest', { BucketName: 'wire' }),
      given: async (wire) => {
        await prepare?.(wire)
        await putVersion(wire, 'a', 'one')
      },
      ask,
      sdk: call,
    }),
  )
}
