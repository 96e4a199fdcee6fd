/** Runs commands against the server's operations and against the model, and compares every answer, and all that is there in the end. */
import { createHash } from 'node:crypto'
import { expect } from 'vitest'
import { compactStores } from '../../src/jobs/compact.ts'
import { expireUploads } from '../../src/jobs/expire-uploads.ts'
import { findOrphans } from '../../src/jobs/find-orphans.ts'
import { reclaimGarbage } from '../../src/jobs/reclaim.ts'
import { memoryKv } from '../../src/kv/memory.ts'
import { openBlobs } from '../../src/shards/blobs.ts'
import { memoryShardStore } from '../../src/shards/memory.ts'
import { advanceLockClock, lockNow } from '../../src/store/lock-clock.ts'
import type { Retention } from '../../src/store/records.ts'
import type { Store } from '../../src/store/store.ts'
import { patternBytes, seededClock, seededRandom, type TestClock } from '../shards/seeded.ts'
import { bytesOf, type Code, DirectClient, type Lock, lockInputs, type Outcome, putInputs } from './direct-client.ts'
import { ModelBucket, type ModelVersion, type VersionId } from './version-model.ts'
import type { Command, LockAsk, Pick, RetentionAsk, Scenario } from './version-model-commands.ts'
import { expectListing, expectVersionListing } from './version-model-listings.ts'

const hourMs = 60 * 60 * 1000

/** Runs a scenario to its end; rejects at the first answer that the model doesn't give. `seen` gathers which operation was answered how: `PutObject ok`. */
export async function runScenario({ lock, commands }: Scenario, seen = new Set<string>()): Promise<void> {
  const twins = new Twins(lock, seen)
  await twins.begin()
  for (const command of commands) await twins.step(command)
  await twins.expectSame()
}

type Of<K extends Command['do']> = Extract<Command, { do: K }>

class Twins {
  readonly #clock: TestClock = seededClock(seededRandom(1))
  readonly #store: Store
  readonly #client: DirectClient
  readonly #lock: boolean
  #model: ModelBucket
  /** In the order in which they were given. */
  #idsGiven: string[] = []

