/**
 * S3's versioning in plain lists, written from AWS's documentation ("How S3 Versioning works", "Working with delete markers", "Adding objects to
 * versioning-suspended buckets") and from nothing in this server. Says what each request must be answered, and what must be there afterwards.
 */
import type { Retention, RetentionMode } from '../../src/records/object-attributes.ts'
import type { Code, Lock } from './direct-client.ts'
import { isProtected, mayBecome } from './lock-rule.ts'

export interface ModelVersion extends Lock {
  /** As the server named it; `null` where versioning gave it no name. */
  id: string
  marker: boolean
  bytes: Buffer
  tags: readonly string[]
}

export interface Rule {
  mode: RetentionMode
  days: number
}

/** Which of a key's versions a request names; absent: the latest. */
export type VersionId = string | undefined

export interface Found {
  code: Code
  version: ModelVersion | undefined
}

const dayMs = 24 * 60 * 60 * 1000

export class ModelBucket {
  versioning: 'unversioned' | 'enabled' | 'suspended'
  lockEnabled: boolean
  rule: Rule | undefined
  /** The versions of each key, the newest first. A key without versions is not there. */
  readonly keys = new Map<string, ModelVersion[]>()
  /** Every name that was ever given: none is given twice. */
  readonly idsSeen = new Set<string>()

  constructor(lockEnabled: boolean) {
    this.lockEnabled = lockEnabled
    this.versioning = lockEnabled ? 'enabled' : 'unversioned'
  }

  versionsOf(key: string): readonly ModelVersion[] {
    return this.keys.get(key) ?? []
  }

  /** What a read of the latest or of one version finds. */
  find(key: string, id: VersionId): Found {
    const versions = this.versionsOf(key)
    if (id === undefined) {
      const [latest] = versions
      // "If the current version is a delete marker, S3 behaves as if the object was deleted."
      return latest === undefined || latest.marker
        ? { code: 'NoSuchKey', version: undefined }
        : { code: 'ok', version: latest }
    }
    const named = versions.find((version) => version.id === id)
    if (named === undefined) return { code: 'NoSuchVersion', version: undefined }
    // "If you try to get a delete marker by its version ID, S3 answers 405."
    return named.marker ? { code: 'MethodNotAllowed', version: undefined } : { code: 'ok', version: named }
  }

  /** Whether a name in an answer is what versioning says it must be, for something newly written. Of null versions, S3 names delete markers only. */
  isFreshId(id: unknown, made: 'object' | 'marker'): boolean {
    if (this.versioning === 'unversioned') return id === undefined
    if (this.versioning === 'suspended') return id === (made === 'marker' ? 'null' : undefined)
    return typeof id === 'string' && id !== 'null' && !this.idsSeen.has(id)
  }

  /** A write that asks for a lock needs a bucket that has Object Lock. */
  codeOfWrite(lock: Lock): Code {
    return (lock.retention === undefined && lock.hold === undefined) || this.lockEnabled ? 'ok' : 'InvalidRequest'
  }

  /** A write on top: "null versions are overwritten, others are kept". `id` is what the server answered. */
  write(key: string, id: unknown, bytes: Buffer, tags: readonly string[], lock: Lock, nowMs: number): void {
    const retention = lock.retention ?? this.#defaultRetention(nowMs)
    this.#place(key, { id: this.#nameOf(id), marker: false, bytes, tags, retention, hold: lock.hold })
  }

  /** DELETE without a version: removes what was never versioned, else hides it behind a delete marker, also where there is nothing. */
  delete(key: string, id: unknown): void {
    if (this.versioning === 'unversioned') this.keys.delete(key)
    else this.#place(key, { id: this.#nameOf(id), marker: true, bytes: Buffer.alloc(0), tags: [] })
  }

  codeOfRemoval(key: string, id: string, nowMs: number, bypass: boolean): Code {
    const named = this.versionsOf(key).find((version) => version.id === id)
    return named !== undefined && isProtected(named, nowMs, bypass) ? 'AccessDenied' : 'ok'
  }

  /** DELETE of a version: it is gone, and what lay below is the latest again. Removing what is not there is no error. */
  remove(key: string, id: string): void {
    const left = this.versionsOf(key).filter((version) => version.id !== id)
    if (left.length === 0) this.keys.delete(key)
    else this.keys.set(key, left)
  }

  codeOfRetention(version: ModelVersion, next: Retention | undefined, nowMs: number, bypass: boolean): Code {
    if (!mayBecome(version, next, nowMs, bypass)) return 'AccessDenied'
    return next !== undefined && next.untilMs <= nowMs ? 'InvalidArgument' : 'ok'
  }

  /** "After you version-enable a bucket, it can never return to an unversioned state", and Object Lock keeps it from being suspended. */
  codeOfVersioning(status: 'Enabled' | 'Suspended'): Code {
    return status === 'Suspended' && this.lockEnabled ? 'InvalidBucketState' : 'ok'
  }

  codeOfLockConfiguration(): Code {
    return this.versioning === 'enabled' ? 'ok' : 'InvalidBucketState'
  }

  /** Keys whose latest version is an object, as listings show them: in the order of UTF-8. */
  listedKeys(): string[] {
    return this.#sortedKeys().filter((key) => this.find(key, undefined).code === 'ok')
  }

  /** All versions as listings show them: by key, and the newest first. */
  listedVersions(): { key: string; version: ModelVersion; latest: boolean }[] {
    return this.#sortedKeys().flatMap((key) =>
      this.versionsOf(key).map((version, i) => ({ key, version, latest: i === 0 })),
    )
  }

  #sortedKeys(): string[] {
    return [...this.keys.keys()].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  }

  #place(key: string, version: ModelVersion): void {
    const kept = version.id === 'null' ? this.versionsOf(key).filter(({ id }) => id !== 'null') : this.versionsOf(key)
    this.keys.set(key, [version, ...kept])
  }

  #nameOf(id: unknown): string {
    const name = typeof id === 'string' ? id : 'null'
    this.idsSeen.add(name)
    return name
  }

  #defaultRetention(nowMs: number): Retention | undefined {
    return this.rule && { mode: this.rule.mode, untilMs: nowMs + this.rule.days * dayMs }
  }
}
