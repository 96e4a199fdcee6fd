/** Warnings about slow requests, which appear at any log level. */
import { CreateBucketCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { expect, test } from 'vitest'
import { keyVariables, type Running, serve } from './holdfast-process.ts'
import { openWorkplace } from './workplace.ts'

const place = openWorkplace('slow-requests')
const Bucket = 'photos'

interface Line {
  level: number
  msg: string
  operation: string
  firstByteMs: number
  path: string
}

const linesOf = ({ output }: Running): Line[] =>
  output.stderr
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))

/** Resolves with the log lines after some writes, each of which waits for the disk. */
async function afterWrites(slowRequest: string, isEnough: (lines: Line[]) => boolean): Promise<Line[]> {
  const words = ['serve', '--data', place.path(slowRequest), '--listen', '127.0.0.1:0', '--log-level', 'warn']
  const running = await serve([...words, '--slow-request', slowRequest], keyVariables)
  const client = place.clientOf(running.ready.endpoint)
  await client.send(new CreateBucketCommand({ Bucket }))
  await expect
    .poll(async () => {
      await client.send(new PutObjectCommand({ Bucket, Key: 'a key', Body: Buffer.alloc(4 << 20) }))
      return isEnough(linesOf(running))
    })
    .toBe(true)
  running.child.kill('SIGTERM')
  await running.ended
  return linesOf(running)
}

test('a request that takes longer until the head of its answer is logged as a warning, and no other', async () => {
  const isSlowPut = ({ operation, msg }: Line): boolean => operation === 'PutObject' && msg === 'a slow request'
  const slow = (await afterWrites('1ms', (lines) => lines.some(isSlowPut))).filter(isSlowPut)
  // 40 is pino's level for warnings.
  expect(slow[0]).toMatchObject({ level: 40, path: '/photos/a%20key' })
  for (const { firstByteMs } of slow) expect(firstByteMs).toBeGreaterThanOrEqual(1)
  expect(await afterWrites('1h', () => true)).toEqual([])
})
