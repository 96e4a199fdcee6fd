/** What a listing of versions must show, worked out the slow way; and histories made with metadata alone, by the ways that requests take or all at once. */
import fc from 'fast-check'
import { readHistory } from '../../src/commits/key-history.ts'
import { commitObject, type NewRecord } from '../../src/commits/new-version.ts'
import type { Kv, Put } from '../../src/kv/kv.ts'
import { changeBucket } from '../../src/objects/buckets.ts'
import { deleteObject } from '../../src/objects/delete-object.ts'
import type { ListedVersion, VersionQuery } from '../../src/objects/list-versions.ts'
import { historyKey, objectKey } from '../../src/records/keyspace.ts'
import { versionCodec } from '../../src/records/record-codecs.ts'
import type { VersionRecord } from '../../src/records/records.ts'
import { versionIdOf } from '../../src/records/version-id.ts'
import { groupOf } from '../../src/rules/listing.ts'
import { plain, scope, type TestStore } from './fixture.ts'
import { inByteOrder } from './listing-model.ts'

/** A version as a listing tells it from others. */
export interface ModelVersion {
  versionId: string
  kind: 'object' | 'marker'
}

/** By key, the newest first. */
export type ModelBucket = Map<string, ModelVersion[]>

export type Line = { entry: { key: string; latest: boolean } & ModelVersion } | { group: string }

export type Step =
  | { do: 'put'; key: string }
  | { do: 'delete'; key: string }
  | { do: 'remove'; key: string; place: number }
  | { do: 'version'; status: 'enabled' | 'suspended' }

const withoutBytes: NewRecord = {
  attributes: plain,
  size: 0,
  etag: '0'.repeat(32),
  checksum: undefined,
  data: { kind: 'parts', uploadId: 'u', runs: [] },
  encryptionAt: undefined,
  versionRandom: Buffer.alloc(10),
  madeBy: 'Put',
}

/** Takes the steps through the store, and in a model that knows S3's rules and nothing of indexes. */
export async function takeSteps({ backend }: TestStore, steps: readonly Step[]): Promise<ModelBucket> {
  const model: ModelBucket = new Map()
  let versioning: 'unversioned' | 'enabled' | 'suspended' = 'unversioned'

  const place = (key: string, version: ModelVersion): void => {
    const before = (model.get(key) ?? []).filter(
      ({ versionId }) => version.versionId !== 'null' || versionId !== 'null',
    )
    model.set(key, [version, ...before])
  }
  for (const step of steps) {
    if (step.do === 'version') {
      versioning = step.status
      await changeBucket(backend, scope, (bucket) => ({ ...bucket, versioning: step.status }))
    } else if (step.do === 'put') {
      const { record } = await commitObject(
        backend,
        scope,
        await readHistory(backend, scope, { key: step.key }),
        { ...withoutBytes, versionRandom: backend.clock.random(10) },
        {},
      )
      place(step.key, { versionId: versioning === 'enabled' ? record.versionId : 'null', kind: 'object' })
    } else if (step.do === 'delete') {
      const { versionId = '' } = await deleteObject(backend, scope, { key: step.key })
      if (versioning === 'unversioned') model.delete(step.key)
      else place(step.key, { versionId: versioning === 'enabled' ? versionId : 'null', kind: 'marker' })
    } else {
      const versions = model.get(step.key) ?? []
      const gone = versions[step.place % Math.max(1, versions.length)]
      if (gone === undefined) continue
      await deleteObject(backend, scope, { key: step.key, versionId: gone.versionId })
      model.set(
        step.key,
        versions.filter((version) => version !== gone),
      )
    }
  }
  return model
}

/** Every line behind the markers, over all pages. */
export function modelLines(
  bucket: ModelBucket,
  { prefix, delimiter, keyMarker, versionIdMarker }: Omit<VersionQuery, 'max'>,
): Line[] {
  const lines: Line[] = []
  const shown = new Set<string>()
  for (const key of inByteOrder([...bucket.keys()])) {
    if (!key.startsWith(prefix)) continue
    for (const [at, version] of (bucket.get(key) ?? []).entries()) {
      if (keyMarker !== undefined && !isBehind(bucket, { key, at }, keyMarker, versionIdMarker)) continue
      const group = groupOf(key, prefix, delimiter)
      if (group === undefined) lines.push({ entry: { key, latest: at === 0, ...version } })
      else if (!shown.has(group) && (keyMarker === undefined || sortsBehind(group, keyMarker))) {
        shown.add(group)
        lines.push({ group })
      }
    }
  }
  return lines
}

