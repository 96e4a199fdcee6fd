/**
 * What the simulated file system cannot show: that the real one is told to sync. Every system call of a server is recorded, and no answer may be sent
 * while a file that was written, or a directory in which something was named, is only in memory.
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  PutObjectTaggingCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { keyVariables, killLeftovers, serve } from '../cli/holdfast-process.ts'
import { testClient } from '../cli/workplace.ts'
import { describeInstalled } from '../support/installed.ts'
import { patternBytes } from '../support/seeded.ts'
import { answersOf, type Call, isSync, parseTrace, type TracedAnswer, tracedCalls } from './system-trace.ts'

const MiB = 1024 * 1024
/**
 * LMDB's table of readers says nothing of what is stored, the marks beside its file may be behind it after a power failure, and the socket that proves
 * that the server lives ends with it; it is made in a directory beside it.
 */
const ignored = [/\/lock\.mdb$/, /\/commits\.marks$/, /\/[^/]+\.sock$/, /\/[^/]+-[A-Za-z0-9]{6}$/]
const disks = ['disk1', 'disk2', 'disk3', 'disk4']
const locations = ['default', 'copies', 'striped']

async function configure(root: string): Promise<string> {
  const config = join(root, 'holdfast.toml')
  const stores = disks.map((disk) => `[stores.${disk}]\ntype = "directory"\npath = "${disk}"\n`).join('')
  const over = `stores = ${JSON.stringify(disks)}\n`
  await writeFile(
    config,
    `data = "data"\nlisten = "127.0.0.1:0"\n${stores}` +
      `[locations.copies]\nscheme = "replica"\ncopies = 3\nwriteAck = 3\n${over}` +
      `[locations.striped]\nscheme = "erasure"\ndata = 2\nparity = 2\nwriteAck = 4\nreplicateBelow = 0\n${over}` +
      // No background work writes while an answer is sent.
      '[reclaim]\ninterval = "1h"\n[snapshots]\ninterval = "never"\n[scrub]\ninterval = "never"\n',
  )
  return config
}

/** Serves under strace while `use` sends one request at a time. Resolves with the trace. */
async function traced(
  config: string,
  { trace, workers }: { trace: string; workers: number },
  use: (s3: S3Client) => Promise<void>,
): Promise<string> {
  const through = ['strace', '-f', '-y', '-s', '16', '-e', `trace=${tracedCalls}`, '-e', 'signal=none', '-o', trace]
  // strace sees no file that io_uring writes.
  const server = await serve(
    ['serve', '--config', config],
    { ...keyVariables, UV_USE_IO_URING: '0', HOLDFAST_WORKERS: String(workers) },
    { through },
  )
  const s3 = testClient(server.ready.endpoint, { maxAttempts: 1 })
  try {
    await use(s3)
  } finally {
    s3.destroy()
    // Not strace, which would let go of it.
    process.kill(server.ready.pid, 'SIGTERM')
    await server.ended
  }
  return readFile(trace, 'utf8')
}

async function changeEverything(s3: S3Client, location: string, round: number): Promise<void> {
  const Bucket = `bucket-${location}-${round}`
  const LocationConstraint = location as 'eu-west-1'
  await s3.send(new CreateBucketCommand({ Bucket, CreateBucketConfiguration: { LocationConstraint } }))
  for (const size of [0, 1000, 2000, 300_000, 2 * MiB]) {
    await s3.send(new PutObjectCommand({ Bucket, Key: `of-${size}`, Body: patternBytes(size, size) }))
  }
  await s3.send(new PutObjectCommand({ Bucket, Key: 'sealed', Body: 'x', ServerSideEncryption: 'AES256' }))
  await s3.send(new CopyObjectCommand({ Bucket, Key: 'copy', CopySource: `${Bucket}/of-300000` }))
  const address = { Bucket, Key: 'of-1000' }
  await s3.send(new PutObjectTaggingCommand({ ...address, Tagging: { TagSet: [{ Key: 'a', Value: 'b' }] } }))
  await s3.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: 'Enabled' } }))
  const { VersionId } = await s3.send(new PutObjectCommand({ ...address, Body: 'newer' }))
  await s3.send(new DeleteObjectCommand(address))
  await s3.send(new DeleteObjectCommand({ ...address, VersionId }))
  await s3.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects: [{ Key: 'of-0' }, { Key: 'of-2000' }] } }))
  await uploadInParts(s3, Bucket)
  await s3.send(new CreateBucketCommand({ Bucket: `${Bucket}-gone` }))
  await s3.send(new DeleteBucketCommand({ Bucket: `${Bucket}-gone` }))
}

