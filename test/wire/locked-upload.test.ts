/** Parts of an upload that becomes a locked object: each must be known to have arrived whole. */
import { UploadPartCommand } from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import { md5Base64, md5Hex, referenceChecksum } from '../support/wire-checksums.ts'
import type { Ask, Wire } from '../support/wire-client.ts'
import { type Facts, type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import { beginUpload } from '../support/wire-uploads.ts'
import { governed, onHold, vault } from '../support/wire-versions.ts'

const text = 'part'
const begun =
  (vendor: Record<string, string>) =>
  async (wire: Wire): Promise<Facts> => {
    await vault(wire)
    return { uploadId: await beginUpload(wire, vendor) }
  }
const ask = (more: Partial<Ask> = {}): Ask => ({
  method: 'PUT',
  key: 'big',
  query: { partNumber: '1', uploadId: '{{uploadId}}' },
  body: text,
  ...more,
})
const stored = { status: 200, headers: { ETag: `"${md5Hex(text)}"` } }
const partsHold =
  (...numbers: string[]): NonNullable<Row['afterwards']> =>
  async (wire, _, { uploadId = '' }) => {
    const { body } = await wire.must({ method: 'GET', key: 'big', query: { uploadId } })
    expect([...body.toString().matchAll(/<PartNumber>(\d+)</g)].map(([, number]) => number)).toEqual(numbers)
  }
const sha256 = { 'checksum-sha256': referenceChecksum('SHA256', text) }

wireTests('UploadPart', [
  ...(
    [
      ['held', onHold],
      ['retained', governed],
      ['retained, and checks its parts', { ...governed, 'checksum-algorithm': 'SHA256' }],
    ] as const
  ).map(
    ([how, vendor]): Row => ({
      it: `refuses a part without a digest of an object that will be ${how}`,
      ...refusal('InvalidRequest', {}),
      given: begun(vendor),
      ask: ask(),
      afterwards: partsHold(),
    }),
  ),
  {
    it: 'takes a part with its MD5',
    ...stored,
    given: begun(onHold),
    ask: ask({ headers: { 'Content-MD5': md5Base64(text) } }),
    afterwards: partsHold('1'),
  },
  {
    it: 'takes a part with a checksum',
    ...stored,
    given: begun(governed),
    ask: ask({ vendor: sha256 }),
    vendor: sha256,
    afterwards: partsHold('1'),
    sdk: sdk(UploadPartCommand, {
      Bucket: 'wire',
      Key: 'big',
      UploadId: '{{uploadId}}',
      PartNumber: 1,
      Body: text,
    }),
  },
  {
    it: 'takes a part without a digest where nothing is to be locked',
    ...stored,
    given: begun({}),
    ask: ask(),
    afterwards: partsHold('1'),
  },
])
