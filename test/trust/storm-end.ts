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
import { expect } from 'vitest'
import type { Outcome, Running } from '../cli/holdfast-process.ts'

export async function removeEverything(client: S3Client, bucket: string): Promise<void> {
  const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: bucket }))
  await Promise.all(Contents.map(({ Key }) => client.send(new DeleteObjectCommand({ Bucket: bucket, Key }))))
  const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket }))
  for (const { Key, UploadId } of Uploads) {
    await client.send(new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId }))
  }
  await client.send(new DeleteBucketCommand({ Bucket: bucket }))
}

/** Scrubs, removes everything, stops the server, and reclaims what nothing references any more. */
export async function endStorm(
  client: S3Client,
  bucket: string,
  { server, command }: { server: Running; command(...words: string[]): Promise<Outcome> },
): Promise<void> {
  expect(await command('scrub')).toMatchObject({ code: 0 })
  await removeEverything(client, bucket)
  client.destroy()
  server.child.kill('SIGTERM')
  await server.ended
  for (let i = 0; i < 2; i++)
    expect(await command('reclaim', '--grace', '0', '--quarantine', '0')).toMatchObject({ code: 0 })
}

/** What a store keeps for itself: its identity, its owner, room for deletes. */
const ofTheStore = /^holdfast-(store\.json|owner\.\d+\.json|room)$/

/** Files that stores keep of what clients sent. */
export async function leftovers(paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all(paths.map((path) => readdir(path, { recursive: true, withFileTypes: true })))
  return found.flat().flatMap((it) => (it.isFile() && !ofTheStore.test(it.name) ? [it.name] : []))
}
