/** Multipart uploads, as S3 begins, lists, completes and aborts them. */
import { askForXml, askS3 } from './s3-request.ts'
import { childrenOf, textOf } from './xml.ts'
import { document } from './xml-text.ts'

export interface Upload {
  bucket: string
  key: string
  uploadId: string
}

export interface Part {
  number: number
  etag: string
  bytes: number
}

export async function beginUpload(bucket: string, key: string, contentType: string): Promise<Upload> {
  const xml = await askForXml({
    method: 'POST',
    bucket,
    key,
    query: { uploads: '' },
    headers: { 'content-type': contentType },
  })
  return { bucket, key, uploadId: textOf(xml, 'UploadId') ?? '' }
}

/** The parts that the server has, in order. */
export async function listParts({ bucket, key, uploadId }: Upload): Promise<Part[]> {
  const parts: Part[] = []
  for (let marker: string | undefined = '0'; marker !== undefined; ) {
    const xml: Element = await askForXml({ bucket, key, query: { uploadId, 'part-number-marker': marker } })
    for (const part of childrenOf(xml, 'Part')) {
      parts.push({
        number: Number(textOf(part, 'PartNumber')),
        etag: textOf(part, 'ETag') ?? '',
        bytes: Number(textOf(part, 'Size')),
      })
    }
    marker = textOf(xml, 'IsTruncated') === 'true' ? textOf(xml, 'NextPartNumberMarker') : undefined
  }
  return parts
}

export async function completeUpload({ bucket, key, uploadId }: Upload, parts: readonly Part[]): Promise<void> {
  const body = document('CompleteMultipartUpload', {
    Part: parts.map(({ number, etag }) => ({ PartNumber: number, ETag: etag })),
  })
  const xml = await askForXml({ method: 'POST', bucket, key, query: { uploadId }, body })
  // A completion can fail after its status was sent. The answer is then an error with status 200.
  if (xml.localName === 'Error') throw new Error(textOf(xml, 'Message') ?? 'the upload could not be completed')
}

export async function abortUpload({ bucket, key, uploadId }: Upload): Promise<void> {
  await askS3({ method: 'DELETE', bucket, key, query: { uploadId } })
}
