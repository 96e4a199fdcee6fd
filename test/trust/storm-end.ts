/** The end of a storm: everything is removed by requests, and nothing may be left of it on the disks. */
import { readdir } from 'node:fs/promises'
import {
  AbortMultipartUploadCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  type S3Client,
} from '@aws-sdk/client-s3'

export async function removeEverything(client: S3Client, bucket: string): Promise<void> {
  const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: bucket }))
  await Promise.all(Contents.map(({ Key }) => client.send(new DeleteObjectCommand({ Bucket: bucket, Key }))))
  const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket }))
  for (const { Key, UploadId } of Uploads) {
    await client.send(new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId }))
  }
  await client.send(new DeleteBucketCommand({ Bucket: bucket }))
}

/** What a store keeps for itself: its identity, its owner, room for deletes. */
const ofTheStore = /^holdfast-(store\.json|owner\.\d+\.json|room)$/

/** Files that stores keep of what clients sent. */
export async function leftovers(paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all(paths.map((path) => readdir(path, { recursive: true, withFileTypes: true })))
  return found.flat().flatMap((it) => (it.isFile() && !ofTheStore.test(it.name) ? [it.name] : []))
}