async function uploadInParts(s3: S3Client, Bucket: string): Promise<void> {
  const address = { Bucket, Key: 'parts' }
  const { UploadId } = await s3.send(new CreateMultipartUploadCommand(address))
  const Parts = []
  for (const [PartNumber, bytes] of [
    [1, 5 * MiB],
    [2, 100],
  ] as const) {
    const Body = patternBytes(PartNumber, bytes)
    const { ETag } = await s3.send(new UploadPartCommand({ ...address, UploadId, PartNumber, Body }))
    Parts.push({ PartNumber, ETag })
  }
  await s3.send(new CompleteMultipartUploadCommand({ ...address, UploadId, MultipartUpload: { Parts } }))
  const aborted = await s3.send(new CreateMultipartUploadCommand(address))
  await s3.send(new AbortMultipartUploadCommand({ ...address, UploadId: aborted.UploadId }))
}

/** Answers that came too early, or that no call of sync stands behind. */
const tooEarly = (answers: readonly TracedAnswer[]): TracedAnswer[] =>
  answers.filter(({ status, unsynced, syncs }) => status < 300 && (unsynced.length > 0 || syncs === 0))

describeInstalled(
  'answers of a server whose system calls are recorded',
  [['strace', '-f', '-o', '/dev/null', 'true']],
  () => {
    let root: string
    /** Of a first start, of one that finds everything there, and of workers whose commits the primary makes. */
    const traces: Call[][] = []

    beforeAll(async () => {
      root = await mkdtemp(join(tmpdir(), 'holdfast-traced-'))
      const config = await configure(root)
      await mkdir(join(root, 'traces'))
      for (const [round, workers] of [1, 1, 3].entries()) {
        const trace = await traced(config, { trace: join(root, 'traces', `${round}`), workers }, async (s3) => {
          for (const location of locations) await changeEverything(s3, location, round)
        })
        traces.push(parseTrace(trace))
      }
    }, 240_000)
    afterAll(async () => {
      await killLeftovers()
      await rm(root, { recursive: true, force: true, maxRetries: 20 })
    })

    const answers = (change: (calls: Call[]) => Call[] = (calls) => calls): TracedAnswer[] =>
      traces.flatMap((calls) => answersOf(change(calls), root, ignored))

    test('are sent when everything that was written and named is on stable storage', () => {
      expect(answers().length).toBeGreaterThan(3 * locations.length * 20)
      expect(tooEarly(answers())).toEqual([])
    })

    // What the checker must find: a sync of each kind left out of what was recorded.
    test.each([
      ['of files', (call: Call) => call.name === 'fdatasync' && /\/(?:files|segments)\//.test(call.words)],
      ['of the metadata', (call: Call) => call.name === 'fdatasync' && call.words.includes('/data.mdb>')],
      ['of the directory of the metadata', (call: Call) => /\/data\/meta>/.test(call.words) && isSync(call)],
      ['of directories of files', (call: Call) => call.name === 'fsync' && /\/files(?:\/\w+)?>/.test(call.words)],
      ['of the directory of segments', (call: Call) => call.name === 'fsync' && /\/segments>/.test(call.words)],
      ['of the list of open batches', (call: Call) => call.name === 'fsync' && /\/pending>/.test(call.words)],
      ['of the data directory', (call: Call) => call.name === 'fsync' && /\/data>/.test(call.words)],
    ])('would be found too early without any sync %s', (_, isOfKind) => {
      const without = (calls: Call[]): Call[] => calls.filter((call) => !(isSync(call) && isOfKind(call)))
      expect(tooEarly(answers(without))).not.toEqual([])
    })

    test('would be found too early were files opened without O_DSYNC that rely on it', () => {
      const without = (calls: Call[]): Call[] =>
        calls.map((call) => ({ ...call, words: call.words.replace(/O_DSYNC\|?/, '') }))
      expect(tooEarly(answers(without))).not.toEqual([])
    })

    test('would be found too early were each sync begun before what it is to sync has ended', () => {
      const sooner = (calls: Call[]): Call[] => calls.map((call) => (isSync(call) ? { ...call, began: 0 } : call))
      expect(tooEarly(answers(sooner))).not.toEqual([])
    })
  },
)
