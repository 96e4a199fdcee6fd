// `node scripts/smoke.mjs COMMAND...`: starts the server by that command, and reads back, also after a restart, what it wrote.
import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { CreateBucketCommand, GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'

const [program, ...words] = process.argv.slice(2)
if (program === undefined) throw new Error('usage: node scripts/smoke.mjs COMMAND...')

const data = mkdtempSync(join(tmpdir(), 'holdfast-smoke-'))
// Also the sizes on both sides of where data gets a file of its own.
const objects = [0, 1, 256 * 1024, 256 * 1024 + 1, 9_000_000].map((size) => ({
  key: `${size} bytes`,
  body: randomBytes(size),
}))
const Bucket = 'smoke'

/** Without keys and settings of whoever runs this: the server is to make its own. */
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(HOLDFAST|AWS|MINIO)_/.test(name)))

/** Resolves when the server has said that it is ready. */
async function start() {
  const server = spawn(program, [...words, 'serve', '--json', '--data', data, '--listen', '127.0.0.1:0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env,
  })
  const ended = new Promise((resolve, reject) => {
    server.once('error', reject)
    server.once('exit', (code, signal) => resolve(code ?? signal))
  })
  const ready = (async () => {
    for await (const line of createInterface({ input: server.stdout })) return JSON.parse(line)
  })()
  const said = await Promise.race([ready, ended])
  if (said?.event !== 'ready') throw new Error(`the server did not start: ${JSON.stringify(said)}`)
  return {
    said,
    stop: async () => {
      server.kill('SIGTERM')
      const status = await ended
      if (status !== 0) throw new Error(`the server ended with ${status}`)
    },
  }
}

function client({ endpoint, region }, credentials) {
  return new S3Client({ endpoint, region, credentials, forcePathStyle: true })
}

async function readBack(s3) {
  for (const { key, body } of objects) {
    const answer = await s3.send(new GetObjectCommand({ Bucket, Key: key }))
    const read = Buffer.from((await answer.Body?.transformToByteArray()) ?? [])
    const md5 = createHash('md5').update(body).digest('hex')
    if (!read.equals(body) || answer.ETag !== `"${md5}"`) throw new Error(`${key}: not what was written`)
  }
}

try {
  const first = await start()
  const { accessKeyId, secretAccessKey } = first.said
  const credentials = { accessKeyId, secretAccessKey }
  const s3 = client(first.said, credentials)
  await s3.send(new CreateBucketCommand({ Bucket }))
  for (const { key, body } of objects) await s3.send(new PutObjectCommand({ Bucket, Key: key, Body: body }))
  await readBack(s3)
  s3.destroy()
  await first.stop()

  const second = await start()
  const again = client(second.said, credentials)
  await readBack(again)
  again.destroy()
  await second.stop()
  console.log(`holdfast ${first.said.version}: ${objects.length} objects written and read back, also after a restart`)
} finally {
  rmSync(data, { recursive: true, force: true })
}
