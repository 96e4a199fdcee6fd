/** Completes a multipart upload at an endpoint. */
import type { Endpoint, EndpointRequest } from './endpoint.ts'
import { EndpointRefused } from './failures.ts'
import { childText, readXml } from './xml.ts'

export interface SentPart {
  number: number
  etag: string
  /** As an element of the completion. Empty: none. */
  checksum: string
}

/** Rejects with `EndpointRefused` and `EndpointUnreachable`. */
export async function completeUpload(
  endpoint: Endpoint,
  upload: Pick<EndpointRequest, 'bucket' | 'key' | 'signal'> & { uploadId: string },
  parts: readonly SentPart[],
): Promise<{ etag: string; versionId: string | undefined }> {
  const { uploadId, ...at } = upload
  const elements = parts.map(
    ({ number, etag, checksum }) => `<Part><PartNumber>${number}</PartNumber><ETag>"${etag}"</ETag>${checksum}</Part>`,
  )
  const body = Buffer.from(`<CompleteMultipartUpload>${elements.join('')}</CompleteMultipartUpload>`)
  const asked = { ...at, method: 'POST', query: { uploadId }, body } as const
  const { headers, content } = await endpoint.read(asked)
  // The answer begins before its outcome is known, so an error can come with status 200.
  const said = readXml(content.toString('utf8'))
  if (said?.name !== 'CompleteMultipartUploadResult') {
    const [code, message] = [childText(said, 'Code'), childText(said, 'Message')]
    throw new EndpointRefused({ at: endpoint.name, asked, status: 200, code, message, headers })
  }
  const versionId = headers['x-amz-version-id']
  return {
    etag: (childText(said, 'ETag') ?? '').replaceAll('"', ''),
    versionId: typeof versionId === 'string' ? versionId : undefined,
  }
}
