/** Calls on multipart uploads, whose parts come from files and from other objects. */
import { expect } from 'vitest'
import { limits } from '../../../src/limits.ts'
import { owner, type Scenario, text, time } from './call.ts'
import { etags, sha256 } from './files.ts'

const name = 's3api-multipart'
const bucket = ['--bucket', name]
const object = [...bucket, '--key', 'dir/assembled']
const upload = [...object, '--upload-id', '<upload>']
const source = [...bucket, '--key', 'source']
const person = { ID: owner.ID, DisplayName: owner.DisplayName }

const largeSum = { ETag: etags.largePart, ChecksumSHA256: sha256.largePart }
const smallSum = { ETag: etags.smallPart, ChecksumSHA256: sha256.smallPart }
const composite = { ChecksumAlgorithm: 'SHA256', ChecksumType: 'COMPOSITE' }
const partsListed = { Initiator: person, Owner: person, StorageClass: 'STANDARD', ...composite }
const largeListed = { PartNumber: 1, LastModified: time, ...largeSum, Size: limits.partBytesMin }
const smallListed = { PartNumber: 2, LastModified: time, ...smallSum, Size: 100 }
const uploadListed = {
  ...{ UploadId: '<upload>', Key: 'dir/assembled', Initiated: time, StorageClass: 'STANDARD' },
  ...{ Owner: person, Initiator: person, ...composite },
}
const found = {
  ...{ AcceptRanges: 'bytes', LastModified: time, ContentLength: limits.partBytesMin + 100, ETag: etags.parts },
  ...{ ContentType: 'application/x-parts', Metadata: { made: 'of parts' }, TagCount: 1 },
}
const sum = { ChecksumSHA256: sha256.parts, ChecksumType: 'COMPOSITE' }

