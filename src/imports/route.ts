/** Where an object is copied from and to, and what reads and writes of it have in common. */
import { hash } from 'node:crypto'
import type { Clock } from '../clock.ts'
import type { Answer, Endpoint, StreamedBody } from '../endpoint/endpoint.ts'
import { endpointLimits } from '../endpoint/endpoint-limits.ts'
import { EndpointUnreachable } from '../endpoint/failures.ts'
import { taggingHeader } from './copied-headers.ts'
import { ImportRefused } from './failures.ts'

export interface Route {
  source: Endpoint
  target: Endpoint
  /** The names of the bucket there and here. */
  from: string
  to: string
  /** The source's ETags are not digests, so they verify nothing. */
  ignoreEtags: boolean
  clock: Pick<Clock, 'now'>
}

/** The tags of a version, as the header of a write. `headers`: the answer to a read of it. */
export async function copiedTags(
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

/** Adds a digest to a write with a lock, which S3 demands. The source gives none for parts and for some objects. */
export function withDigest({ headers, body }: Write, isLocked: boolean): Write {
  const hasDigest = Object.keys(headers).some((name) => name === 'content-md5' || name.startsWith('x-amz-checksum-'))
  if (hasDigest || !isLocked) return { headers, body }
  if (!Buffer.isBuffer(body)) return { headers, body: { ...body, digested: true } }
  return { headers: { ...headers, 'content-md5': hash('md5', body, 'base64') }, body }
}

export const asksForLock = (headers: Readonly<Record<string, string>>): boolean =>
  Object.keys(headers).some((name) => name.startsWith('x-amz-object-lock-'))

/** Small bodies are read at once. Rejects with `EndpointUnreachable` when the source breaks off, and with `ImportRefused`. */
export async function bodyOf({ from, headers, body }: Answer): Promise<Buffer | StreamedBody> {
  const size = Number(headers['content-length'])
  if (!Number.isSafeInteger(size)) throw new ImportRefused('the source does not say how long the object is')
  if (size > endpointLimits.bufferedBytesMax) return { stream: body, size }
  try {
    return Buffer.concat(await body.toArray())
  } catch (error) {
    throw new EndpointUnreachable(from, error)
  }
}
