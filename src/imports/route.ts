/** The way of an object from the source to its copy. */
import { hash } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { Clock } from '../clock.ts'
import { taggingHeader } from './described.ts'
import type { Answer, Endpoint, StreamedBody } from './endpoint.ts'
import { ImportRefused } from './failures.ts'
import { importLimits } from './import-limits.ts'

export interface Route {
  source: Endpoint
  target: Endpoint
  /** The names of the bucket there and here. */
  from: string
  to: string
  /** The source's ETags are no digests, so they verify nothing. */
  ignoreEtags: boolean
  clock: Pick<Clock, 'now'>
}

/** The tags of a version, as the header of a write. `headers`: the answer to a read of it. */
export async function takenTags(
  { source, from }: Route,
  key: string,
  versionId: string | undefined,
  headers: Answer['headers'],
): Promise<Record<string, string>> {
  if (Number(headers['x-amz-tagging-count'] ?? 0) === 0) return {}
  const document = await source.readDocument({ method: 'GET', bucket: from, key, query: { tagging: '', versionId } })
  return { 'x-amz-tagging': taggingHeader(document) }
}

export interface Write {
  headers: Record<string, string>
  body: Buffer | StreamedBody
}

/** A write with a lock needs a digest. The source tells none for some objects, and for parts. */
export function withDigest({ headers, body }: Write, isLocked: boolean): Write {
  const hasDigest = Object.keys(headers).some((name) => name === 'content-md5' || name.startsWith('x-amz-checksum-'))
  if (hasDigest || !isLocked) return { headers, body }
  if (!Buffer.isBuffer(body)) return { headers, body: { ...body, digested: true } }
  return { headers: { ...headers, 'content-md5': hash('md5', body, 'base64') }, body }
}

export const asksForLock = (headers: Readonly<Record<string, string>>): boolean =>
  Object.keys(headers).some((name) => name.startsWith('x-amz-object-lock-'))

/** Small bodies are read at once. */
export async function bodyOf({ headers, body }: Answer): Promise<Buffer | StreamedBody> {
  const size = Number(headers['content-length'])
  if (!Number.isSafeInteger(size)) throw new ImportRefused('the source does not say how long the object is')
  return size > importLimits.bufferedBytesMax ? { stream: body, size } : await read(body, size)
}

async function read(body: Readable, size: number): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of body) pieces.push(piece)
  const whole = Buffer.concat(pieces)
  if (whole.length !== size) throw new ImportRefused(`the source sent ${whole.length} of ${size} bytes`)
  return whole
}
