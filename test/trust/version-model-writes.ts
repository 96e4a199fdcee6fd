/** Writes and deletes of the model test: each asked of the server and of the model, with the same answer. */
import { expect } from 'vitest'
import { patternBytes } from '../support/seeded.ts'
import { type Lock, lockInputs, type Outcome, putInputs } from './direct-client.ts'
import type { Of } from './version-model-commands.ts'
import { expectCode, type Twins } from './version-model-twins.ts'

interface DeleteResult {
  Deleted: { Key: string; VersionId?: string; DeleteMarker?: boolean; DeleteMarkerVersionId?: string }[]
  Error: { Key: string; VersionId?: string; Code: string }[]
}

export async function write(
  twins: Twins,
  { do: kind, key, seed, tags, ...ask }: Of<'put' | 'complete'>,
): Promise<void> {
  const lock = twins.lockOf(ask)
  const bytes = patternBytes(seed, seed)
  const expected = twins.model.codeOfWrite(lock)
  const tagging = tags.map((tag) => `${tag}=1`).join('&')
  let outcome: Outcome
  if (kind === 'put') outcome = await twins.client.ask('PutObject', { key }, { ...putInputs(bytes, lock), tagging })
  else if (expected === 'ok') {
    const upload = await twins.client.upload(key, bytes, lock, tagging)
    outcome = await twins.client.ask('CompleteMultipartUpload', { key }, upload)
  } else outcome = await twins.client.ask('CreateMultipartUpload', { key }, lockInputs(lock))
  expectCode(outcome, expected)
  if (outcome.code === 'ok') await written(twins, key, outcome.answer.versionId, bytes, tags, lock)
}

export async function copy(twins: Twins, { from, pick, to, ...ask }: Of<'copy'>): Promise<void> {
  const id = twins.named(from, pick)
  const lock = twins.lockOf(ask)
  const { code, version } = twins.model.find(from, id)
  const query = id === undefined ? '' : `?versionId=${id}`
  const outcome = await twins.client.ask(
    'CopyObject',
    { key: to },
    { copySource: `/bucket/${encodeURIComponent(from)}${query}`, metadataDirective: 'REPLACE', ...lockInputs(lock) },
  )
  // "You are not allowed to specify a delete marker as a version": 400, where a read would be 405.
  const found = code === 'MethodNotAllowed' ? 'InvalidRequest' : code
  const wanted = twins.model.codeOfWrite(lock)
  expectCode(outcome, ...(found === 'ok' ? [wanted] : wanted === 'ok' ? [found] : [found, wanted]))
  if (outcome.code !== 'ok' || version === undefined) return
  expect(outcome.answer.sourceVersionId).toBe(id ?? (version.id === 'null' ? undefined : version.id))
  const { versionId } = outcome.answer
  const isSuspended = twins.model.versioning === 'suspended'
  // A copy names the null version that it makes. A write does not.
  if (isSuspended) expect(versionId).toBe('null')
  await written(twins, to, isSuspended ? undefined : versionId, version.bytes, version.tags, lock)
}

async function written(
  twins: Twins,
  key: string,
  id: unknown,
  bytes: Buffer,
  tags: readonly string[],
  lock: Lock,
): Promise<void> {
  twins.expectFresh(key, id, 'object')
  twins.model.write(key, id, bytes, tags, lock, await twins.nowMs())
}

export async function deleteLatest(twins: Twins, { key }: Of<'delete'>): Promise<void> {
  const { code, answer } = await twins.client.ask('DeleteObject', { key })
  expect({ code, marker: answer.deleteMarker }).toEqual({
    code: 'ok',
    marker: twins.markerMade() ? 'true' : undefined,
  })
  twins.expectFresh(key, answer.versionId, 'marker')
  twins.model.delete(key, answer.versionId)
}

export async function remove(twins: Twins, { key, pick, bypass }: Of<'remove'>): Promise<void> {
  return removeNamed(twins, key, twins.named(key, pick) ?? 'null', bypass)
}

