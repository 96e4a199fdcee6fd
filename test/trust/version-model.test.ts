/** Sequences of requests that fast-check makes, answered by the server's operations as S3's documentation says. */
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { scenario } from './version-model-commands.ts'
import { runScenario } from './version-model-run.ts'

const scale = Number(process.env.HOLDFAST_TRUST_SCALE ?? '1')
const numRuns = 1000 * scale

/** Sequences that never get this far would show nothing. */
const mustBeSeen = [
  'CopyObject InvalidRequest',
  'CopyObject NoSuchKey',
  'CopyObject NoSuchVersion',
  'CopyObject ok',
  'CompleteMultipartUpload ok',
  'DeleteBucket BucketNotEmpty',
  'DeleteBucket ok',
  'DeleteObject AccessDenied',
  'DeleteObject ok',
  'DeleteObjects ok',
  'GetObject MethodNotAllowed',
  'GetObject NoSuchKey',
  'GetObject NoSuchVersion',
  'GetObject ok',
  'PutBucketVersioning InvalidBucketState',
  'PutBucketVersioning ok',
  'PutObject InvalidRequest',
  'PutObject ok',
  'PutObjectLegalHold InvalidRequest',
  'PutObjectLegalHold ok',
  'PutObjectLockConfiguration InvalidBucketState',
  'PutObjectLockConfiguration ok',
  'PutObjectRetention AccessDenied',
  'PutObjectRetention ok',
  'PutObjectTagging MethodNotAllowed',
  'PutObjectTagging ok',
]

it(
  `${numRuns} sequences of up to 30 commands are answered as the model of S3's versioning says`,
  async () => {
    const seed = Number(process.env.HOLDFAST_MODEL_SEED ?? Math.floor(Math.random() * 2 ** 31))
    console.info(`version model seed: HOLDFAST_MODEL_SEED=${seed}`)
    const seen = new Set<string>()
    let commandsRun = 0
    await fc.assert(
      fc.asyncProperty(scenario, async (each) => {
        commandsRun += each.commands.length
        await runScenario(each, seen)
      }),
      { numRuns, seed },
    )
    expect(commandsRun).toBeGreaterThan(10 * numRuns)
    expect([...seen]).toEqual(expect.arrayContaining(mustBeSeen))
  },
  5 * 60_000 * scale,
)
