/** CompleteMultipartUpload under conditions, and with checksums of parts and of the whole. */
import { CompleteMultipartUploadCommand } from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import { algorithms, referenceChecksum, referenceComposite } from '../support/wire-checksums.ts'
import type { Wire } from '../support/wire-client.ts'
import { complete, done, isOpen, isWhole, only, small, smallEtag, smallInput } from '../support/wire-completions.ts'
import { type Facts, type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import { beginUpload, type ListedPart, putPart, uploadOf } from '../support/wire-uploads.ts'
import { enabled } from '../support/wire-versions.ts'

const old = async (wire: Wire): Promise<Facts> => {
  const { headers } = await wire.must({ method: 'PUT', key: 'big', body: 'old' })
  return { old: headers.get('etag') ?? '' }
}
const over = async (wire: Wire): Promise<Facts> => ({ ...(await old(wire)), ...(await small(wire)) })

/** Times have milliseconds: resolves when what is written now has a later one than the upload. */
async function laterThan(wire: Wire, { uploadId = '' }: Facts): Promise<void> {
  const listed = await wire.must({ method: 'GET', query: { uploads: '' } })
  const [, initiated = ''] =
    new RegExp(`${uploadId}</UploadId>.*?<Initiated>([^<]*)`).exec(listed.body.toString()) ?? []
  await expect.poll(() => Date.now(), { interval: 1 }).toBeGreaterThan(Date.parse(initiated))
}
const isOld = async (wire: Wire, _: unknown, { uploadId = '' }: Facts): Promise<void> => {
  expect((await wire.must({ method: 'GET', key: 'big' })).body.toString()).toBe('old')
  await wire.must({ method: 'GET', key: 'big', query: { uploadId } })
}

const conditions: Row[] = [
  {
    it: 'completes if there is nothing, where there is nothing',
    proves: ['header:If-None-Match'],
    given: small,
    ask: complete(only, { headers: { 'If-None-Match': '*' } }),
    ...done(smallEtag),
    afterwards: isWhole('only'),
    sdk: sdk(CompleteMultipartUploadCommand, { ...smallInput, IfNoneMatch: '*' }),
  },
  {
    it: 'does not complete if there is nothing, where there is something',
    proves: ['header:If-None-Match'],
    ...refusal('PreconditionFailed', { Condition: 'If-None-Match' }),
    given: over,
    ask: complete(only, { headers: { 'If-None-Match': '*' } }),
    afterwards: isOld,
    sdk: sdk(CompleteMultipartUploadCommand, { ...smallInput, IfNoneMatch: '*' }),
  },
  {
    it: 'refuses If-None-Match with a tag by name',
    proves: ['CompleteMultipartUpload If-None-Match expects an asterisk'],
    ...refusal('NotImplemented', { Header: 'If-None-Match' }),
    given: small,
    ask: complete(only, { headers: { 'If-None-Match': '"x"' } }),
    afterwards: isOpen,
  },
  {
    it: 'completes over the object that the client knows',
    proves: ['header:If-Match'],
    given: over,
    ask: complete(only, { headers: { 'If-Match': '{{old}}' } }),
    ...done(smallEtag),
    afterwards: isWhole('only'),
    sdk: sdk(CompleteMultipartUploadCommand, { ...smallInput, IfMatch: '{{old}}' }),
  },
  {
    it: 'does not complete over another object than the client knows',
    proves: ['header:If-Match'],
    ...refusal('PreconditionFailed', { Condition: 'If-Match' }),
    given: over,
    ask: complete(only, { headers: { 'If-Match': '"another"' } }),
    afterwards: isOld,
    sdk: sdk(CompleteMultipartUploadCommand, { ...smallInput, IfMatch: '"another"' }),
  },
  {
    it: 'answers NoSuchKey to If-Match where there is nothing',
    ...refusal('NoSuchKey', { Key: 'big' }),
    given: small,
    ask: complete(only, { headers: { 'If-Match': '"another"' } }),
    afterwards: isOpen,
  },
  {
    it: 'does not complete over the object that the client knows, if that came during the upload',
    ...refusal('ConditionalRequestConflict', { Condition: 'If-Match', Key: 'big' }),
    given: async (wire) => {
      const facts = await small(wire)
      await laterThan(wire, facts)
      return { ...facts, ...(await old(wire)) }
    },
    ask: complete(only, { headers: { 'If-Match': '{{old}}' } }),
    afterwards: isOld,
  },
  {
    it: 'does not complete where there is nothing, if something was deleted during the upload',
    ...refusal('ConditionalRequestConflict', { Condition: 'If-None-Match', Key: 'big' }),
    given: async (wire) => {
      await enabled(wire)
      const facts = await small(wire)
      await laterThan(wire, facts)
      await old(wire)
      await wire.must({ method: 'DELETE', key: 'big' })
      return facts
    },
    ask: complete(only, { headers: { 'If-None-Match': '*' } }),
    afterwards: isOpen,
  },
  {
    it: 'accepts the size of the whole',
    proves: ['vendor:mp-object-size'],
    given: small,
    ask: complete(only, { vendor: { 'mp-object-size': '4' } }),
    ...done(smallEtag),
    sdk: sdk(CompleteMultipartUploadCommand, { ...smallInput, MpuObjectSize: 4 }),
  },
  {
    it: 'refuses another size of the whole',
    proves: ['vendor:mp-object-size'],
    ...refusal('InvalidRequest', {}),
    message: "The provided '{{prefix}}mp-object-size' header value 5 does not match what was computed: 4",
    given: small,
    ask: complete(only, { vendor: { 'mp-object-size': '5' } }),
    afterwards: isOpen,
    sdk: sdk(CompleteMultipartUploadCommand, { ...smallInput, MpuObjectSize: 5 }),
  },
  ...['-1', 'four', ''].map(
    (size): Row => ({
      it: `refuses the size "${size}"`,
      ...refusal('InvalidArgument', { ArgumentName: '{{prefix}}mp-object-size', ArgumentValue: size }),
      given: small,
      ask: complete(only, { vendor: { 'mp-object-size': size } }),
      afterwards: isOpen,
    }),
  ),
]

/** As the SDK sends them. What else may be right or wrong with a checksum: checksum-matrix.test.ts. */
const checksums: Row[] = algorithms.flatMap((algorithm): Row[] => {
  const name = `checksum-${algorithm.toLowerCase()}`
  const element = `Checksum${algorithm}`
  const part = referenceChecksum(algorithm, 'only')
  const type = algorithm === 'CRC64NVME' ? 'FULL_OBJECT' : 'COMPOSITE'
  const whole = type === 'COMPOSITE' ? referenceComposite(algorithm, [Buffer.from('only')]) : part
  const given = (wire: Wire) => uploadOf(wire, ['only'], { 'checksum-algorithm': algorithm })
  const listed: ListedPart[] = [[1, '{{etag1}}', `<${element}>${part}</${element}>`]]
  const summed = {
    ...smallInput,
    MultipartUpload: { Parts: [{ PartNumber: 1, ETag: '{{etag1}}', [element]: part }] },
  }
  return [
    {
      it: `answers ${type} ${algorithm} of the whole`,
      given,
      ask: complete(listed),
      ...done(smallEtag, { [element]: whole, ChecksumType: type }),
      afterwards: checksumIs(name, whole, type),
      sdk: sdk(CompleteMultipartUploadCommand, summed, { [element]: whole, ChecksumType: type }),
    },
    {
      it: `refuses a wrong ${algorithm} of the whole`,
      proves: [`vendor:${name}`],
      ...refusal('BadDigest', {}),
      given,
      ask: complete(listed, { vendor: { [name]: referenceChecksum(algorithm, 'x') } }),
      afterwards: isOpen,
      sdk: sdk(CompleteMultipartUploadCommand, { ...summed, [element]: referenceChecksum(algorithm, 'x') }),
    },
  ]
})

const gaps: Row[] = [
  {
    it: 'refuses gaps between part numbers where the checksum is composite, as S3 documents',
    ...refusal('InvalidPartOrder', {}),
    given: async (wire) => {
      const uploadId = await beginUpload(wire, { 'checksum-algorithm': 'SHA256' })
      const vendor = { 'checksum-sha256': referenceChecksum('SHA256', 'only') }
      return { uploadId, etag1: await putPart(wire, uploadId, 2, 'only', vendor) }
    },
    ask: complete([[2, '{{etag1}}', `<ChecksumSHA256>${referenceChecksum('SHA256', 'only')}</ChecksumSHA256>`]]),
    afterwards: isOpen,
  },
]

function checksumIs(name: string, value: string, type: string) {
  return async (wire: Wire): Promise<void> => {
    const { headers } = await wire.must({ method: 'HEAD', key: 'big', vendor: { 'checksum-mode': 'ENABLED' } })
    const { prefix } = wire.style
    expect([headers.get(prefix + name), headers.get(`${prefix}checksum-type`)]).toEqual([value, type])
  }
}

wireTests('CompleteMultipartUpload', [...conditions, ...checksums, ...gaps])
