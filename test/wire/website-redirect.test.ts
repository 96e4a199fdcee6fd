/** Where a website would send who asks for an object: kept and answered, as no website is served. */
import {
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import type { Wire } from '../support/wire-client.ts'
import { copyTarget } from '../support/wire-copies.ts'
import { type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import { completeDocument, putPart, textIn } from '../support/wire-uploads.ts'
import { vendorHeader } from '../support/wire-versions.ts'

const name = 'website-redirect-location'
const put = (location: string, key = 'a') =>
  ({ method: 'PUT', key, body: 'kept', vendor: { [name]: location } }) as const
const redirects =
  (location: string | undefined, key = 'a'): ((wire: Wire) => Promise<void>) =>
  async (wire) => {
    for (const method of ['GET', 'HEAD'] as const) {
      const { status, headers } = await wire.must({ method, key })
      expect([status, vendorHeader(wire, headers, name)]).toEqual([200, location])
    }
  }
const isNotThere = async (wire: Wire): Promise<void> => {
  expect((await wire.ask({ method: 'HEAD', key: 'a' })).status).toBe(404)
}
/** With everything before the last characters as it must be. */
const ofLength = (length: number): string => '/'.padEnd(length, 'x')

wireTests('PutObject', [
  ...['/other', '/', 'http://example.com/a?b=c', 'https://example.com', ofLength(1900)].map(
    (location): Row => ({
      it: `keeps the location ${location.slice(0, 30)} of ${location.length} characters`,
      status: 200,
      ask: put(location),
      afterwards: redirects(location),
      sdk: sdk(PutObjectCommand, { Bucket: 'wire', Key: 'a', Body: 'kept', WebsiteRedirectLocation: location }),
    }),
  ),
  ...['other', '', 'ftp://example.com', 'HTTP://example.com', 'httpx'].map(
    (location): Row => ({
      it: `refuses the location "${location.slice(0, 30)}" of ${location.length} characters`,
      ...refusal('InvalidRedirectLocation', {}),
      ask: put(location),
      afterwards: isNotThere,
      ...(location === ''
        ? {}
        : { sdk: sdk(PutObjectCommand, { Bucket: 'wire', Key: 'a', Body: 'x', WebsiteRedirectLocation: location }) }),
    }),
  ),
  {
    it: 'refuses a location that is with its name and the other headers of the object more than 2 KiB',
    ...refusal('MetadataTooLarge', { Size: '2049', MaxSizeAllowed: '2048' }),
    ask: { ...put(ofLength(2000)), headers: { 'Cache-Control': 'no-xy' } },
    afterwards: isNotThere,
  },
])

const answersLocation = (method: 'GET' | 'HEAD'): Row => ({
  it: 'answers the location, and the object as ever',
  status: 200,
  given: async (wire) => {
    await wire.must(put('/other'))
  },
  ask: { method, key: 'a' },
  vendor: { [name]: '/other' },
  body: method === 'GET' ? 'kept' : '',
  sdk: sdk(
    method === 'GET' ? GetObjectCommand : HeadObjectCommand,
    { Bucket: 'wire', Key: 'a' },
    { WebsiteRedirectLocation: '/other', ...(method === 'GET' ? { Body: 'kept' } : {}) },
  ),
})

wireTests('GetObject', [answersLocation('GET')])
wireTests('HeadObject', [answersLocation('HEAD')])

wireTests('CreateMultipartUpload', [
  {
    it: 'makes an object with the location that it is begun with',
    status: 200,
    ask: { method: 'POST', key: 'a', query: { uploads: '' }, vendor: { [name]: '/other' } },
    afterwards: async (wire, reply) => {
      const uploadId = textIn(reply, 'UploadId')
      const etag = await putPart(wire, uploadId, 1, 'part', {}, 'a')
      await wire.must({ method: 'POST', key: 'a', query: { uploadId }, body: completeDocument([[1, etag]]) })
      await redirects('/other')(wire)
    },
    sdk: sdk(CreateMultipartUploadCommand, { Bucket: 'wire', Key: 'a', WebsiteRedirectLocation: '/other' }),
  },
  {
    it: 'refuses a location that is none',
    ...refusal('InvalidRedirectLocation', {}),
    ask: { method: 'POST', key: 'a', query: { uploads: '' }, vendor: { [name]: 'other' } },
  },
])

const copyOf = (source: string, vendor: Record<string, string> = {}) =>
  ({ method: 'PUT', key: 'to', vendor: { 'copy-source': source, ...vendor } }) as const
const from = async (wire: Wire): Promise<void> => {
  await wire.must(put('/other', 'from'))
}
const input = { Bucket: 'wire', Key: 'to' }

wireTests('CopyObject', [
  {
    it: 'does not copy the location',
    status: 200,
    given: from,
    ask: copyOf('/wire/from'),
    afterwards: redirects(undefined, 'to'),
    sdk: sdk(CopyObjectCommand, { ...input, CopySource: '/wire/from' }),
  },
  {
    it: 'gives the copy the location that is asked for',
    status: 200,
    given: from,
    ask: copyOf('/wire/from', { [name]: '/new' }),
    afterwards: redirects('/new', 'to'),
    sdk: sdk(CopyObjectCommand, { ...input, CopySource: '/wire/from', WebsiteRedirectLocation: '/new' }),
  },
  {
    it: 'gives an object a location by copying it onto itself',
    status: 200,
    given: copyTarget,
    ask: copyOf('/wire/to', { [name]: '/new' }),
    afterwards: redirects('/new', 'to'),
    sdk: sdk(CopyObjectCommand, { ...input, CopySource: '/wire/to', WebsiteRedirectLocation: '/new' }),
  },
])
