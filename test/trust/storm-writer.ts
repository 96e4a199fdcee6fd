/** One writer of the storm: owns its keys, does random work on them, and remembers what each may hold. */
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  GetObjectTaggingCommand,
  PutObjectCommand,
  PutObjectTaggingCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { patternBytes } from '../support/seeded.ts'

/** What a key holds: bytes told by seed and size, and a tag. */
export interface Held {
  seed: number
  size: number
  tag: string | undefined
}

/** `undefined`: no object. */
export type State = Held | undefined

const partBytes = 5 * 1024 * 1024

export function bytesOf({ seed, size }: Held): Buffer {
  return patternBytes(seed, size)
}

/**
 * The states that a key may be in. An acknowledged change leaves one; a change without an answer adds one, because it may or may not have happened.
 */
export class Expectations {
  readonly #byKey = new Map<string, State[]>()

  get keys(): string[] {
    return [...this.#byKey.keys()]
  }

  of(key: string): readonly State[] {
    return this.#byKey.get(key) ?? [undefined]
  }

  acknowledged(key: string, state: State): void {
    this.#byKey.set(key, [state])
  }

  /** Called before the request is sent. */
  attempted(key: string, state: State): void {
    this.#byKey.set(key, [...this.of(key), state])
  }
}

export class StormWriter {
  readonly #bucket: string
  readonly #keys: readonly string[]
  readonly #random: () => number
  readonly #expectations: Expectations
  #changes = 0

  constructor(bucket: string, keys: readonly string[], random: () => number, expectations: Expectations) {
    this.#bucket = bucket
    this.#keys = keys
    this.#random = random
    this.#expectations = expectations
  }

  /** Works until a request fails, as they all do once the server is killed. Calls `onAcknowledged` after each change. */
  async work(client: S3Client, onAcknowledged: () => void): Promise<void> {
    try {
      while (true) {
        await this.#change(client)
        onAcknowledged()
      }
    } catch {
      // Whether the last change happened is open: it stays among what its key may hold.
    }
  }

  async #change(client: S3Client): Promise<void> {
    const key = this.#keys[this.#below(this.#keys.length)] ?? ''
    const dice = this.#random()
    // A key that may hold different things can't be tagged with a known outcome.
    const [held, ...others] = this.#expectations.of(key)
    if (dice < 0.12) await this.#remove(client, key)
    else if (dice < 0.22 && held !== undefined && others.length === 0) await this.#tag(client, key, held)
    else if (dice < 0.25) await this.#upload(client, key)
    else await this.#put(client, key, this.#size(dice))
  }

  #size(dice: number): number {
    if (dice < 0.8) return this.#below(8 * 1024)
    if (dice < 0.92) return this.#below(300 * 1024)
    return 300 * 1024 + this.#below(2 * 1024 * 1024)
  }

  async #put(client: S3Client, key: string, size: number): Promise<void> {
    const state = this.#newState(size)
    this.#expectations.attempted(key, state)
    await client.send(new PutObjectCommand({ Bucket: this.#bucket, Key: key, Body: bytesOf(state) }))
    this.#expectations.acknowledged(key, state)
  }

  async #remove(client: S3Client, key: string): Promise<void> {
    this.#expectations.attempted(key, undefined)
    await client.send(new DeleteObjectCommand({ Bucket: this.#bucket, Key: key }))
    this.#expectations.acknowledged(key, undefined)
  }

  async #tag(client: S3Client, key: string, held: Held): Promise<void> {
    const state = { ...held, tag: `tag-${this.#changes++}` }
    this.#expectations.attempted(key, state)
    const Tagging = { TagSet: [{ Key: 'storm', Value: state.tag }] }
    await client.send(new PutObjectTaggingCommand({ Bucket: this.#bucket, Key: key, Tagging }))
    this.#expectations.acknowledged(key, state)
  }

  async #upload(client: S3Client, key: string): Promise<void> {
    const address = { Bucket: this.#bucket, Key: key }
    const state = this.#newState(partBytes + this.#below(64 * 1024))
    const body = bytesOf(state)
    const { UploadId } = await client.send(new CreateMultipartUploadCommand(address))
    const Parts = await Promise.all(
      [body.subarray(0, partBytes), body.subarray(partBytes)].map(async (Body, i) => {
        const part = { ...address, UploadId, PartNumber: i + 1 }
        const { ETag } = await client.send(new UploadPartCommand({ ...part, Body }))
        return { PartNumber: i + 1, ETag }
      }),
    )
    this.#expectations.attempted(key, state)
    await client.send(new CompleteMultipartUploadCommand({ ...address, UploadId, MultipartUpload: { Parts } }))
    this.#expectations.acknowledged(key, state)
  }

  #newState(size: number): Held {
    this.#changes += 1
    return { seed: this.#below(2 ** 31), size, tag: undefined }
  }

  #below(max: number): number {
    return Math.floor(this.#random() * max)
  }
}

/**
 * Reads every key and compares it with what it may hold; from then on it is known what it holds.
 * Resolves with one sentence for each key that holds something else: lost, torn, or come back from the dead.
 */
export async function violations(client: S3Client, bucket: string, expectations: Expectations): Promise<string[]> {
  const found = await Promise.all(
    expectations.keys.map(async (key) => {
      const { body, tag } = await readKey(client, bucket, key)
      const allowed = expectations.of(key)
      const match = allowed.findIndex((state) =>
        state === undefined || body === undefined
          ? state === body
          : state.size === body.length && state.tag === tag && bytesOf(state).equals(body),
      )
      if (match >= 0) expectations.acknowledged(key, allowed[match])
      return match >= 0 ? [] : [`${key}: ${describe(body, tag)} is none of ${JSON.stringify(allowed)}`]
    }),
  )
  return found.flat()
}

/** Throws with what `violations` finds: a summary of a run shows the message alone. */
export async function assertNothingLost(
  client: S3Client,
  bucket: string,
  expectations: Expectations,
  when: string,
): Promise<void> {
  const found = await violations(client, bucket, expectations)
  if (found.length > 0) throw new Error([`${when}:`, ...found].join('\n'))
}

const describe = (body: Buffer | undefined, tag: string | undefined): string =>
  body === undefined ? 'nothing' : `${body.length} bytes with tag ${tag}`

async function readKey(
  client: S3Client,
  Bucket: string,
  Key: string,
): Promise<{ body?: Buffer; tag?: string | undefined }> {
  try {
    const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }))
    const body = Buffer.from((await Body?.transformToByteArray()) ?? [])
    const { TagSet } = await client.send(new GetObjectTaggingCommand({ Bucket, Key }))
    return { body, tag: TagSet?.[0]?.Value }
  } catch (error) {
    if (error instanceof Error && error.name === 'NoSuchKey') return {}
    throw error
  }
}
