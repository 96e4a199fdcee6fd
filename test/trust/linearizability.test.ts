/**
 * Clients of several worker processes change and read a few keys at the same time, unconditionally and by conditions, while workers are killed: of each key, what
 * all of them saw is what a single register could have answered.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Agent } from 'node:http'
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  PutObjectCommand,
  type S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3'
import { expect, test } from 'vitest'
import { serve } from '../cli/holdfast-process.ts'
import { openWorkplace } from '../cli/workplace.ts'
import { seededRandom } from '../support/seeded.ts'
import { type Action, type Answer, explain, type Observed, type Value } from './linearizable.ts'

const scale = Number(process.env.HOLDFAST_TRUST_SCALE ?? '1')
/** Of one key each: `npm run trust` makes 500. */
const histories = 50 * scale
const keysAtOnce = 5
const clientsEach = 5
const actionsEach = 8
/** Rounds in which a worker is killed. */
const killsEach = 3
const Bucket = 'register'

const { path, clientOf } = openWorkplace('linear')

/** With a connection of its own, which one of the workers serves. */
const newClient = (endpoint: string): S3Client =>
  clientOf(endpoint, {
    requestHandler: { httpAgent: new Agent({ keepAlive: true, maxSockets: 1 }), requestTimeout: 20_000 },
  })

const etagOf = (value: string): string => `"${createHash('md5').update(value).digest('hex')}"`

async function done(client: S3Client, Key: string, action: Action): Promise<Answer> {
  if (action.kind === 'get') {
    const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }))
    return { said: 'value', value: await Body?.transformToString() }
  }
  if (action.kind === 'delete') await client.send(new DeleteObjectCommand({ Bucket, Key }))
  else {
    const IfNoneMatch = action.kind === 'put if absent' ? '*' : undefined
    const IfMatch = action.kind === 'put if match' ? etagOf(action.expected) : undefined
    await client.send(new PutObjectCommand({ Bucket, Key, Body: action.value, IfNoneMatch, IfMatch }))
  }
  return { said: 'ok' }
}

/** Whatever is no clear answer leaves open what happened. */
function answerOf(error: unknown, { kind }: Action): Answer {
  const status = error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined
  if (status === 404) return kind === 'get' ? { said: 'value', value: undefined } : { said: 'absent' }
  if (status === 412) return { said: 'failed' }
  if (status === 409) return { said: 'refused' }
  if (status === undefined || status >= 500) return { said: 'unknown' }
  throw error
}

function anAction(random: () => number, value: string, seen: Value): Action {
  const dice = random()
  if (dice < 0.35) return { kind: 'get' }
  if (dice < 0.55) return { kind: 'put', value }
  if (dice < 0.7) return { kind: 'put if absent', value }
  if (dice < 0.88) return { kind: 'put if match', value, expected: seen ?? 'none' }
  return { kind: 'delete' }
}

/** All that several clients see of one key. */
async function historyOf(key: string, ownClients: readonly S3Client[], random: () => number): Promise<Observed[]> {
  const observed: Observed[] = []
  let seen: Value
  const work = async (client: S3Client, place: number): Promise<void> => {
    for (let i = 0; i < actionsEach; i++) {
      const action = anAction(random, `${key}/${place}/${i}`, seen)
      const beganMs = performance.now()
      const answer = await done(client, key, action).catch((error: unknown) => answerOf(error, action))
      observed.push({ action, answer, beganMs, endedMs: performance.now() })
      if (answer.said === 'value') seen = answer.value ?? seen
      if (answer.said === 'ok' && action.kind !== 'get' && action.kind !== 'delete') seen = action.value
    }
  }
  await Promise.all(ownClients.map(work))
  return observed
}

const workersOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number)

// Who the workers are is read from /proc.
// Two make their own commits, the primary makes those of three.
test.runIf(process.platform === 'linux').each(['2', '3'])(
  `${histories} keys, each under ${clientsEach} clients of %s workers that are killed, answer as registers`,
  async (workers) => {
    const seed = Number(process.env.HOLDFAST_LINEAR_SEED ?? Math.floor(Math.random() * 2 ** 31))
    console.info(`histories seed: HOLDFAST_LINEAR_SEED=${seed}`)
    const random = seededRandom(seed)
    const server = await serve([
      'serve',
      '--data',
      path(`data-${workers}`),
      '--listen',
      '127.0.0.1:0',
      '--workers',
      workers,
    ])
    const crew = Array.from({ length: keysAtOnce }, () =>
      Array.from({ length: clientsEach }, () => newClient(server.ready.endpoint)),
    )
    await newClient(server.ready.endpoint).send(new CreateBucketCommand({ Bucket }))
    const rounds = Math.ceil(histories / keysAtOnce)
    const everyKill = Math.max(1, Math.floor(rounds / killsEach))
    const counts: Record<string, number> = {}
    for (let round = 0; round < rounds; round++) {
      const working = Promise.all(crew.map((own, place) => historyOf(`key-${round}-${place}`, own, random)))
      if (round % everyKill === everyKill - 1) {
        const [worker] = workersOf(server.ready.pid)
        if (worker !== undefined) process.kill(worker, 'SIGKILL')
      }
      for (const observed of await working) {
        for (const { answer } of observed) counts[answer.said] = (counts[answer.said] ?? 0) + 1
        expect(explain(observed), `seed ${seed}, round ${round}`).toBeUndefined()
      }
    }
    console.info(`answers: ${JSON.stringify(counts)}`)
    // Each kind of answer has come, or the histories prove little.
    for (const said of ['ok', 'value', 'failed']) expect(counts[said] ?? 0, said).toBeGreaterThan(histories)
    server.child.kill('SIGTERM')
    expect(await server.ended).toMatchObject({ code: 0 })
  },
  600_000 * scale,
)
