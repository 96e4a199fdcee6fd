/** Copies a multipart object part by part, so that the copy has the parts of the original, and its ETag. */

import { eachOf } from '../each-of.ts'
import { completeUpload } from '../endpoint/complete-upload.ts'
import type { Endpoint, EndpointRequest, ReadAnswer } from '../endpoint/endpoint.ts'
import { EndpointRefused } from '../endpoint/failures.ts'
import { withRetries } from '../endpoint/retries.ts'
import { childText } from '../endpoint/xml.ts'
import { isMultipart } from './compare.ts'
import {
  copiedChecksum,
  copiedChecksumKind,
  copiedHeaders,
  etagOf,
  hasOpaqueEtag,
  originalTime,
} from './copied-headers.ts'
import { ImportRefused } from './failures.ts'
import { importLimits } from './import-limits.ts'
import type { ListedVersion } from './listing.ts'
import { asksForLock, bodyOf, copiedTags, type Route, withDigest } from './route.ts'

/** A part, and how to read its bytes from the source. */
interface Part {
  number: number
  query: Record<string, string>
  headers: Record<string, string>
}

/** The upload that makes the copy. */
interface Upload {
  route: Route
  key: string
  uploadId: string
  /** Its checksum is made of those of its parts, so each part must be sent with one. */
  isComposite: boolean
  isLocked: boolean
}

interface CopiedPart {
  etag: string
  /** As an element of the completion. */
  checksum: string
}

/** Rejects as `copyVersion`. */
export async function copyParts(route: Route, key: string, version: ListedVersion): Promise<void> {
  const { source, target, from, to, clock } = route
  const { versionId } = version
  const asked = { bucket: from, key, headers: { 'x-amz-checksum-mode': 'ENABLED' } }
  const { headers: whole } = await source.read({ method: 'HEAD', ...asked, query: { versionId } })
  const first = await headersOfFirstPart(source, { ...asked, query: { versionId, partNumber: '1' } })
  const count = Number(first['x-amz-mp-parts-count'] ?? 0)
  if (count > importLimits.partsMax) throw new ImportRefused(`the source says that it has ${count} parts`)
  const parts = count > 0 ? numberedParts(count) : rangesOf(version.size)
  const checksum = count > 0 ? copiedChecksumKind(whole, first) : {}
  const tags = await copiedTags(route, key, versionId, whole)
  const headers = { ...copiedHeaders(whole, clock.now()), ...checksum, ...tags, ...originalTime(version) }
  const begun = await target.readDocument({ method: 'POST', bucket: to, key, query: { uploads: '' }, headers })
  const upload = {
    route,
    key,
    uploadId: childText(begun, 'UploadId') ?? '',
    isComposite: checksum['x-amz-checksum-type'] === 'COMPOSITE',
    isLocked: asksForLock(headers),
  }
  try {
    const copies = await copyEach(upload, parts, { versionId, etag: whole.etag })
    const at = { bucket: to, key, uploadId: upload.uploadId }
    const made = await completeUpload(
      target,
      at,
      copies.map((copy, i) => ({ ...copy, number: i + 1 })),
    )
    const isVerifiable = count > 0 && isMultipart(version) && !route.ignoreEtags && !hasOpaqueEtag(whole)
    if (isVerifiable && made.etag !== etagOf(whole)) await refuseCopy(upload, made.versionId)
  } catch (error) {
    await target.read({ method: 'DELETE', bucket: to, key, query: { uploadId: upload.uploadId } }).catch(() => {
      // It stays open until it expires.
    })
    throw error
  }
}

/** Empty where the source can't read single parts. */
async function headersOfFirstPart(
  source: Endpoint,
  asked: Omit<EndpointRequest, 'method'>,
): Promise<ReadAnswer['headers']> {
  try {
    return (await source.read({ method: 'HEAD', ...asked })).headers
  } catch (error) {
    if (error instanceof EndpointRefused && [400, 416, 501].includes(error.status)) return {}
    throw error
  }
}

const numberedParts = (count: number): Part[] =>
  Array.from({ length: count }, (_, i) => ({ number: i + 1, query: { partNumber: `${i + 1}` }, headers: {} }))

function rangesOf(size: number): Part[] {
  const partSize = Math.max(importLimits.partBytesMin, Math.ceil(size / importLimits.partsMax))
  return Array.from({ length: Math.ceil(size / partSize) }, (_, i) => {
    const end = Math.min(size, (i + 1) * partSize) - 1
    return { number: i + 1, query: {}, headers: { range: `bytes=${i * partSize}-${end}` } }
  })
}

/** Copies all parts, which must come from the object with the ETag `etag`. A part that fails is sent again, which replaces it. */
async function copyEach(
  upload: Upload,
  parts: readonly Part[],
  { versionId, etag }: { versionId: string | undefined; etag: string | undefined },
): Promise<CopiedPart[]> {
  const asked = { 'x-amz-checksum-mode': 'ENABLED', ...(etag === undefined ? {} : { 'if-match': etag }) }
  const copies: CopiedPart[] = []
  await eachOf(parts, importLimits.partsAtOnce, async ({ number, query, headers }) => {
    const part = { number, query: { ...query, versionId }, headers: { ...headers, ...asked } }
    copies[number - 1] = await withRetries(() => copyPart(upload, part))
  })
  return copies
}

async function copyPart(
  { route, key, uploadId, isComposite, isLocked }: Upload,
  { number, ...read }: Pick<Part, 'number'> & Pick<EndpointRequest, 'query' | 'headers'>,
): Promise<CopiedPart> {
  const { source, target, from, to } = route
  const answer = await source.ask({ method: 'GET', bucket: from, key, ...read })
  try {
    const checksum = isComposite ? copiedChecksum(answer.headers) : {}
    const write = withDigest({ headers: checksum, body: await bodyOf(answer) }, isLocked)
    const query = { partNumber: `${number}`, uploadId }
    const written = await target.read({ method: 'PUT', bucket: to, key, query, ...write })
    return { etag: etagOf(written.headers), checksum: checksumElement(checksum) }
  } finally {
    answer.body.destroy()
  }
}

/** For example `<ChecksumSHA256>…</ChecksumSHA256>`, from the header of the same name. */
function checksumElement(checksum: Readonly<Record<string, string>>): string {
  return Object.entries(checksum)
    .map(([header, value]) => {
      const name = `Checksum${header.slice('x-amz-checksum-'.length).toUpperCase()}`
      return `<${name}>${value}</${name}>`
    })
    .join('')
}

async function refuseCopy({ route, key }: Upload, versionId: string | undefined): Promise<never> {
  await route.target.read({ method: 'DELETE', bucket: route.to, key, query: { versionId } })
  throw new ImportRefused(
    `the bytes of ${key} do not have the digest that the source gives for them; the copy was removed`,
  )
}
