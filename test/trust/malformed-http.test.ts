/** Malformed requests over raw sockets, by the thousand: no crash, no 5xx but what is refused by name or for overload, and everything is given back. */
import { readdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { CreateBucketCommand, GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { expect, test } from 'vitest'
import { environmentKey, serve } from '../cli/holdfast-process.ts'
import { openWorkplace, testClient } from '../cli/workplace.ts'
import { seededRandom } from '../support/seeded.ts'
import { MalformedRequests } from './malformed-requests.ts'

const scale = Number(process.env.HOLDFAST_TRUST_SCALE ?? '1')
/** `npm run trust` sends 300,000. */
const requests = scale === 1 ? 3_000 : 30_000 * scale
const socketsAtOnce = 24
/** A server that neither answers nor ends the connection for so long hangs. */
const hangsMs = 60_000
const growthMiBMax = 200
const Bucket = 'malformed'

const place = openWorkplace('malformed')

/** All that comes back until the server ends the connection; the sending side is closed behind the bytes. */
function answerTo(port: number, bytes: Buffer): Promise<{ text: string; hangs: boolean }> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    let text = ''
    let hangs = false
    const timer = setTimeout(() => {
      hangs = true
      socket.destroy()
    }, hangsMs)
    socket.setEncoding('latin1')
    socket.on('data', (piece: string) => {
      if (text.length < 100_000) text += piece
    })
    // A reset is an end like any other.
    socket.on('error', () => {})
    socket.on('close', () => {
      clearTimeout(timer)
      resolve({ text, hangs })
    })
    socket.end(bytes)
  })
}

/** Of all answers on the connection. */
const statusesIn = (text: string): number[] =>
  [...text.matchAll(/(?:^|\r\n|>)HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))

const isFault = (status: number): boolean => status >= 500 && status !== 501 && status !== 503

interface Usage {
  descriptors: number
  mebibytes: number
}

function usageOf(pid: number): Usage {
  const resident = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return { descriptors: readdirSync(`/proc/${pid}/fd`).length, mebibytes: Number(resident) / 1024 }
}

// What the server uses is read from /proc.
test.runIf(process.platform === 'linux')(
  `${requests} malformed requests: no crash, no fault of the server, and descriptors and memory are given back`,
  async () => {
    const seed = Number(process.env.HOLDFAST_MALFORMED_SEED ?? Math.floor(Math.random() * 2 ** 31))
    console.info(`malformed seed: HOLDFAST_MALFORMED_SEED=${seed}`)
    const server = await serve(['serve', '--data', place.path('data'), '--listen', '127.0.0.1:0'])
    const { endpoint, pid } = server.ready
    const port = Number(new URL(endpoint).port)
    const client = testClient(endpoint)
    await client.send(new CreateBucketCommand({ Bucket }))
    await client.send(new PutObjectCommand({ Bucket, Key: 'a', Body: 'a' }))
    // No request names it, so that none of them, some of which are good, can remove the bucket.
    await client.send(new PutObjectCommand({ Bucket, Key: 'kept', Body: 'kept' }))
    const random = seededRandom(seed)
    const made = new MalformedRequests(random, { host: `127.0.0.1:${port}`, key: environmentKey, bucket: Bucket })
    // What the first of them leave behind, such as compiled code, is no leak.
    const counts = new Map<number, number>()
    const faults: string[] = []
    const sendAll = async (count: number): Promise<void> => {
      let left = count
      const worker = async (): Promise<void> => {
        while (left-- > 0) {
          const bytes = made.next()
          const { text, hangs } = await answerTo(port, bytes)
          const statuses = statusesIn(text)
          for (const status of statuses.length === 0 ? [0] : statuses) counts.set(status, (counts.get(status) ?? 0) + 1)
          if (hangs || statuses.some(isFault)) {
            faults.push(
              `${hangs ? 'hangs' : statuses.join()}: ${JSON.stringify(bytes.toString('latin1').slice(0, 2000))}`,
            )
          }
        }
      }
      await Promise.all(Array.from({ length: socketsAtOnce }, worker))
    }
    await sendAll(Math.ceil(requests / 5))
    const before = usageOf(pid)
    await sendAll(requests - Math.ceil(requests / 5))
    expect(faults.slice(0, 3), `seed ${seed}: ${faults.length} faults`).toEqual([])
    expect(server.child.exitCode, server.output.stderr).toBe(null)

    // Alive, and as it was.
    await client.send(new PutObjectCommand({ Bucket, Key: 'after', Body: 'all well' }))
    const { Body } = await client.send(new GetObjectCommand({ Bucket, Key: 'after' }))
    expect(await Body?.transformToString()).toBe('all well')
    client.destroy()
    await expect.poll(() => usageOf(pid).descriptors).toBeLessThanOrEqual(before.descriptors)
    expect(usageOf(pid).mebibytes - before.mebibytes).toBeLessThan(growthMiBMax)
    console.info(`answers: ${JSON.stringify(Object.fromEntries([...counts].sort(([a], [b]) => a - b)))}`)
    // Behind the signature, too: else these requests would prove little.
    for (const status of [200, 400, 403, 404])
      expect(counts.get(status) ?? 0, `${status}`).toBeGreaterThan(requests / 1000)
    expect(server.output.stderr).not.toMatch(/"level":(?:50|60)|InternalError|unhandled/i)
    server.child.kill('SIGTERM')
    expect(await server.ended).toMatchObject({ code: 0 })
  },
  900_000 * scale,
)
