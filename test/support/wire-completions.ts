/** Completions of uploads as tests ask for them, and what must become of the upload. */
import { expect } from 'vitest'
import { multipartEtag } from './wire-checksums.ts'
import type { Ask, Wire } from './wire-client.ts'
import type { Facts } from './wire-rows.ts'
import { completeDocument, type ListedPart, partOf, uploadOf } from './wire-uploads.ts'

export const first = partOf(1)
export const last = partOf(2, 100)
export const etag = multipartEtag([first, last])
export const listed: ListedPart[] = [
  [1, '{{etag1}}'],
  [2, '{{etag2}}'],
]

export const complete = (
  parts: readonly ListedPart[] | string,
  more: Partial<Ask> = {},
  uploadId = '{{uploadId}}',
): Ask => ({
  method: 'POST',
  key: 'big',
  query: { uploadId },
  body: typeof parts === 'string' ? parts : completeDocument(parts),
  ...more,
})
export const input = {
  Bucket: 'wire',
  Key: 'big',
  UploadId: '{{uploadId}}',
  MultipartUpload: {
    Parts: [
      { PartNumber: 1, ETag: '{{etag1}}' },
      { PartNumber: 2, ETag: '{{etag2}}' },
    ],
  },
}

export const two = (wire: Wire) => uploadOf(wire, [first, last])
/** Cheaper than `two`, where the parts' sizes don't matter. */
export const small = (wire: Wire) => uploadOf(wire, ['only'])
export const smallEtag = multipartEtag(['only'])
export const smallInput = { ...input, MultipartUpload: { Parts: [{ PartNumber: 1, ETag: '{{etag1}}' }] } }
export const only: ListedPart[] = [[1, '{{etag1}}']]

export const done = (ETag: string, more: object = {}) => ({
  status: 200,
  headers: { 'Content-Type': 'application/xml' },
  xml: {
    CompleteMultipartUploadResult: {
      Location: expect.stringMatching(/^http:\/\/(?:127\.0\.0\.1:\d+\/wire|wire\.localhost:\d+)\/big$/),
      Bucket: 'wire',
      Key: 'big',
      ETag,
      ...more,
    },
  },
})

export const isWhole =
  (...parts: (string | Buffer)[]) =>
  async (wire: Wire): Promise<void> => {
    const whole = Buffer.concat(parts.map((part) => Buffer.from(part)))
    const { body, headers } = await wire.must({ method: 'GET', key: 'big' })
    expect(body.equals(whole)).toBe(true)
    expect(headers.get('etag')).toBe(multipartEtag(parts))
  }
export const isOpen = async (wire: Wire, _: unknown, { uploadId = '' }: Facts): Promise<void> => {
  await wire.must({ method: 'GET', key: 'big', query: { uploadId } })
  expect((await wire.ask({ method: 'HEAD', key: 'big' })).status).toBe(404)
}
