/** Calls on the versions of objects and on the switch that keeps them. */
import { owner, type Scenario, text, time, versionId } from './call.ts'
import { etags, sha256 } from './files.ts'

const name = 's3api-versions'
const bucket = ['--bucket', name]
const object = [...bucket, '--key', 'k']
const old = [...object, '--version-id', '<old>']

const sum = { ChecksumSHA256: sha256.letters, ChecksumType: 'FULL_OBJECT' }
const unnamed = { ETag: etags.letters, ...sum }
const put = { ...unnamed, VersionId: versionId }
const putWords = [...object, '--body', 'letters', '--checksum-algorithm', 'SHA256']
const found = {
  ...{ AcceptRanges: 'bytes', LastModified: time, ContentLength: 8, ETag: etags.letters },
  ...{ ContentType: 'binary/octet-stream', Metadata: {} },
}
const listed = (VersionId: string, IsLatest: boolean): object => ({
  ...{ ETag: etags.letters, ChecksumAlgorithm: ['SHA256'], ChecksumType: 'FULL_OBJECT', Size: 8 },
  ...{ StorageClass: 'STANDARD', Key: 'k', VersionId, IsLatest, LastModified: time, Owner: owner },
})
const markerListed = (VersionId: string, IsLatest: boolean): object => ({
  ...{ Owner: owner, Key: 'k', VersionId, IsLatest, LastModified: time },
})
const tags = { TagSet: [{ Key: 'k', Value: 'v' }] }

