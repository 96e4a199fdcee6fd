/** Multipart uploads as tests prepare them. */
import { algorithms, md5Base64, referenceChecksum } from './wire-checksums.ts'
import type { Reply, Wire } from './wire-client.ts'
import type { Facts } from './wire-rows.ts'

/** The smallest size of a part that isn't the last. The bytes differ, so that a wrong order shows. */
const partBytesMin = 5 * 1024 * 1024

export function partOf(seed: number, size = partBytesMin): Buffer {
  const block = Buffer.from(Array.from({ length: 256 }, (_, i) => (i * 31 + seed * 7) & 0xff))
  return Buffer.alloc(size, block)
}

export const textIn = (reply: Reply, element: string): string => {
  const found = new RegExp(`<${element}>([^<]*)</${element}>`).exec(reply.body.toString())?.[1]
  if (found === undefined) throw new Error(`no ${element} in ${reply.body.toString()}`)
  return found
}

export async function beginUpload(wire: Wire, vendor: Record<string, string> = {}, key = 'big'): Promise<string> {
  return textIn(await wire.must({ method: 'POST', key, query: { uploads: '' }, vendor }), 'UploadId')
}

/** Resolves with the part's entity tag. */
export async function putPart(
  wire: Wire,
  uploadId: string,
  partNumber: number,
  body: string | Buffer,
  vendor: Record<string, string> = {},
  key = 'big',
): Promise<string> {
  const query = { partNumber: String(partNumber), uploadId }
  // With the digest that S3 asks for where the upload has a lock.
  const headers = { 'Content-MD5': md5Base64(body) }
  const reply = await wire.must({ method: 'PUT', key, query, headers, vendor, body, payload: 'unsigned' })
  return reply.headers.get('etag') ?? ''
}

export type ListedPart = [number: number | string, etag: string, more?: string]

export function completeDocument(parts: readonly ListedPart[]): string {
  const elements = parts.map(
    ([number, etag, more = '']) => `<Part><PartNumber>${number}</PartNumber><ETag>${etag}</ETag>${more}</Part>`,
  )
  return `<CompleteMultipartUpload>${elements.join('')}</CompleteMultipartUpload>`
}

const algorithmOf = (vendor: Record<string, string> = {}) =>
  algorithms.find((name) => name === vendor['checksum-algorithm'])

/** An open upload of `big` with these parts, numbered from 1, and the checksums that it asks for. Facts: `uploadId`, `etag1`, `etag2`, and so on. */
export async function uploadOf(
  wire: Wire,
  parts: readonly (string | Buffer)[],
  vendor?: Record<string, string>,
): Promise<Facts> {
  const uploadId = await beginUpload(wire, vendor)
  const facts: Facts = { uploadId }
  const algorithm = algorithmOf(vendor)
  for (const [i, part] of parts.entries()) {
    const sent = algorithm && { [`checksum-${algorithm.toLowerCase()}`]: referenceChecksum(algorithm, part) }
    facts[`etag${i + 1}`] = await putPart(wire, uploadId, i + 1, part, sent)
  }
  return facts
}

/** A whole object made of parts. */
export async function multipartObject(
  wire: Wire,
  parts: readonly (string | Buffer)[],
  vendor?: Record<string, string>,
): Promise<Facts> {
  const facts = await uploadOf(wire, parts, vendor)
  const algorithm = algorithmOf(vendor)
  const checksumOf = (part: string | Buffer): string =>
    algorithm === undefined ? '' : `<Checksum${algorithm}>${referenceChecksum(algorithm, part)}</Checksum${algorithm}>`
  const body = completeDocument(parts.map((part, i) => [i + 1, facts[`etag${i + 1}`] ?? '', checksumOf(part)]))
  await wire.must({ method: 'POST', key: 'big', query: { uploadId: facts.uploadId ?? '' }, body })
  return facts
}
