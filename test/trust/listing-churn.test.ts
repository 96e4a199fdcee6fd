/** Listings of two worker processes while writers add and remove keys: each page shows what was there all the time, and nothing that was not. */
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { describe, expect, it } from 'vitest'
import { serve } from '../cli/holdfast-process.ts'
import { openWorkplace } from '../cli/workplace.ts'
import { seededRandom } from '../support/seeded.ts'
import { groupViolations, type KeyChange, type ListedPage, pageViolations } from './listing-timeline.ts'

const scale = Number(process.env.HOLDFAST_TRUST_SCALE ?? '1')
/** Of all keys, by pages: `npm run trust` makes 100. */
const walks = 10 * scale
const writers = 6
const keysEach = 25
const Bucket = 'churn'

const { path, clientOf } = openWorkplace('churn')

type Timeline = Map<string, KeyChange[]>

/** Adds and removes keys of its own until it is told to stop. */
async function churn(
  client: S3Client,
  own: readonly string[],
  timeline: Timeline,
  random: () => number,
  goesOn: () => boolean,
) {
  const pick = (): string => own[Math.floor(random() * own.length)] ?? ''
  const change = async (keys: readonly string[], exists: boolean, work: () => Promise<unknown>): Promise<void> => {
    const open = keys.map((key) => {
      const begun: KeyChange = { beganMs: performance.now(), endedMs: Number.POSITIVE_INFINITY, exists }
      timeline.get(key)?.push(begun)
      return begun
    })
    await work()
    for (const one of open) one.endedMs = performance.now()
  }
  while (goesOn()) {
    const Key = pick()
    const dice = random()
    if (dice < 0.6) await change([Key], true, () => client.send(new PutObjectCommand({ Bucket, Key, Body: Key })))
    else if (dice < 0.9) await change([Key], false, () => client.send(new DeleteObjectCommand({ Bucket, Key })))
    else {
      const keys = [...new Set([pick(), pick(), pick(), pick()])]
      const Objects = keys.map((each) => ({ Key: each }))
      await change(keys, false, () => client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } })))
    }
  }
}

/** Resolves with how many keys it saw. */
async function walk(client: S3Client, MaxKeys: number, timeline: Timeline, violations: string[]): Promise<number> {
  let after = ''
  let seen = 0
  let ContinuationToken: string | undefined
  do {
    const beganMs = performance.now()
    const answer = await client.send(new ListObjectsV2Command({ Bucket, MaxKeys, ContinuationToken }))
    const keys = (answer.Contents ?? []).map(({ Key = '' }) => Key)
    const upTo = answer.IsTruncated ? keys.at(-1) : undefined
    violations.push(...pageViolations(timeline, { beganMs, endedMs: performance.now(), after, upTo, keys }))
    after = upTo ?? after
    seen += keys.length
    ContinuationToken = answer.NextContinuationToken
  } while (ContinuationToken !== undefined)
  return seen
}

async function listGroups(client: S3Client, timeline: Timeline, violations: string[]): Promise<void> {
  const beganMs = performance.now()
  const { CommonPrefixes = [] } = await client.send(new ListObjectsV2Command({ Bucket, Delimiter: '/' }))
  const groups = CommonPrefixes.map(({ Prefix = '' }) => Prefix)
  violations.push(...groupViolations(timeline, groups, { beganMs, endedMs: performance.now() }))
}

