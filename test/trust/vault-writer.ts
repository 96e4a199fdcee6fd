/** A writer of the storm in a bucket with Object Lock: writes, hides, locks and removes versions of its key, and remembers what must be there. */
import {
  DeleteObjectCommand,
  GetObjectCommand,
  GetObjectLegalHoldCommand,
  ListObjectVersionsCommand,
  PutObjectCommand,
  PutObjectLegalHoldCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { bytesOf, type Held } from './storm-writer.ts'

type Presence = 'present' | 'maybe' | 'gone'

interface Version {
  held: Held
  presence: Presence
  /** `undefined`: a change of the hold has no answer yet. */
  hold: boolean | undefined
  /** Retained in GOVERNANCE mode for longer than the storm lasts. */
  retained: boolean
}

const dayMs = 24 * 60 * 60 * 1000

export class VaultWriter {
  readonly #bucket: string
  readonly #key: string
  readonly #random: () => number
  /** By version id, in the order in which they were acknowledged. */
  readonly #versions = new Map<string, Version>()
  /** Written without an answer: may be there, under an id that nobody was told. */
  #attempted: Held[] = []

  constructor(bucket: string, key: string, random: () => number) {
    this.#bucket = bucket
    this.#key = key
    this.#random = random
  }

  get #address(): { Bucket: string; Key: string } {
    return { Bucket: this.#bucket, Key: this.#key }
  }

  /** Works until a request fails without an answer. Calls `onAcknowledged` after each change. */
  async work(client: S3Client, onAcknowledged: () => void): Promise<void> {
    try {
      while (true) {
        const dice = this.#random()
        if (dice < 0.5) await this.#put(client)
        else if (dice < 0.6) await client.send(new DeleteObjectCommand(this.#address))
        else if (dice < 0.8) await this.#toggleHold(client)
        else await this.#remove(client)
        onAcknowledged()
      }
    } catch {
      // Whether the last change happened is open.
    }
  }

  async #put(client: S3Client): Promise<void> {
    const held = {
      seed: Math.floor(this.#random() * 2 ** 31),
      size: Math.floor(this.#random() * 20_000),
      tag: undefined,
    }
    const [retained, hold] = [this.#random() < 0.3, this.#random() < 0.2]
    this.#attempted.push(held)
    const { VersionId = '' } = await client.send(
      new PutObjectCommand({
        ...this.#address,
        Body: bytesOf(held),
        ...(retained ? { ObjectLockMode: 'GOVERNANCE', ObjectLockRetainUntilDate: new Date(Date.now() + dayMs) } : {}),
        ...(hold ? { ObjectLockLegalHoldStatus: 'ON' } : {}),
      }),
    )
    this.#attempted = this.#attempted.filter((other) => other !== held)
    this.#versions.set(VersionId, { held, presence: 'present', hold, retained })
  }

  async #toggleHold(client: S3Client): Promise<void> {
    const [VersionId, version] = this.#pick() ?? []
    if (version === undefined) return
    const next = version.hold === false
    version.hold = undefined
    const LegalHold = { Status: next ? 'ON' : 'OFF' } as const
    await client.send(new PutObjectLegalHoldCommand({ ...this.#address, VersionId, LegalHold }))
    version.hold = next
  }

  /** What is locked must be refused; the rest goes for good. */
  async #remove(client: S3Client): Promise<void> {
    const [VersionId, version] = this.#pick() ?? []
    if (version === undefined) return
    const locked = version.hold === true || version.retained
    if (!locked) version.presence = 'maybe'
    try {
      await client.send(new DeleteObjectCommand({ ...this.#address, VersionId }))
      version.presence = 'gone'
    } catch (error) {
      if (locked && error instanceof Error && error.name === 'AccessDenied') return
      throw error
    }
  }

  #pick(): [string, Version] | undefined {
    const here = [...this.#versions].filter(([, { presence, hold }]) => presence === 'present' && hold !== undefined)
    return here[Math.floor(this.#random() * here.length)]
  }

  /** Compares what is there with what must be; from then on it is known. Resolves with one sentence for each violation. */
  async violations(client: S3Client): Promise<string[]> {
    const listed = await this.#listed(client)
    const found: string[] = []
    for (const [id, version] of this.#versions) {
      if (version.presence !== 'gone' && listed.includes(id)) {
        version.presence = 'present'
        found.push(...(await this.#contentViolations(client, id, version)))
      } else if (version.presence === 'present') {
        found.push(`${this.#key}: acknowledged version ${id} is lost`)
      } else if (listed.includes(id)) {
        found.push(`${this.#key}: removed version ${id} came back`)
      } else {
        version.presence = 'gone'
      }
    }
    found.push(...this.#orderViolations(listed), ...(await this.#adopt(client, listed)))
    return found
  }

  async #contentViolations(client: S3Client, VersionId: string, version: Version): Promise<string[]> {
    const { Body, ObjectLockMode } = await client.send(new GetObjectCommand({ ...this.#address, VersionId }))
    const body = Buffer.from((await Body?.transformToByteArray()) ?? [])
    const found: string[] = []
    if (!body.equals(bytesOf(version.held))) found.push(`${this.#key}: version ${VersionId} has other bytes`)
    if (version.retained && ObjectLockMode !== 'GOVERNANCE')
      found.push(`${this.#key}: version ${VersionId} lost its retention`)
    const hold = await this.#holdOf(client, VersionId)
    if (version.hold !== undefined && hold !== version.hold)
      found.push(`${this.#key}: version ${VersionId} has another legal hold`)
    version.hold = hold
    return found
  }

  async #holdOf(client: S3Client, VersionId: string): Promise<boolean> {
    try {
      const { LegalHold } = await client.send(new GetObjectLegalHoldCommand({ ...this.#address, VersionId }))
      return LegalHold?.Status === 'ON'
    } catch (error) {
      if (error instanceof Error && error.name === 'NoSuchObjectLockConfiguration') return false
      throw error
    }
  }

  /** One writer a key: versions must be listed in the order in which they were acknowledged, the newest first. */
  #orderViolations(listed: readonly string[]): string[] {
    const known = [...this.#versions.keys()].filter((id) => listed.includes(id)).toReversed()
    const asListed = listed.filter((id) => this.#versions.has(id))
    return known.join() === asListed.join() ? [] : [`${this.#key}: versions are out of order`]
  }

  /** Versions that nobody was told of must be what was attempted; they are known from here on, in their place. */
  async #adopt(client: S3Client, listed: readonly string[]): Promise<string[]> {
    const found: string[] = []
    for (const id of listed.filter((candidate) => !this.#versions.has(candidate)).toReversed()) {
      const { Body, ObjectLockMode } = await client.send(new GetObjectCommand({ ...this.#address, VersionId: id }))
      const body = Buffer.from((await Body?.transformToByteArray()) ?? [])
      const held = this.#attempted.find((attempt) => bytesOf(attempt).equals(body))
      if (held === undefined) found.push(`${this.#key}: version ${id} was never written`)
      else {
        const hold = await this.#holdOf(client, id)
        this.#versions.set(id, { held, presence: 'present', hold, retained: ObjectLockMode === 'GOVERNANCE' })
      }
    }
    this.#attempted = []
    return found
  }

  async #listed(client: S3Client): Promise<string[]> {
    const ids: string[] = []
    let marker: { KeyMarker?: string; VersionIdMarker?: string } = {}
    while (true) {
      const page = await client.send(
        new ListObjectVersionsCommand({ Bucket: this.#bucket, Prefix: this.#key, MaxKeys: 50, ...marker }),
      )
      ids.push(...(page.Versions ?? []).map(({ VersionId = '' }) => VersionId))
      if (page.IsTruncated !== true) return ids
      marker = { KeyMarker: page.NextKeyMarker ?? '', VersionIdMarker: page.NextVersionIdMarker ?? '' }
    }
  }
}
