/** Reads of the model test, and changes of what a version carries beside its bytes: tags, hold, retention. */
import { createHash } from 'node:crypto'
import { expect } from 'vitest'
import { bytesOf, type Code, type Outcome } from './direct-client.ts'
import type { VersionId } from './version-model.ts'
import type { Of } from './version-model-commands.ts'
import { expectCode, type Twins } from './version-model-twins.ts'

/** GET, HEAD and tags agree with the model, and so does the lock. */
export async function read(twins: Twins, key: string, versionId: VersionId): Promise<void> {
  const { code, version } = twins.model.find(key, versionId)
  const got = await twins.client.ask('GetObject', { key }, { versionId })
  const head = await twins.client.ask('HeadObject', { key }, { versionId })
  const tags = await twins.client.ask('GetObjectTagging', { key }, { versionId })
  expectCode(got, code)
  expectCode(head, code)
  expectCode(tags, aboutCode(twins, key, versionId))
  if (version === undefined) return expectMarkerShown(twins, got, key, versionId)
  expect((await bytesOf(got.answer)).equals(version.bytes)).toBe(true)
  const { retention, hold } = version
  const shown = {
    versionId: twins.shown(version.id),
    contentLength: String(version.bytes.length),
    taggingCount: version.tags.length === 0 ? undefined : String(version.tags.length),
    objectLockMode: retention?.mode,
    objectLockRetainUntilDate: retention && new Date(retention.untilMs).toISOString(),
    objectLockLegalHold: hold === undefined ? undefined : hold ? 'ON' : 'OFF',
  }
  // What an answer does not say, it may also leave out.
  const said = (answer: Record<string, unknown>) =>
    Object.fromEntries(Object.keys(shown).map((name) => [name, answer[name]]))
  expect(said(got.answer)).toEqual(shown)
  expect(said(head.answer)).toEqual(shown)
  expect(head.answer.etag).toBe(got.answer.etag)
  if (!String(got.answer.etag).includes('-')) expect(got.answer.etag).toBe(`"${md5(version.bytes)}"`)
  const Tag = version.tags.map((tag) => ({ Key: tag, Value: '1' }))
  expect(tags.answer).toMatchObject({ versionId: shown.versionId, body: { TagSet: { Tag } } })
}

/** The tags of a key whose newest version is a delete marker can't be asked for, nor can its lock be set; its object is only not there. */
function aboutCode({ model }: Twins, key: string, versionId: VersionId): Code {
  const isDeleted = versionId === undefined && model.versionsOf(key)[0]?.marker === true
  return isDeleted ? 'MethodNotAllowed' : model.find(key, versionId).code
}

function expectMarkerShown(twins: Twins, { vendorHeaders }: Outcome, key: string, id: VersionId): void {
  const marker = id === undefined ? twins.model.versionsOf(key)[0] : twins.versionOf(key, id)
  expect(vendorHeaders).toEqual(marker?.marker ? { 'delete-marker': 'true', 'version-id': marker.id } : {})
}

export async function tag(twins: Twins, { key, pick, tags }: Of<'tag'>): Promise<void> {
  const versionId = twins.named(key, pick)
  const { version } = twins.model.find(key, versionId)
  const body = { TagSet: { Tag: tags.map((Key) => ({ Key, Value: '1' })) } }
  const outcome =
    tags.length === 0
      ? await twins.client.ask('DeleteObjectTagging', { key }, { versionId })
      : await twins.client.ask('PutObjectTagging', { key }, { versionId, body })
  expectCode(outcome, aboutCode(twins, key, versionId))
  if (version === undefined) return
  expect(outcome.answer.versionId).toBe(twins.shown(version.id))
  version.tags = tags
}

export async function hold(twins: Twins, { key, pick, on }: Of<'hold'>): Promise<void> {
  const versionId = twins.named(key, pick)
  const { version } = twins.model.find(key, versionId)
  const code = aboutCode(twins, key, versionId)
  const body = { Status: on ? 'ON' : 'OFF' }
  const outcome = await twins.client.ask('PutObjectLegalHold', { key }, { versionId, body })
  expectCode(outcome, ...orNoLock(twins, code))
  if (outcome.code === 'ok' && version !== undefined) version.hold = on
  await expectLockOf(twins, key, versionId)
}

export async function retain(twins: Twins, { key, pick, retention: ask, bypass }: Of<'retain'>): Promise<void> {
  const versionId = twins.named(key, pick)
  const retention = twins.retentionOf(ask)
  const { version } = twins.model.find(key, versionId)
  const expected =
    version === undefined
      ? aboutCode(twins, key, versionId)
      : twins.model.codeOfRetention(version, retention, await twins.nowMs(), bypass)
  const body = { Mode: retention?.mode, RetainUntilDate: retention?.untilMs }
  const input = { versionId, body, bypassGovernanceRetention: bypass }
  const outcome = await twins.client.ask('PutObjectRetention', { key }, input)
  expectCode(outcome, ...orNoLock(twins, expected))
  if (outcome.code === 'ok' && version !== undefined) version.retention = retention
  await expectLockOf(twins, key, versionId)
}

async function expectLockOf(twins: Twins, key: string, versionId: VersionId): Promise<void> {
  const { code, version } = twins.model.find(key, versionId)
  const none = 'NoSuchObjectLockConfiguration'
  const hold = await twins.client.ask('GetObjectLegalHold', { key }, { versionId })
  const retention = await twins.client.ask('GetObjectRetention', { key }, { versionId })
  expectCode(hold, ...orNoLock(twins, version !== undefined && version.hold === undefined ? none : code))
  expectCode(retention, ...orNoLock(twins, version !== undefined && version.retention === undefined ? none : code))
}

/** In a bucket without Object Lock that is wrong first; where something else is wrong too, either may be told. */
function orNoLock(twins: Twins, code: Code): Code[] {
  if (twins.model.lockEnabled) return [code]
  return ['NoSuchKey', 'NoSuchVersion', 'MethodNotAllowed'].includes(code)
    ? ['InvalidRequest', code]
    : ['InvalidRequest']
}

const md5 = (bytes: Buffer): string => createHash('md5').update(bytes).digest('hex')