export const versions: Scenario = {
  name: 'versions',
  calls: [
    { operation: 'CreateBucket', about: 'makes room', words: bucket, prints: { Location: `/${name}` } },
    { operation: 'GetBucketVersioning', about: 'prints nothing where it never was on', words: bucket },
    {
      operation: 'PutBucketVersioning',
      about: 'turns it on',
      words: [...bucket, '--versioning-configuration', 'Status=Enabled', '--checksum-algorithm', 'SHA256'],
    },
    { operation: 'GetBucketVersioning', about: 'says so', words: bucket, prints: { Status: 'Enabled' } },
    {
      operation: 'PutBucketVersioning',
      about: 'refuses deletion under a second factor',
      words: [...bucket, '--versioning-configuration', 'Status=Enabled,MFADelete=Enabled', '--mfa', 'serial 123456'],
      fails: 'NotImplemented',
    },
    {
      operation: 'PutObject',
      about: 'makes a version',
      words: [...putWords, '--metadata', 'nth=first'],
      prints: put,
      keeps: { old: 'VersionId' },
    },
    { operation: 'PutObject', about: 'makes another', words: putWords, prints: put, keeps: { new: 'VersionId' } },
    {
      operation: 'GetObject',
      about: 'gives an old version',
      words: [...old, 'versions-1'],
      prints: { ...found, ...sum, VersionId: '<old>', Metadata: { nth: 'first' } },
      saves: 'abcdefgh',
    },
    {
      operation: 'HeadObject',
      about: 'describes the current one',
      words: object,
      prints: { ...found, VersionId: '<new>' },
    },
    {
      operation: 'DeleteObject',
      about: 'puts a delete marker before them',
      words: object,
      prints: { DeleteMarker: true, VersionId: versionId },
      keeps: { marker: 'VersionId' },
    },
    { operation: 'GetObject', about: 'finds nothing then', words: [...object, 'versions-2'], fails: 'NoSuchKey' },
    {
      operation: 'HeadObject',
      about: 'refuses to describe the marker',
      words: [...object, '--version-id', '<marker>'],
      fails: '405',
    },
    {
      operation: 'HeadObject',
      command: 'wait object-not-exists',
      about: 'returns when a marker hides the object',
      words: object,
    },
    {
      operation: 'ListObjectVersions',
      about: 'lists versions and markers',
      words: bucket,
      prints: {
        ...{ Versions: [listed('<new>', false), listed('<old>', false)], RequestCharged: null, Prefix: '' },
        DeleteMarkers: [markerListed('<marker>', true)],
      },
    },
    {
      operation: 'ListObjectVersions',
      about: 'gives a page of a prefix',
      words: [...bucket, '--prefix', 'k', '--max-keys', '2', '--no-paginate'],
      prints: {
        ...{ IsTruncated: true, KeyMarker: '', VersionIdMarker: '', NextKeyMarker: 'k', NextVersionIdMarker: '<new>' },
        ...{ Versions: [listed('<new>', false)], DeleteMarkers: [markerListed('<marker>', true)] },
        ...{ Name: name, Prefix: 'k', MaxKeys: 2, EncodingType: 'url' },
      },
    },
    {
      operation: 'ListObjectVersions',
      about: 'goes on behind a version',
      words: [
        ...[...bucket, '--key-marker', 'k', '--version-id-marker', '<new>', '--delimiter', '/', '--no-paginate'],
        ...['--query', 'Versions[].VersionId'],
      ],
      prints: ['<old>'],
    },
    {
      operation: 'ListObjectVersions',
      about: 'is paged by the CLI',
      words: [...bucket, '--page-size', '1', '--query', 'Versions[].VersionId'],
      prints: ['<new>', '<old>'],
    },
    {
      operation: 'DeleteObject',
      about: 'removes the marker',
      words: [...object, '--version-id', '<marker>'],
      prints: { DeleteMarker: true, VersionId: '<marker>' },
    },
    {
      operation: 'CopyObject',
      about: 'brings an old version back',
      words: [...object, '--copy-source', `${name}/k?versionId=<old>`],
      prints: {
        ...{ CopySourceVersionId: '<old>', VersionId: versionId },
        CopyObjectResult: { ETag: etags.letters, LastModified: time, ...sum },
      },
      keeps: { copy: 'VersionId' },
    },
    {
      operation: 'PutObjectTagging',
      about: 'tags an old version',
      words: [...old, '--tagging', tags],
      prints: { VersionId: '<old>' },
    },
    {
      operation: 'GetObjectTagging',
      about: 'gives the tags of an old version',
      words: old,
      prints: { VersionId: '<old>', ...tags },
    },
    {
      operation: 'GetObjectTagging',
      about: 'gives those of the current version, which has none',
      words: object,
      prints: { VersionId: '<copy>', TagSet: [] },
    },
    {
      operation: 'DeleteObjectTagging',
      about: 'removes the tags of an old version',
      words: old,
      prints: { VersionId: '<old>' },
    },
    {
      operation: 'GetObjectTagging',
      about: 'refuses what is no version',
      words: [...object, '--version-id', 'none'],
      fails: 'InvalidArgument',
    },
    {
      operation: 'CreateMultipartUpload',
      about: 'begins an upload',
      words: [...object, '--query', '{UploadId: UploadId}'],
      prints: { UploadId: text },
      keeps: { upload: 'UploadId' },
    },
    {
      operation: 'UploadPartCopy',
      about: 'copies an old version into a part',
      words: [
        ...[...object, '--upload-id', '<upload>', '--part-number', '1', '--copy-source', `${name}/k?versionId=<old>`],
        ...['--query', '{Version: CopySourceVersionId, ETag: CopyPartResult.ETag}'],
      ],
      prints: { Version: '<old>', ETag: etags.letters },
    },
    { operation: 'AbortMultipartUpload', about: 'ends the upload', words: [...object, '--upload-id', '<upload>'] },
    {
      operation: 'DeleteObject',
      about: 'removes a version',
      words: old,
      prints: { VersionId: '<old>' },
    },
    {
      operation: 'PutBucketVersioning',
      about: 'suspends it',
      words: [...bucket, '--versioning-configuration', 'Status=Suspended'],
    },
    { operation: 'GetBucketVersioning', about: 'says that it is', words: bucket, prints: { Status: 'Suspended' } },
    {
      operation: 'PutObject',
      about: 'makes the null version, and does not name it',
      words: putWords,
      prints: unnamed,
    },
    {
      operation: 'HeadObject',
      about: 'finds the null version by its name',
      words: [...object, '--version-id', 'null'],
      prints: { ...found, VersionId: 'null' },
    },
    {
      operation: 'DeleteObjects',
      about: 'removes versions and makes a marker',
      words: [
        ...bucket,
        '--delete',
        { Objects: [{ Key: 'k', VersionId: '<new>' }, { Key: 'k', VersionId: '<copy>' }, { Key: 'k' }] },
      ],
      prints: {
        Deleted: [
          { Key: 'k', VersionId: '<new>' },
          { Key: 'k', VersionId: '<copy>' },
          { Key: 'k', DeleteMarker: true, DeleteMarkerVersionId: 'null' },
        ],
      },
    },
    {
      operation: 'DeleteObjects',
      about: 'removes the last marker',
      words: [...bucket, '--delete', 'Objects=[{Key=k,VersionId=null}]'],
      prints: { Deleted: [{ Key: 'k', VersionId: 'null', DeleteMarker: true, DeleteMarkerVersionId: 'null' }] },
    },
    { operation: 'DeleteBucket', about: 'finds nothing left', words: bucket },
  ],
}
