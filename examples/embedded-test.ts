/** An S3 server inside a test: starts empty, ends with its scope. */
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { startServer } from 'holdfast'

await using server = await startServer({ buckets: ['photos'] })
const s3 = new S3Client(server.clientConfig())
await s3.send(new PutObjectCommand({ Bucket: 'photos', Key: 'cat.txt', Body: 'meow' }))
const { Body } = await s3.send(new GetObjectCommand({ Bucket: 'photos', Key: 'cat.txt' }))
console.log(await Body?.transformToString())