export const multipart: Scenario = {
  name: 'multipart uploads',
  calls: [
    { operation: 'CreateBucket', about: 'makes room', words: bucket, prints: { Location: `/${name}` } },
    {
      operation: 'PutObject',
      about: 'stores what a part is copied from',
      words: [...source, '--body', 'large-part', '--query', 'ETag'],
      prints: etags.largePart,
    },
    {
      operation: 'CreateMultipartUpload',
      about: 'begins one, with all that the object will carry',
      words: [
        ...[...object, '--content-type', 'application/x-parts', '--metadata', 'made=of parts', '--tagging', 'k=v'],
        ...['--checksum-algorithm', 'SHA256', '--storage-class', 'STANDARD', '--acl', 'private'],
      ],
      prints: { Bucket: name, Key: 'dir/assembled', UploadId: text, ...composite },
      keeps: { upload: 'UploadId' },
    },
    {
      operation: 'UploadPart',
      about: 'uploads a file as a part',
      words: [...upload, '--part-number', '2', '--body', 'small-part', '--checksum-algorithm', 'SHA256'],
      prints: smallSum,
    },
    {
      operation: 'UploadPart',
      about: 'refuses a part number of none',
      words: [...upload, '--part-number', '10001', '--body', 'small-part', '--checksum-algorithm', 'SHA256'],
      fails: 'InvalidArgument',
    },
    {
      operation: 'UploadPartCopy',
      about: 'makes a part of a range of an object',
      words: [
        ...[...upload, '--part-number', '1', '--copy-source', `${name}/source`],
        ...['--copy-source-range', `bytes=0-${limits.partBytesMin - 1}`, '--copy-source-if-match', etags.largePart],
      ],
      prints: { CopyPartResult: { ...largeSum, LastModified: time } },
    },
    {
      operation: 'UploadPartCopy',
      about: 'keeps a condition on the source',
      words: [
        ...[...upload, '--part-number', '1', '--copy-source', `${name}/source`],
        ...['--copy-source-if-unmodified-since', '2020-01-01T00:00:00Z'],
      ],
      fails: 'PreconditionFailed',
    },
    {
      operation: 'ListParts',
      about: 'lists the parts',
      words: upload,
      prints: { ...partsListed, Parts: [largeListed, smallListed] },
    },
    {
      operation: 'ListParts',
      about: 'gives a page',
      words: [...upload, '--max-parts', '1', '--no-paginate'],
      prints: {
        ...{ ...partsListed, Bucket: name, Key: 'dir/assembled', UploadId: '<upload>', PartNumberMarker: 0 },
        ...{ NextPartNumberMarker: 1, MaxParts: 1, IsTruncated: true, Parts: [largeListed] },
      },
    },
    {
      operation: 'ListParts',
      about: 'goes on behind a part',
      words: [...upload, '--part-number-marker', '1', '--no-paginate', '--query', 'Parts[].PartNumber'],
      prints: [2],
    },
    {
      operation: 'ListMultipartUploads',
      about: 'lists what is not complete',
      words: bucket,
      prints: { Uploads: [uploadListed], RequestCharged: null, Prefix: '' },
    },
    {
      operation: 'ListMultipartUploads',
      about: 'gives a page of one level',
      words: [...bucket, '--prefix', 'd', '--delimiter', '/', '--max-uploads', '1', '--no-paginate'],
      prints: {
        ...{ Bucket: name, KeyMarker: '', UploadIdMarker: '', Prefix: 'd', Delimiter: '/', MaxUploads: 1 },
        ...{ IsTruncated: false, CommonPrefixes: [{ Prefix: 'dir/' }] },
      },
    },
    {
      operation: 'CompleteMultipartUpload',
      about: 'wants the parts in order',
      words: [
        ...upload,
        '--multipart-upload',
        {
          Parts: [
            { ...smallSum, PartNumber: 2 },
            { ...largeSum, PartNumber: 1 },
          ],
        },
      ],
      fails: 'InvalidPartOrder',
    },
    {
      operation: 'CompleteMultipartUpload',
      about: 'wants parts that are there',
      words: [...upload, '--multipart-upload', { Parts: [{ ...largeSum, PartNumber: 7 }] }],
      fails: 'InvalidPart',
    },
    {
      operation: 'CompleteMultipartUpload',
      about: 'makes the object, when there is none',
      words: [
        ...[...upload, '--if-none-match', '*', '--checksum-type', 'COMPOSITE', '--checksum-sha256', sha256.parts],
        ...['--mpu-object-size', String(limits.partBytesMin + 100), '--multipart-upload'],
        {
          Parts: [
            { ...largeSum, PartNumber: 1 },
            { ...smallSum, PartNumber: 2 },
          ],
        },
      ],
      prints: {
        ...{ Location: expect.stringMatching(/^http:\/\/.*\/s3api-multipart\/dir\/assembled$/), Bucket: name },
        ...{ Key: 'dir/assembled', ETag: etags.parts, ...sum },
      },
    },
    {
      operation: 'ListParts',
      about: 'knows no upload that is complete',
      words: upload,
      fails: 'NoSuchUpload',
    },
    {
      operation: 'HeadObject',
      about: 'describes what was made',
      words: [...object, '--checksum-mode', 'ENABLED'],
      prints: { ...found, ...sum },
    },
    {
      operation: 'HeadObject',
      about: 'describes one part of it',
      words: [...object, '--part-number', '2'],
      prints: {
        ...{ ...found, ContentLength: 100, PartsCount: 2 },
        ContentRange: `bytes ${limits.partBytesMin}-${limits.partBytesMin + 99}/${limits.partBytesMin + 100}`,
      },
    },
    {
      operation: 'GetObjectAttributes',
      about: 'gives its parts and its checksum, which names no number of parts here',
      words: [...object, '--object-attributes', 'ETag', 'Checksum', 'ObjectParts', 'ObjectSize'],
      prints: {
        ...{ LastModified: time, ETag: etags.parts.replaceAll('"', ''), ObjectSize: limits.partBytesMin + 100 },
        Checksum: { ChecksumSHA256: sha256.parts.replace('-2', ''), ChecksumType: 'COMPOSITE' },
        ObjectParts: {
          ...{ TotalPartsCount: 2, PartNumberMarker: 0, NextPartNumberMarker: 2, MaxParts: 1000, IsTruncated: false },
          Parts: [
            { PartNumber: 1, Size: limits.partBytesMin, ChecksumSHA256: sha256.largePart },
            { PartNumber: 2, Size: 100, ChecksumSHA256: sha256.smallPart },
          ],
        },
      },
    },
    {
      operation: 'GetObjectAttributes',
      about: 'gives a page of its parts',
      words: [
        ...[...object, '--object-attributes', 'ObjectParts', '--max-parts', '1', '--part-number-marker', '1'],
        ...['--query', 'ObjectParts.Parts[].PartNumber'],
      ],
      prints: [2],
    },
    {
      operation: 'CreateMultipartUpload',
      about: 'begins one with a checksum over the whole object',
      words: [...object, '--checksum-algorithm', 'CRC32', '--checksum-type', 'FULL_OBJECT'],
      prints: {
        ...{ Bucket: name, Key: 'dir/assembled', UploadId: text },
        ...{ ChecksumAlgorithm: 'CRC32', ChecksumType: 'FULL_OBJECT' },
      },
      keeps: { upload: 'UploadId' },
    },
    { operation: 'AbortMultipartUpload', about: 'ends one', words: upload },
    { operation: 'AbortMultipartUpload', about: 'finds none to end', words: upload, fails: 'NoSuchUpload' },
    {
      operation: 'ListMultipartUploads',
      about: 'lists none',
      words: bucket,
      prints: { RequestCharged: null, Prefix: '' },
    },
    {
      operation: 'DeleteObjects',
      about: 'deletes what was made',
      words: [...bucket, '--delete', 'Objects=[{Key=source},{Key=dir/assembled}],Quiet=true'],
    },
    { operation: 'DeleteBucket', about: 'finds nothing left', words: bucket },
  ],
}
