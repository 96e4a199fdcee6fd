/** Fills a bucket with objects that share the data of one, straight in the metadata: a server would take minutes for as many. */
import { CreateBucketCommand, PutObjectCommand, S3Client, type S3ClientConfig } from '@aws-sdk/client-s3'
import { systemClock } from '../../src/clock.ts'
import { acquireInstanceLock } from '../../src/instance/instance-lock.ts'
import type { Put } from '../../src/kv/kv.ts'
import { openEngine } from '../../src/opening/metadata/open-engine.ts'
import { objectKey } from '../../src/records/keyspace.ts'
import { versionCodec } from '../../src/records/record-codecs.ts'

const entriesPerCommit = 5000

/** Makes a bucket with one object, to be cloned once the server has stopped. */
export async function putFirst(
  server: Pick<S3ClientConfig, 'endpoint' | 'credentials'>,
  { bucket, key }: { bucket: string; key: string },
): Promise<void> {
  const s3 = new S3Client({ ...server, region: 'us-east-1', forcePathStyle: true })
  await s3.send(new CreateBucketCommand({ Bucket: bucket }))
  await s3.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: 'one for all' }))
  s3.destroy()
}

/** No server may run on the directory. `name`: of the object with this number. */
export async function cloneObject(
  data: string,
  { bucket, key, count, name }: { bucket: string; key: string; count: number; name(number: number): string },
): Promise<void> {
  const kv = await openEngine({
    path: `${data}/meta`,
    onFatal: (error) => {
      throw error
    },
    takesOver: true,
  })
  const lock = await acquireInstanceLock(kv, data, systemClock)
  try {
    await kv.integrity.beginRun()
    const from = objectKey(bucket, key)
    const [entry] = await kv.get([from])
    if (entry === undefined) throw new Error(`there is no object ${key} to clone`)
    const version = versionCodec.decode(from, entry.value)
    for (let at = 0; at < count; at += entriesPerCommit) {
      const puts: Put[] = []
      for (let number = at; number < Math.min(count, at + entriesPerCommit); number++) {
        const clone = objectKey(bucket, name(number))
        puts.push({ key: clone, value: versionCodec.encode(clone, version) })
      }
      await kv.commit({ puts })
    }
    await kv.integrity.endRun()
  } finally {
    await lock.release()
    await kv.close()
  }
}