  constructor(lock: boolean, seen: Set<string>) {
    const shards = memoryShardStore({ clock: this.#clock })
    const blobs = openBlobs([{ name: 'default', version: 1, scheme: 'replica', stores: [shards] }])
    this.#store = { kv: memoryKv(), blobs, clock: this.#clock }
    this.#client = new DirectClient(this.#store, 'bucket', (name, { code }) => seen.add(`${name} ${code}`))
    this.#lock = lock
    this.#model = new ModelBucket(lock)
  }

  async begin(): Promise<void> {
    await this.#client.must('CreateBucket', {}, { objectLockEnabled: this.#lock })
    this.#model = new ModelBucket(this.#lock)
  }

  async step(command: Command): Promise<void> {
    switch (command.do) {
      case 'put':
      case 'complete':
        return this.#write(command)
      case 'copy':
        return this.#copy(command)
      case 'delete':
        return this.#delete(command)
      case 'remove':
        return this.#remove(command)
      case 'deleteMany':
        return this.#deleteMany(command)
      case 'versioning':
        return this.#setVersioning(command)
      case 'lockBucket':
        return this.#lockBucket(command)
      case 'read':
        return this.#read(command.key, this.#named(command.pick))
      case 'tag':
        return this.#tag(command)
      case 'hold':
        return this.#hold(command)
      case 'retain':
        return this.#retain(command)
      case 'list':
        return expectListing(this.#client, this.#model, command)
      case 'listVersions':
        return expectVersionListing(this.#client, this.#model, command)
      case 'deleteBucket':
        return this.#deleteBucket()
      case 'pass':
        return this.#pass(command)
      case 'jobs':
        return this.#jobs()
    }
  }

  /** Everything that is there, by every way of looking. */
  async expectSame(): Promise<void> {
    await this.#jobs()
    for (const page of [2, 1000]) {
      await expectVersionListing(this.#client, this.#model, { prefix: '', delimiter: '', page })
      await expectListing(this.#client, this.#model, { prefix: '', delimiter: '', page })
    }
    for (const [key, versions] of this.#model.keys) {
      await this.#read(key, undefined)
      for (const { id } of versions) await this.#read(key, id)
    }
  }

  async #write({ do: kind, key, seed, tags, ...ask }: Of<'put' | 'complete'>): Promise<void> {
    const lock = this.#lockOf(ask)
    const bytes = patternBytes(seed, seed)
    const expected = this.#model.codeOfWrite(lock)
    const tagging = tags.map((tag) => `${tag}=1`).join('&')
    let outcome: Outcome
    if (kind === 'put') outcome = await this.#client.ask('PutObject', { key }, { ...putInputs(bytes, lock), tagging })
    else if (expected === 'ok') {
      const upload = await this.#client.upload(key, bytes, lock, tagging)
      outcome = await this.#client.ask('CompleteMultipartUpload', { key }, upload)
    } else outcome = await this.#client.ask('CreateMultipartUpload', { key }, lockInputs(lock))
    expectCode(outcome, expected)
    if (outcome.code === 'ok') await this.#written(key, outcome.answer.versionId, bytes, tags, lock)
  }

  async #copy({ from, pick, to, ...ask }: Of<'copy'>): Promise<void> {
    const id = this.#named(pick)
    const lock = this.#lockOf(ask)
    const { code, version } = this.#model.find(from, id)
    const query = id === undefined ? '' : `?versionId=${id}`
    const outcome = await this.#client.ask(
      'CopyObject',
      { key: to },
      { copySource: `/bucket/${encodeURIComponent(from)}${query}`, metadataDirective: 'REPLACE', ...lockInputs(lock) },
    )
    // "You are not allowed to specify a delete marker as a version": 400, where a read would be 405.
    const found = code === 'MethodNotAllowed' ? 'InvalidRequest' : code
    const wanted = this.#model.codeOfWrite(lock)
    expectCode(outcome, ...(found === 'ok' ? [wanted] : wanted === 'ok' ? [found] : [found, wanted]))
    if (outcome.code !== 'ok' || version === undefined) return
    expect(outcome.answer.sourceVersionId).toBe(this.#shown(version.id))
    await this.#written(to, outcome.answer.versionId, version.bytes, version.tags, lock)
  }

  async #written(key: string, id: unknown, bytes: Buffer, tags: readonly string[], lock: Lock): Promise<void> {
    this.#expectFresh(id)
    this.#model.write(key, id, bytes, tags, lock, await this.#nowMs())
  }

  async #delete({ key }: Of<'delete'>): Promise<void> {
    const { code, answer } = await this.#client.ask('DeleteObject', { key })
    expect({ code, marker: answer.deleteMarker }).toEqual({
      code: 'ok',
      marker: this.#markerMade() ? 'true' : undefined,
    })
    this.#expectFresh(answer.versionId)
    this.#model.delete(key, answer.versionId)
  }

  async #remove({ key, pick, bypass }: Of<'remove'>): Promise<void> {
    const id = this.#named(pick) ?? 'null'
    const named = this.#versionOf(key, id)
    const expected = this.#model.codeOfRemoval(key, id, await this.#nowMs(), bypass)
    const input = { versionId: id, bypassGovernanceRetention: bypass }
    const outcome = await this.#client.ask('DeleteObject', { key }, input)
    expectCode(outcome, expected)
    if (outcome.code !== 'ok') return
    expect(outcome.answer.versionId).toBe(this.#shown(id))
    expect(outcome.answer.deleteMarker).toBe(named?.marker ? 'true' : undefined)
    this.#model.remove(key, id)
  }

  async #deleteMany({ objects, bypass, quiet }: Of<'deleteMany'>): Promise<void> {
    const nowMs = await this.#nowMs()
    const named = objects.map(({ key, pick }) => ({ Key: key, VersionId: this.#named(pick) }))
    const { body } = await this.#client.must(
      'DeleteObjects',
      {},
      { body: { Object: named, Quiet: quiet }, bypassGovernanceRetention: bypass },
    )
    const { Deleted, Error: failed } = body as DeleteResult
    for (const { Key: key, VersionId: id } of named) {
      const expected = id === undefined ? 'ok' : this.#model.codeOfRemoval(key, id, nowMs, bypass)
      const failure = failed.find((each) => each.Key === key)
      expect({ Code: failure?.Code ?? 'ok', VersionId: failure?.VersionId }).toEqual({
        Code: expected,
        VersionId: expected === 'ok' ? undefined : id,
      })
      const marker = id === undefined ? this.#markerMade() : this.#versionOf(key, id)?.marker === true
      const deleted = Deleted.find((each) => each.Key === key)
      if (expected === 'ok' && !quiet) {
        expect(deleted).toMatchObject({ VersionId: id, DeleteMarker: marker ? true : undefined })
        expect(deleted?.DeleteMarkerVersionId).toBe(
          id === undefined ? deleted?.DeleteMarkerVersionId : marker ? id : undefined,
        )
      } else expect(deleted).toBeUndefined()
      if (expected !== 'ok') continue
      if (id !== undefined) this.#model.remove(key, id)
      else this.#model.delete(key, await this.#markerNamed(key, deleted))
    }
  }

  /** The name of a marker just made; a quiet answer does not tell it, so a listing must. */
  async #markerNamed(key: string, deleted: DeleteResult['Deleted'][number] | undefined): Promise<unknown> {
    if (!this.#markerMade()) return undefined
    const { body } = await this.#client.must('ListObjectVersions', {}, { prefix: key })
    const { DeleteMarker } = body as { DeleteMarker: { Key: string; VersionId: string; IsLatest: boolean }[] }
    const id = DeleteMarker.find((marker) => marker.Key === key && marker.IsLatest)?.VersionId
    if (deleted !== undefined) expect(deleted.DeleteMarkerVersionId).toBe(id)
    this.#expectFresh(id)
    return id
  }

  async #setVersioning({ status }: Of<'versioning'>): Promise<void> {
    const outcome = await this.#client.ask('PutBucketVersioning', {}, { body: { Status: status } })
    expectCode(outcome, this.#model.codeOfVersioning(status))
    if (outcome.code === 'ok') this.#model.versioning = status === 'Enabled' ? 'enabled' : 'suspended'
    const { body } = await this.#client.must('GetBucketVersioning')
    const shown = { unversioned: undefined, enabled: 'Enabled', suspended: 'Suspended' }
    expect(body).toEqual({ Status: shown[this.#model.versioning] })
  }

  async #lockBucket({ rule }: Of<'lockBucket'>): Promise<void> {
    const Rule = rule && { DefaultRetention: { Mode: rule.mode, Days: rule.days } }
    const outcome = await this.#client.ask(
      'PutObjectLockConfiguration',
      {},
      { body: { ObjectLockEnabled: 'Enabled', Rule } },
    )
    expectCode(outcome, this.#model.codeOfLockConfiguration())
    if (outcome.code !== 'ok') return
    this.#model.lockEnabled = true
    this.#model.rule = rule
  }

  /** GET, HEAD and tags agree with the model, and so does the lock. */
  async #read(key: string, versionId: VersionId): Promise<void> {
    const { code, version } = this.#model.find(key, versionId)
    const got = await this.#client.ask('GetObject', { key }, { versionId })
    const head = await this.#client.ask('HeadObject', { key }, { versionId })
    const tags = await this.#client.ask('GetObjectTagging', { key }, { versionId })
    expectCode(got, code)
    expectCode(head, code)
    expectCode(tags, code)
    if (version === undefined) return this.#expectMarkerShown(got, key, versionId)
    expect((await bytesOf(got.answer)).equals(version.bytes)).toBe(true)
    const { retention, hold } = version
    const shown = {
      versionId: this.#shown(version.id),
      contentLength: String(version.bytes.length),
      taggingCount: version.tags.length === 0 ? undefined : String(version.tags.length),
      objectLockMode: retention?.mode,
      objectLockRetainUntilDate: retention && new Date(retention.untilMs).toISOString(),
      objectLockLegalHold: hold === undefined ? undefined : hold ? 'ON' : 'OFF',
    }
    expect(got.answer).toMatchObject(shown)
    expect(head.answer).toMatchObject({ ...shown, etag: got.answer.etag })
    if (!String(got.answer.etag).includes('-')) expect(got.answer.etag).toBe(`"${md5(version.bytes)}"`)
    const Tag = version.tags.map((tag) => ({ Key: tag, Value: '1' }))
    expect(tags.answer).toMatchObject({ versionId: shown.versionId, body: { TagSet: { Tag } } })
  }

  #expectMarkerShown({ vendorHeaders }: Outcome, key: string, id: VersionId): void {
    const marker = id === undefined ? this.#model.versionsOf(key)[0] : this.#versionOf(key, id)
    expect(vendorHeaders).toEqual(marker?.marker ? { 'delete-marker': 'true', 'version-id': marker.id } : {})
  }

  async #tag({ key, pick, tags }: Of<'tag'>): Promise<void> {
    const versionId = this.#named(pick)
    const { code, version } = this.#model.find(key, versionId)
    const body = { TagSet: { Tag: tags.map((Key) => ({ Key, Value: '1' })) } }
    const outcome =
      tags.length === 0
        ? await this.#client.ask('DeleteObjectTagging', { key }, { versionId })
        : await this.#client.ask('PutObjectTagging', { key }, { versionId, body })
    expectCode(outcome, code)
    if (version === undefined) return
    expect(outcome.answer.versionId).toBe(this.#shown(version.id))
    version.tags = tags
  }

  async #hold({ key, pick, on }: Of<'hold'>): Promise<void> {
    const versionId = this.#named(pick)
    const { code, version } = this.#model.find(key, versionId)
    const body = { Status: on ? 'ON' : 'OFF' }
    const outcome = await this.#client.ask('PutObjectLegalHold', { key }, { versionId, body })
    expectCode(outcome, ...this.#orNoLock(code))
    if (outcome.code === 'ok' && version !== undefined) version.hold = on
    await this.#expectLockOf(key, versionId)
  }

  async #retain({ key, pick, retention: ask, bypass }: Of<'retain'>): Promise<void> {
    const versionId = this.#named(pick)
    const retention = this.#retentionOf(ask)
    const { code, version } = this.#model.find(key, versionId)
    const expected =
      version === undefined ? code : this.#model.codeOfRetention(version, retention, await this.#nowMs(), bypass)
    const body = { Mode: retention?.mode, RetainUntilDate: retention?.untilMs }
    const input = { versionId, body, bypassGovernanceRetention: bypass }
    const outcome = await this.#client.ask('PutObjectRetention', { key }, input)
    expectCode(outcome, ...this.#orNoLock(expected))
    if (outcome.code === 'ok' && version !== undefined) version.retention = retention
    await this.#expectLockOf(key, versionId)
  }

  async #expectLockOf(key: string, versionId: VersionId): Promise<void> {
    const { code, version } = this.#model.find(key, versionId)
    const none = 'NoSuchObjectLockConfiguration'
    const hold = await this.#client.ask('GetObjectLegalHold', { key }, { versionId })
    const retention = await this.#client.ask('GetObjectRetention', { key }, { versionId })
    expectCode(hold, ...this.#orNoLock(version !== undefined && version.hold === undefined ? none : code))
    expectCode(retention, ...this.#orNoLock(version !== undefined && version.retention === undefined ? none : code))
  }

  /** In a bucket without Object Lock that is wrong first; where something else is wrong too, either may be told. */
  #orNoLock(code: Code): Code[] {
    if (this.#model.lockEnabled) return [code]
    return ['NoSuchKey', 'NoSuchVersion', 'MethodNotAllowed'].includes(code)
      ? ['InvalidRequest', code]
      : ['InvalidRequest']
  }

  async #deleteBucket(): Promise<void> {
    const outcome = await this.#client.ask('DeleteBucket')
    expectCode(outcome, this.#model.keys.size === 0 ? 'ok' : 'BucketNotEmpty')
    if (outcome.code === 'ok') await this.begin()
  }

  async #pass({ hours }: Of<'pass'>): Promise<void> {
    this.#clock.advance(hours * hourMs)
    await advanceLockClock(this.#store, hours * hourMs)
  }

  async #jobs(): Promise<void> {
    this.#clock.advance(1)
    await expireUploads(this.#store, { abandonedUploadMs: 0 })
    await reclaimGarbage(this.#store, { graceMs: 0 })
    // Then every shard has its owner: no request leaves one behind.
    await compactStores(this.#store, { graceMs: 0 })
    expect(await findOrphans(this.#store, { graceMs: 0 })).toBe(0)
  }

  #nowMs(): Promise<number> {
    return lockNow(this.#store)
  }

  #markerMade(): boolean {
    return this.#model.versioning !== 'unversioned'
  }

  #versionOf(key: string, id: string): ModelVersion | undefined {
    return this.#model.versionsOf(key).find((version) => version.id === id)
  }

  /** What an answer says of a version's name. */
  #shown(id: string): string | undefined {
    return this.#model.versioning === 'unversioned' ? undefined : id
  }

  #expectFresh(id: unknown): void {
    expect(this.#model.isFreshId(id), `version ${String(id)} in a bucket that is ${this.#model.versioning}`).toBe(true)
    if (typeof id === 'string') this.#idsGiven.push(id)
  }

  #named(pick: Pick): VersionId {
    if (pick === 'latest') return undefined
    if (pick === 'null') return 'null'
    if ('given' in pick) return this.#idsGiven[pick.given % this.#idsGiven.length] ?? 'null'
    // A name that leads to a place where there may be another version.
    return pick.unknown.toString(16).padStart(12, '0') + '0'.repeat(20)
  }

  #lockOf({ retention, hold }: LockAsk): Lock {
    return { retention: this.#retentionOf(retention), hold }
  }

  #retentionOf(ask: RetentionAsk | undefined): Retention | undefined {
    return ask && { mode: ask.mode, untilMs: this.#clock.now() + ask.hours * hourMs }
  }
}

interface DeleteResult {
  Deleted: { Key: string; VersionId?: string; DeleteMarker?: boolean; DeleteMarkerVersionId?: string }[]
  Error: { Key: string; VersionId?: string; Code: string }[]
}

function expectCode({ code }: Outcome, ...expected: readonly Code[]): void {
  expect(expected).toContain(code)
}

const md5 = (bytes: Buffer): string => createHash('md5').update(bytes).digest('hex')
