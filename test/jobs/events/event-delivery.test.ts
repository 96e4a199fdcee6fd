/** How events reach their webhooks: at least once, whatever fails, and no later than they must be given up. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { advanceLockClock } from '../../../src/commits/lock-clock.ts'
import { type EventDeliveryOptions, startEventDelivery } from '../../../src/jobs/events/event-delivery.ts'
import { removeExpired, WebhookQueue } from '../../../src/jobs/events/webhook-queue.ts'
import { Lifecycle } from '../../../src/jobs/lifecycle/lifecycle.ts'
import type { Maintenance } from '../../../src/members/membership.ts'
import { changeBucket } from '../../../src/objects/buckets.ts'
import { eventKey, queuedEvents } from '../../../src/records/keyspace.ts'
import type { NotificationRule } from '../../../src/records/notifications.ts'
import { dayMs } from '../../../src/rules/lifecycle.ts'
import { put, scope, storeWithBucket, type TestStore } from '../../objects/fixture.ts'
import { type EventMessage, type EventReceiver, openEventReceiver, type Posted } from '../../support/event-receiver.ts'

const ruleFor = (webhook: string, prefix = ''): NotificationRule => ({
  id: webhook,
  queueArn: `arn:aws:sqs:::${webhook}`,
  events: ['s3:ObjectCreated:*', 's3:ObjectRemoved:*', 's3:LifecycleExpiration:*'],
  prefix,
})

let made: TestStore
let receiver: EventReceiver
let delivery: Maintenance | undefined
let warnings: string[]
let notes: string[]
let errors: unknown[]

beforeEach(async () => {
  made = await storeWithBucket()
  receiver = await openEventReceiver()
  warnings = []
  notes = []
  errors = []
  await tell(ruleFor('primary'))
})
afterEach(async () => {
  await delivery?.stop()
  delivery = undefined
  await receiver[Symbol.asyncDispose]()
  expect(errors).toEqual([])
})

const tell = (...notifications: NotificationRule[]): Promise<void> =>
  changeBucket(made.backend, scope, (bucket) => ({ ...bucket, notifications }))

const optionsFor = (...urls: [name: string, url: string][]): EventDeliveryOptions => ({
  backend: made.backend,
  region: 'us-east-1',
  webhooks: urls.map(([name, url]) => ({ name, url })),
  warn: (message) => warnings.push(message),
  inform: (message) => notes.push(message),
  onError: (error) => errors.push(error),
})
function deliver(...urls: [name: string, url: string][]): void {
  delivery = startEventDelivery(optionsFor(...urls))
}
const queue = (url = receiver.url): WebhookQueue => new WebhookQueue({ name: 'primary', url }, optionsFor())
const never = new AbortController().signal

const keysOf = (posted: readonly Posted[]): string[] =>
  posted.map(({ message }) => message.Records?.[0].s3.object.key ?? '')
const waiting = async (): Promise<number> => (await made.backend.kv.range({ ...queuedEvents, limit: 1000 })).length

describe('an event', () => {
  it('is posted once, and leaves the queue', async () => {
    for (const key of ['a', 'b', 'c']) await put(made, key)
    expect(await waiting()).toBe(3)
    expect(await queue().send(never)).toBe(true)
    expect(keysOf(receiver.taken).sort()).toEqual(['a', 'b', 'c'])
    expect(await waiting()).toBe(0)
  })

  it('leaves the queue with all others, however many there are', async () => {
    const keys = Array.from({ length: 450 }, (_, i) => `${i}`)
    for (const key of keys) await put(made, key)
    expect(await queue().send(never)).toBe(true)
    expect(keysOf(receiver.taken).sort()).toEqual(keys.sort())
    expect(await waiting()).toBe(0)
  })

  it('is not queued by a commit that fails', async () => {
    made.kv.failAfterCommits(0)
    await expect(put(made, 'a')).rejects.toThrow('killed')
    made.kv.failAfterCommits(undefined)
    expect(await waiting()).toBe(0)
  })

  it('is posted again when the process dies before it has left the queue', async () => {
    await put(made, 'a')
    made.kv.failAfterCommits(0)
    await expect(queue().send(never)).rejects.toThrow('killed')
    made.kv.failAfterCommits(undefined)
    expect(await queue().send(never)).toBe(true)
    expect(keysOf(receiver.taken)).toEqual(['a', 'a'])
    expect(await waiting()).toBe(0)
  })

  it('reaches the webhook by itself, soon after the change', async () => {
    deliver(['primary', receiver.url])
    await put(made, 'a')
    await receiver.until((taken) => taken.length === 1)
  })

  it('is told of what lifecycle rules remove', async () => {
    await put(made, 'a')
    const expiration = { days: 1 }
    const lifecycle = [{ id: 'l', enabled: true, filter: { form: 'filter' as const, tags: [] }, expiration }]
    await changeBucket(made.backend, scope, (bucket) => ({ ...bucket, lifecycle }))
    made.clock.advance(3 * dayMs)
    await new Lifecycle({ ...made, onError: (error) => errors.push(error) }).run()
    await queue().send(never)
    expect(receiver.taken.map(({ message }) => message.EventName)).toEqual([
      's3:ObjectCreated:Put',
      's3:LifecycleExpiration:Delete',
    ])
    expect(receiver.taken[1]?.message.Records?.[0].userIdentity.principalId).toBe('s3.amazonaws.com')
  })

  it('goes to the webhook of its rule alone', async () => {
    await using other = await openEventReceiver()
    await tell(ruleFor('primary', 'a/'), ruleFor('other', 'b/'))
    for (const key of ['a/1', 'b/1', 'c/1', 'b/2']) await put(made, key)
    deliver(['primary', receiver.url], ['other', other.url])
    await Promise.all([receiver.until(({ length }) => length === 1), other.until(({ length }) => length === 2)])
    expect([keysOf(receiver.taken), keysOf(other.taken).sort()]).toEqual([['a/1'], ['b/1', 'b/2']])
  })
})

describe('a webhook that is away', () => {
  it.each([
    ['that answers nothing', 'gone', 'no answer'],
    ['that fails', 500, 'status 500'],
    ['that knows no such page', 404, 'status 404'],
    ['that wants another token', 401, 'status 401'],
    ['that leads elsewhere', 307, 'status 307'],
    ['that is asked too often', 429, 'status 429'],
    ['that is set up wrongly, and refuses everything', 400, 'status 400'],
  ] as const)('%s gets all events when it is back', async (_, answer, why) => {
    receiver.answer = () => answer
    for (const key of ['a', 'b']) await put(made, key)
    deliver(['primary', receiver.url])
    await receiver.untilRefused((refused) => refused.length >= 2)
    receiver.answer = undefined
    await put(made, 'c')
    await receiver.until((taken) => taken.length === 3)
    expect(keysOf(receiver.taken).sort()).toEqual(['a', 'b', 'c'])
    expect(warnings).toEqual([`the webhook primary takes no events (${why}): they wait`])
    expect(notes).toEqual(['the webhook primary takes events again'])
  })

  it('gets no more than a few events at once, and each of them in its turn', async () => {
    for (let i = 0; i < 50; i++) await put(made, `${i}`)
    receiver.answer = () => 503
    // In a time that stands still, no event is due again before all have been posted.
    const asked = new WebhookQueue({ name: 'primary', url: receiver.url }, { ...optionsFor(), monotonicMs: () => 0 })
    expect(await asked.send(never)).toBe(false)
    // When the 16th has failed, others are under way.
    expect(receiver.refused.length).toBeLessThan(2 * 16)
    await asked.send(never)
    await asked.send(never)
    expect(keysOf(receiver.refused).sort()).toEqual(Array.from({ length: 50 }, (_, i) => `${i}`).sort())
    expect(await waiting()).toBe(50)
  })

  it('does not hold up others', async () => {
    await using other = await openEventReceiver()
    await tell(ruleFor('primary', 'a/'), ruleFor('other', 'b/'))
    receiver.answer = () => 500
    for (const key of ['a/1', 'b/1']) await put(made, key)
    deliver(['primary', receiver.url], ['other', other.url])
    await other.until((taken) => taken.length === 1)
  })

  it('that hangs gets its event when it answers again', async () => {
    receiver.answer = ({ Key }) => (Key === 'bucket/hangs' ? 'never' : 200)
    for (const key of ['hangs', 'a']) await put(made, key)
    const ending = new AbortController()
    const sending = queue().send(ending.signal)
    await receiver.until(({ length }) => length === 1)
    ending.abort()
    await sending
    receiver.answer = undefined
    await queue().send(never)
    expect([keysOf(receiver.taken).includes('hangs'), await waiting()]).toEqual([true, 0])
  })
})

describe('an event that its webhook does not take', () => {
  const isBad = ({ Key = '' }: EventMessage): boolean => Key.startsWith('bucket/bad')
  let monotonicMs: number
  const timed = (): WebhookQueue => {
    monotonicMs = 0
    const options = { ...optionsFor(), monotonicMs: () => monotonicMs }
    return new WebhookQueue({ name: 'primary', url: receiver.url }, options)
  }

  it.each([400, 500])('does not hold up others, however many there are (%s)', async (status) => {
    receiver.answer = (message) => (isBad(message) ? status : 200)
    for (let i = 0; i < 40; i++) await put(made, `bad${i}`)
    for (const key of ['a', 'b']) await put(made, key)
    const asked = timed()
    for (let looks = 0; looks < 3; looks++) await asked.send(never)
    expect(keysOf(receiver.taken).sort()).toEqual(['a', 'b'])
    await put(made, 'c')
    await asked.send(never)
    expect(keysOf(receiver.taken)).toContain('c')
    expect(await waiting()).toBe(40)
  })

  it('is posted again after a pause that grows, and once the webhook takes it, is done with', async () => {
    receiver.answer = (message) => (isBad(message) ? 503 : 200)
    await put(made, 'bad')
    const asked = timed()
    const postsAt: number[] = []
    for (; monotonicMs < 20_000; monotonicMs += 500) {
      const before = receiver.refused.length
      await asked.send(never)
      if (receiver.refused.length > before) postsAt.push(monotonicMs)
    }
    expect(postsAt).toEqual([0, 1000, 3000, 7000, 15_000])
    receiver.answer = undefined
    monotonicMs = 60_000
    await asked.send(never)
    expect([keysOf(receiver.taken), await waiting()]).toEqual([['bad'], 0])
  })

  it('is given up when it was refused some times, while others were taken', async () => {
    receiver.answer = (message) => (isBad(message) ? 422 : 200)
    const asked = timed()
    await put(made, 'good')
    await asked.send(never)
    for (const key of ['bad1', 'bad2']) await put(made, key)
    for (let times = 1; times <= 5; times++) {
      await put(made, `good${times}`)
      await asked.send(never)
      await asked.send(never)
      expect(receiver.refused).toHaveLength(2 * times)
      monotonicMs += 30_000
    }
    expect(await waiting()).toBe(0)
    expect(warnings).toEqual(['the webhook primary refused 2 events again and again: they were given up'])
  })

  it('is never given up while nothing is taken', async () => {
    receiver.answer = () => 400
    await put(made, 'a')
    const asked = timed()
    for (let times = 1; times <= 10; times++) {
      await asked.send(never)
      monotonicMs += 60_000
    }
    expect([receiver.refused.length, await waiting()]).toEqual([10, 1])
  })

  it('and can not be read does not hold up others', async () => {
    await put(made, 'a')
    await made.backend.kv.commit({ puts: [{ key: eventKey('primary', '0'.repeat(32)), value: Buffer.from('{}') }] })
    await queue().send(never)
    expect(keysOf(receiver.taken)).toEqual(['a'])
    expect(errors.splice(0)).not.toHaveLength(0)
  })
})

describe('an event that has waited for three days', () => {
  it('is removed', async () => {
    await put(made, 'old')
    made.clock.advance(3 * dayMs)
    await put(made, 'new')
    made.clock.advance(1)
    expect(await removeExpired(made.backend, 'primary')).toBe(1)
    await queue().send(never)
    expect(keysOf(receiver.taken)).toEqual(['new'])
  })

  it('is not removed because the clock was set ahead', async () => {
    await put(made, 'old')
    await advanceLockClock(made.backend)
    made.clock.set(30 * dayMs)
    expect(await removeExpired(made.backend, 'primary')).toBe(0)
  })

  it('is posted all the same by a server that was off', async () => {
    await put(made, 'old')
    made.clock.advance(30 * dayMs)
    deliver(['primary', receiver.url])
    await receiver.until((taken) => taken.length === 1)
    expect(warnings).toEqual([])
  })

  it('is removed also when no webhook of the server has its name', async () => {
    await tell(ruleFor('former'))
    await put(made, 'old')
    made.clock.advance(3 * dayMs + 1)
    await put(made, 'new')
    delivery = startEventDelivery({ ...optionsFor(['primary', receiver.url]), expiryEveryMs: 1 })
    await expect.poll(waiting).toBe(1)
    expect(warnings).toEqual(['1 events for the webhook former were given up after 3 days'])
  })
})

describe('a server', () => {
  it('has nothing to warn of while many posts are under way', async () => {
    const seen: Error[] = []
    const see = (warning: Error): void => void seen.push(warning)
    process.on('warning', see)
    receiver.answer = () => 'never'
    for (let i = 0; i < 20; i++) await put(made, `${i}`)
    deliver(['primary', receiver.url])
    await receiver.untilRefused((refused) => refused.length === 16)
    await delivery?.stop()
    process.off('warning', see)
    expect(seen).toEqual([])
  })

  it('that stops leaves a post under way for its next start', async () => {
    let stop: Promise<void> | undefined
    receiver.answer = () => {
      stop ??= delivery?.stop()
      return 'gone'
    }
    await put(made, 'a')
    deliver(['primary', receiver.url])
    await receiver.untilRefused((refused) => refused.length === 1)
    await stop
    expect(await waiting()).toBe(1)
    receiver.answer = undefined
    deliver(['primary', receiver.url])
    await receiver.until((taken) => taken.length === 1)
  })
})
