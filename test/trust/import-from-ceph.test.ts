/** An import from a real Ceph cluster, whose listings, errors and settings are its own. */
import {
  CompleteMultipartUploadCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  PutBucketCorsCommand,
  PutBucketTaggingCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { contentsOf, type ImportWorld, openImportWorld } from '../imports/import-world.ts'
import { credentials } from '../stores/s3/far-side.ts'
import { CephCluster, cephProbes } from '../support/ceph.ts'
import { describeInstalled } from '../support/installed.ts'
import { patternBytes } from '../support/seeded.ts'

/** Keys that servers spell in many ways in their listings and paths. */
const keys = ['a/b', 'a', '//', 'a b+c%20%', 'ä€\u{1f600}', 'quote\'"<&>', 'x=1&y=2?#', '\u{ffee}', '\u{10000}']

/** Of a version, what both servers say in the same way. This Ceph does not tell the parts of a multipart object, so the copy has others, and another ETag. */
function comparable({ Key, IsLatest, marker, ETag, ...said }: Record<string, unknown>) {
  const { body, ContentType, CacheControl, ContentEncoding, Metadata, tags } = said
  const etag = String(ETag).includes('-') ? undefined : ETag
  return { Key, IsLatest, marker, etag, body, ContentType, CacheControl, ContentEncoding, Metadata, tags }
}

describeInstalled('Ceph', cephProbes, () => {
  let ceph: CephCluster
  let world: ImportWorld
  beforeAll(async () => {
    ceph = await CephCluster.start(credentials)
    world = await openImportWorld({ source: { endpoint: ceph.endpoint, key: credentials } })
  })
  afterAll(async () => {
    await world?.[Symbol.asyncDispose]()
    await ceph?.remove()
  })

  async function expectSame(Bucket: string): Promise<void> {
    const [here, there] = [await contentsOf(world.here, Bucket), await contentsOf(world.there, Bucket)]
    expect(here.map(comparable)).toEqual(there.map(comparable))
  }

  it('brings objects with what is known of them, once', async () => {
    const Bucket = 'objects'
    const { there } = world
    await there.send(new CreateBucketCommand({ Bucket }))
    for (const Key of keys) await there.send(new PutObjectCommand({ Bucket, Key, Body: Key }))
    const described = {
      ContentType: 'text/x',
      CacheControl: 'no-store',
      ContentEncoding: 'gzip',
      Metadata: { a: 'b c' },
    }
    await there.send(new PutObjectCommand({ Bucket, Key: 'described', Body: '', ...described, Tagging: 'k=v%20w&l=' }))
    await there.send(new PutObjectCommand({ Bucket, Key: 'large', Body: patternBytes(1, 9 * 1024 * 1024) }))
    const asked = { Bucket, Key: 'parts' }
    const { UploadId } = await there.send(new CreateMultipartUploadCommand(asked))
    const Parts = []
    for (const PartNumber of [1, 2]) {
      const Body = patternBytes(PartNumber, PartNumber === 2 ? 5 : 6 * 1024 * 1024)
      Parts.push({ PartNumber, ...(await there.send(new UploadPartCommand({ ...asked, UploadId, PartNumber, Body }))) })
    }
    const MultipartUpload = { Parts: Parts.map(({ PartNumber, ETag }) => ({ PartNumber, ETag })) }
    await there.send(new CompleteMultipartUploadCommand({ ...asked, UploadId, MultipartUpload }))

    const all = keys.length + 3
    const counts = await world.import(Bucket)
    expect(world.told).toEqual([])
    expect(counts).toMatchObject({ copied: all, failed: 0 })
    await expectSame(Bucket)
    expect(await world.import(Bucket)).toMatchObject({ copied: 0, same: all, failed: 0 })
  })

  it('brings versions and delete markers in their order, and what came since', async () => {
    const Bucket = 'versions'
    const { there } = world
    await there.send(new CreateBucketCommand({ Bucket }))
    await there.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: 'Enabled' } }))
    for (const Key of ['a', 'b']) {
      await there.send(new PutObjectCommand({ Bucket, Key, Body: 'first' }))
      await there.send(new DeleteObjectCommand({ Bucket, Key }))
      await there.send(new PutObjectCommand({ Bucket, Key, Body: 'second' }))
    }
    expect(await world.import(Bucket)).toMatchObject({ copied: 6, failed: 0 })
    await there.send(new DeleteObjectCommand({ Bucket, Key: 'b' }))
    expect(await world.import(Bucket)).toMatchObject({ copied: 1, same: 1, failed: 0 })
    await expectSame(Bucket)
  })

  it('brings settings', async () => {
    const Bucket = 'settings'
    const { there } = world
    await there.send(new CreateBucketCommand({ Bucket }))
    const CORSRules = [{ AllowedMethods: ['GET'], AllowedOrigins: ['https://example.com'] }]
    await there.send(new PutBucketCorsCommand({ Bucket, CORSConfiguration: { CORSRules } }))
    await there.send(new PutBucketTaggingCommand({ Bucket, Tagging: { TagSet: [{ Key: 'a', Value: 'b' }] } }))
    await world.import(Bucket)
    expect(world.told).toEqual([])
  })
})