const sortsBehind = (a: string, b: string): boolean => Buffer.compare(Buffer.from(a), Buffer.from(b)) > 0

function isBehind(
  bucket: ModelBucket,
  { key, at }: { key: string; at: number },
  keyMarker: string,
  versionIdMarker: string | undefined,
): boolean {
  if (key !== keyMarker) return sortsBehind(key, keyMarker)
  if (versionIdMarker === undefined) return false
  const versions = bucket.get(key) ?? []
  return at > versions.findIndex(({ versionId }) => versionId === versionIdMarker)
}

/** A page's entry as the model has it. */
export const asModel = ({ key, latest, version }: ListedVersion) => ({
  key,
  latest,
  versionId: version.versionId,
  kind: version.kind,
})

const batchPuts = 5000

/** Puts whole histories where they lie, the newest version first: `o` for an object, `m` for a delete marker. No null versions. */
export async function fillVersions(kv: Kv, bucket: string, histories: Iterable<[key: string, kinds: string]>) {
  let puts: Put[] = []
  for (const [text, kinds] of histories) {
    for (let at = 0; at < kinds.length; at++) {
      puts.push(versionPut(bucket, text, kinds[at] === 'm' ? 'marker' : 'object', kinds.length - at, at === 0))
      if (puts.length < batchPuts) continue
      await kv.commit({ puts })
      puts = []
    }
  }
  await kv.commit({ puts })
}

function versionPut(bucket: string, text: string, kind: ModelVersion['kind'], sequence: number, newest: boolean): Put {
  const name = { sequence, versionId: filledVersionId(sequence), modifiedMs: 0 }
  const version: VersionRecord = kind === 'marker' ? { kind, ...name } : { kind, ...withoutBytes, ...name }
  const key = newest && kind === 'object' ? objectKey(bucket, text) : historyKey(bucket, text, sequence)
  return { key, value: versionCodec.encode(key, version) }
}

export const filledVersionId = (sequence: number): string => versionIdOf(sequence, Buffer.alloc(10, sequence & 0xff))

const unit = fc.constantFrom('a', 'a', 'b', '/', '/', '\0', '\uffff', '😀')
const shortText = (minLength: number, maxLength: number) => fc.string({ unit, minLength, maxLength })

/** A history of few keys, so that each gets several versions, and a question about it that has to do with the keys. */
export const versionCases = fc
  .record({
    keys: fc.uniqueArray(shortText(1, 4), { minLength: 1, maxLength: 8 }),
    dice: fc.array(fc.record({ what: fc.nat(99), key: fc.nat(), place: fc.nat(9) }), { maxLength: 60 }),
    delimiter: fc.oneof(fc.constantFrom('', '', '/', '/', '\0', 'aa', 'a/'), shortText(1, 2)),
    prefixUnits: fc.nat(3),
    chosen: fc.nat(),
    max: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.constant(1000)),
    pageSizes: fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 5 }),
    keyMarker: fc.option(fc.oneof(shortText(1, 4), fc.nat()), { nil: undefined }),
    versionPlace: fc.option(fc.nat(9), { nil: undefined }),
  })
  .map(({ keys, dice, prefixUnits, chosen, keyMarker, ...rest }) => {
    const keyAt = (index: number): string => keys[index % keys.length] ?? ''
    return {
      ...rest,
      steps: dice.map((roll) => stepOf(roll, keyAt(roll.key))),
      prefix: [...keyAt(chosen)].slice(0, chosen % 2 === 0 ? 0 : prefixUnits).join(''),
      keyMarker: typeof keyMarker === 'number' ? keyAt(keyMarker) : keyMarker,
    }
  })

function stepOf({ what, place }: { what: number; place: number }, key: string): Step {
  if (what < 10) return { do: 'version', status: what < 6 ? 'enabled' : 'suspended' }
  if (what < 60) return { do: 'put', key }
  return what < 85 ? { do: 'delete', key } : { do: 'remove', key, place }
}