async function removeNamed(twins: Twins, key: string, id: string, bypass: boolean): Promise<void> {
  const named = twins.versionOf(key, id)
  const expected = twins.model.codeOfRemoval(key, id, await twins.nowMs(), bypass)
  const input = { versionId: id, bypassGovernanceRetention: bypass }
  const outcome = await twins.client.ask('DeleteObject', { key }, input)
  expectCode(outcome, expected)
  if (outcome.code !== 'ok') return
  expect(outcome.answer.versionId).toBe(twins.shown(id))
  expect(outcome.answer.deleteMarker).toBe(named?.marker ? 'true' : undefined)
  twins.model.remove(key, id)
}

export async function deleteMany(twins: Twins, { objects, bypass, quiet }: Of<'deleteMany'>): Promise<void> {
  const nowMs = await twins.nowMs()
  const named = objects.map(({ key, pick }) => ({ Key: key, VersionId: twins.named(key, pick) }))
  const { body } = await twins.client.must(
    'DeleteObjects',
    {},
    { body: { Object: named, Quiet: quiet }, bypassGovernanceRetention: bypass },
  )
  const { Deleted, Error: failed } = body as DeleteResult
  for (const { Key: key, VersionId: id } of named) {
    const expected = id === undefined ? 'ok' : twins.model.codeOfRemoval(key, id, nowMs, bypass)
    const failure = failed.find((each) => each.Key === key)
    expect({ Code: failure?.Code ?? 'ok', VersionId: failure?.VersionId }).toEqual({
      Code: expected,
      VersionId: expected === 'ok' ? undefined : id,
    })
    const marker = id === undefined ? twins.markerMade() : twins.versionOf(key, id)?.marker === true
    const deleted = Deleted.find((each) => each.Key === key)
    if (expected === 'ok' && !quiet) {
      expect(deleted).toMatchObject({ VersionId: id, DeleteMarker: marker ? true : undefined })
      expect(deleted?.DeleteMarkerVersionId).toBe(
        id === undefined ? deleted?.DeleteMarkerVersionId : marker ? id : undefined,
      )
    } else expect(deleted).toBeUndefined()
    if (expected !== 'ok') continue
    if (id !== undefined) twins.model.remove(key, id)
    else twins.model.delete(key, await markerNamed(twins, key, deleted))
  }
}

/** The name of a marker just made; a quiet answer does not tell it, so a listing must. */
async function markerNamed(
  twins: Twins,
  key: string,
  deleted: DeleteResult['Deleted'][number] | undefined,
): Promise<unknown> {
  if (!twins.markerMade()) return undefined
  const { body } = await twins.client.must('ListObjectVersions', {}, { prefix: key })
  const { Entries } = body as VersionsPage
  const id = Entries.find(({ element, value }) => element === 'DeleteMarker' && value.Key === key && value.IsLatest)
    ?.value.VersionId
  if (deleted !== undefined) expect(deleted.DeleteMarkerVersionId).toBe(id)
  twins.expectFresh(key, id, 'marker')
  return id
}

/** Removes what each page of versions shows before it asks for the next, as tools empty a bucket. What is left is locked. */
export async function empty(twins: Twins, { page }: Of<'empty'>): Promise<void> {
  let markers: Record<string, unknown> = {}
  while (true) {
    const { body } = await twins.client.must('ListObjectVersions', {}, { maxKeys: page, ...markers })
    const { Entries, IsTruncated, ...next } = body as VersionsPage
    for (const { Key: key, VersionId: id } of Entries.map(({ value }) => value)) await removeNamed(twins, key, id, true)
    if (!IsTruncated) break
    markers = { keyMarker: next.NextKeyMarker, versionIdMarker: next.NextVersionIdMarker }
  }
  const nowMs = await twins.nowMs()
  for (const { key, version } of twins.model.listedVersions())
    expect(twins.model.codeOfRemoval(key, version.id, nowMs, true), `${key} ${version.id}`).toBe('AccessDenied')
}

interface VersionsPage {
  Entries: { element: 'Version' | 'DeleteMarker'; value: { Key: string; VersionId: string; IsLatest: boolean } }[]
  IsTruncated: boolean
  NextKeyMarker?: string
  NextVersionIdMarker?: string
}