it(
  `${walks} walks by pages beside ${writers} writers show what was there, and nothing else`,
  async () => {
    const seed = Number(process.env.HOLDFAST_CHURN_SEED ?? Math.floor(Math.random() * 2 ** 31))
    console.info(`churn seed: HOLDFAST_CHURN_SEED=${seed}`)
    const random = seededRandom(seed)
    const server = await serve(['serve', '--data', path('data'), '--listen', '127.0.0.1:0', '--workers', '2'])
    const { endpoint } = server.ready
    await clientOf(endpoint).send(new CreateBucketCommand({ Bucket }))
    const timeline: Timeline = new Map()
    const owned = Array.from({ length: writers }, (_, writer) =>
      // Writers' keys lie between each other's, and some groups have few.
      Array.from({ length: keysEach }, (_, i) => `${String.fromCharCode(97 + (i % 9))}/${i}-${writer}`),
    )
    for (const key of owned.flat()) timeline.set(key, [])
    const filler = clientOf(endpoint)
    const filled = owned.flat().filter((_, i) => i % 2 === 0)
    await Promise.all(filled.map((Key) => filler.send(new PutObjectCommand({ Bucket, Key, Body: Key }))))
    const filledMs = performance.now()
    for (const key of filled) timeline.set(key, [{ beganMs: 0, endedMs: filledMs, exists: true }])
    let isOver = false
    const violations: string[] = []
    const writing = owned.map((own) => churn(clientOf(endpoint), own, timeline, random, () => !isOver))
    const lister = clientOf(endpoint)
    let seen = 0
    try {
      for (let i = 0; i < walks; i++) {
        seen += await walk(lister, [1, 7, 40, 1000][i % 4] ?? 1, timeline, violations)
        await listGroups(lister, timeline, violations)
      }
    } finally {
      isOver = true
      await Promise.all(writing)
    }
    expect(violations, `seed ${seed}`).toEqual([])
    expect(seen).toBeGreaterThan(walks * writers)
    const changes = [...timeline.values()].flat().length
    console.info(`${changes} changes, ${seen} keys listed`)
    expect(changes).toBeGreaterThan(walks)
    server.child.kill('SIGTERM')
    expect(await server.ended).toMatchObject({ code: 0 })
  },
  300_000 * scale,
)

describe('the checker of listings', () => {
  const put = (ms: number): KeyChange => ({ beganMs: ms, endedMs: ms + 1, exists: true })
  const removed = (ms: number): KeyChange => ({ beganMs: ms, endedMs: ms + 1, exists: false })
  const timeline = new Map<string, KeyChange[]>([
    ['a/1', [put(0)]],
    ['a/2', [put(0), removed(5)]],
    ['b/1', [put(0), removed(10)]],
    ['c/1', []],
    ['d/1', [put(0)]],
  ])
  const page: ListedPage = { beganMs: 9, endedMs: 12, after: '', upTo: undefined, keys: ['a/1', 'b/1', 'd/1'] }

  it('takes what may be seen, whether what changed meanwhile is listed or not', () => {
    expect(pageViolations(timeline, page)).toEqual([])
    expect(pageViolations(timeline, { ...page, keys: ['a/1', 'd/1'] })).toEqual([])
    expect(pageViolations(timeline, { ...page, after: 'a/1', upTo: 'b/1', keys: ['b/1'] })).toEqual([])
    expect(groupViolations(timeline, ['a/', 'd/'], page)).toEqual([])
    expect(groupViolations(timeline, ['a/', 'b/', 'd/'], page)).toEqual([])
  })

  it.each([
    ['a key left out', { keys: ['b/1', 'd/1'] }, 'a/1 was there'],
    ['the last key left out', { keys: ['a/1', 'b/1'] }, 'd/1 was there'],
    ['a key that was removed before', { keys: ['a/1', 'a/2', 'd/1'] }, 'a/2 was not there'],
    ['a key that never was', { keys: ['a/1', 'c/1', 'd/1'] }, 'c/1 was not there'],
    ['a key of nobody', { keys: ['a/1', 'd/1', 'z'] }, 'z was never written'],
    ['a key twice', { keys: ['a/1', 'a/1', 'd/1'] }, 'a/1 comes behind a/1'],
    ['keys out of order', { keys: ['d/1', 'a/1'] }, 'a/1 comes behind d/1'],
    ['a key of the page before', { after: 'a/1', keys: ['a/1', 'd/1'] }, 'a/1 comes behind a/1'],
  ])('finds %s', (_, planted, what) => {
    expect(pageViolations(timeline, { ...page, ...planted }).join()).toContain(what)
  })

  it.each([
    ['a group left out', ['a/'], 'd/ had a key'],
    ['an empty group', ['a/', 'c/', 'd/'], 'c/ was empty'],
    ['a group twice', ['a/', 'a/', 'd/'], 'a/ is out of order'],
  ])('finds %s', (_, groups, what) => {
    expect(groupViolations(timeline, groups, page).join()).toContain(what)
  })
})
