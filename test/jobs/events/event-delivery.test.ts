/** How events reach their webhooks: at least once, whatever fails, and no later than they must be given up. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type EventDeliveryOptions, startEventDelivery } from '../../../src/jobs/events/event-delivery.ts'
import { removeExpired, WebhookQueue } from '../../../src/jobs/events/webhook-queue.ts'
import { Lifecycle } from '../../../src/jobs/lifecycle/lifecycle.ts'
import type { Maintenance } from '../../../src/members/membership.ts'
import { changeBucket } from '../../../src/objects/buckets.ts'
import { deleteObject } from '../../../src/objects/delete-object.ts'
import { queuedEvents } from '../../../src/records/keyspace.ts'
import type { NotificationRule } from '../../../src/records/notifications.ts'
import { dayMs } from '../../../src/rules/lifecycle.ts'
import { put, scope, storeWithBucket, type TestStore } from '../../objects/fixture.ts'
import { type EventReceiver, openEventReceiver, type Posted } from '../../support/event-receiver.ts'

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
let errors: unknown[]

beforeEach(async () => {
  made = await storeWithBucket()
  receiver = await openEventReceiver()
  warnings = []
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
    expect(await queue().send(never)).toBe('all')
    expect(keysOf(receiver.taken).sort()).toEqual(['a', 'b', 'c'])
    expect(await waiting()).toBe(0)
  })

  it('leaves the queue with all others, however many there are', async () => {
    const keys = Array.from({ length: 450 }, (_, i) => `${i}`)
    for (const key of keys) await put(made, key)
    expect(await queue().send(never)).toBe('all')
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
    expect(await queue().send(never)).toBe('all')
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
    ['that answers nothing', 'gone'],
    ['that fails', 500],
    ['that knows no such page', 404],
    ['that wants another token', 401],
    ['that leads elsewhere', 307],
    ['that is asked too often', 429],
  ] as const)('%s gets all events when it is back', async (_, answer) => {
    receiver.answer = () => answer
    for (const key of ['a', 'b']) await put(made, key)
    deliver(['primary', receiver.url])
    await receiver.untilRefused((refused) => refused.length >= 2)
    receiver.answer = undefined
    await put(made, 'c')
    await receiver.until((taken) => taken.length === 3)
    expect(keysOf(receiver.taken).sort()).toEqual(['a', 'b', 'c'])
    expect(warnings).toEqual(['the webhook primary takes no events: they wait'])
  })

  it('gets no more than a few events at once', async () => {
    for (let i = 0; i < 50; i++) await put(made, `${i}`)
    receiver.answer = () => 503
    expect(await queue().send(never)).toBe('none')
    expect(receiver.refused).toHaveLength(16)
    expect(await waiting()).toBe(50)
  })

  it('for some events alone gets the others, and those again', async () => {
    receiver.answer = ({ Key = '' }) => (Key.startsWith('bucket/bad') ? 503 : 200)
    for (const key of ['bad1', 'a', 'bad2', 'b']) await put(made, key)
    expect(await queue().send(never)).toBe('some')
    expect(keysOf(receiver.taken).sort()).toEqual(['a', 'b'])
    receiver.answer = undefined
    expect(await queue().send(never)).toBe('all')
    expect(keysOf(receiver.taken).sort()).toEqual(['a', 'b', 'bad1', 'bad2'])
  })

  it('does not hold up others', async () => {
    await using other = await openEventReceiver()
    await tell(ruleFor('primary', 'a/'), ruleFor('other', 'b/'))
    receiver.answer = () => 500
    for (const key of ['a/1', 'b/1']) await put(made, key)
    deliver(['primary', receiver.url], ['other', other.url])
    await other.until((taken) => taken.length === 1)
  })

  it('loses what is three days old', async () => {
    receiver.answer = () => 500
    await put(made, 'old')
    made.clock.advance(3 * dayMs)
    await put(made, 'new')
    made.clock.advance(1)
    expect(await removeExpired(made.backend, 'primary')).toBe(1)
    receiver.answer = undefined
    await queue().send(never)
    expect(keysOf(receiver.taken)).toEqual(['new'])
  })

  it('loses nothing that is old when it is back in time', async () => {
    await put(made, 'old')
    made.clock.advance(30 * dayMs)
    deliver(['primary', receiver.url])
    await receiver.until((taken) => taken.length === 1)
    expect(warnings).toEqual([])
  })
})

describe('an event that its webhook refuses', () => {
  it('does not hold up others', async () => {
    receiver.answer = (message) => (message.Key === 'bucket/bad' ? 400 : 200)
    await put(made, 'bad')
    deliver(['primary', receiver.url])
    await receiver.untilRefused((refused) => refused.length === 1)
    for (const key of ['a', 'b']) await put(made, key)
    await receiver.until((taken) => taken.length === 2)
    await expect.poll(waiting).toBe(1)
    expect(warnings).toEqual([])
  })

  it('is given up after the last time', async () => {
    receiver.answer = () => 422
    await put(made, 'bad')
    let monotonicMs = 0
    const options = { ...optionsFor(), monotonicMs: () => monotonicMs }
    const asked = new WebhookQueue({ name: 'primary', url: receiver.url }, options)
    // Each time, the event is due again only after a pause.
    for (let times = 1; times <= 5; times++) {
      expect(await asked.send(never)).toBe('all')
      expect(await asked.send(never)).toBe('all')
      expect(receiver.refused).toHaveLength(times)
      monotonicMs += 60_000
    }
    expect(await waiting()).toBe(0)
    expect(warnings).toEqual(['the webhook primary refused an event 5 times: it was given up'])
  })
})

describe('a server', () => {
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

  it('that no longer knows a webhook keeps its events for three days', async () => {
    await tell(ruleFor('former'))
    await put(made, 'old')
    made.clock.advance(3 * dayMs + 1)
    await put(made, 'new')
    await deleteObject(made.backend, scope, { key: 'new' })
    deliver(['primary', receiver.url])
    await expect.poll(waiting).toBe(2)
    expect(warnings).toEqual(['1 events for the webhook former were given up after 3 days'])
  })
})
