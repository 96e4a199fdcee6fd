/** Mutations of notifications: which events are queued, with what, and when they leave the queue. */
import type { Mutation } from './mutation.ts'

const delivery = 'jobs/events/event-delivery.test.ts'
const told = 'library/events.test.ts'

export const eventMutations: readonly Mutation[] = [
  {
    name: 'an event leaves the queue although the webhook was away',
    file: 'jobs/events/webhook-queue.ts',
    find: 'this.#wasNotTaken(status)\n    return false',
    replace: 'this.#wasNotTaken(status)\n    return true',
    suite: delivery,
  },
  {
    name: 'an event stays in the queue when it was taken',
    file: 'jobs/events/webhook-queue.ts',
    find: 'this.#delayed.delete(id)\n      return true\n    }\n    const nowMs',
    replace: 'this.#delayed.delete(id)\n      return false\n    }\n    const nowMs',
    suite: delivery,
  },
  {
    name: 'a webhook that refuses everything loses everything',
    file: 'jobs/events/webhook-queue.ts',
    find: '&& this.#takenMs > before.firstMs',
    replace: '',
    suite: delivery,
  },
  {
    name: 'old events are removed before they were tried',
    file: 'jobs/events/event-delivery.ts',
    find: 'if (await queue.send(signal)) {',
    replace: 'await removeExpired(options.backend, webhook.name)\n    if (await queue.send(signal)) {',
    suite: delivery,
  },
  {
    name: 'some events that are never taken hold up the others',
    file: 'jobs/events/webhook-queue.ts',
    find: 'page.filter(({ key }) => !this.#delayed.has(eventOf(key).id)),',
    replace: 'page,',
    suite: delivery,
  },
  {
    name: 'expirations are told as removals',
    file: 'commits/event-queue.ts',
    find: 'sender === undefined ? asExpiration(name) : name',
    replace: 'name',
    suite: delivery,
  },
  {
    name: 'the suffix of a rule counts nothing',
    file: 'rules/notifications.ts',
    find: '&& key.endsWith(suffix)',
    replace: '',
    suite: told,
  },
  {
    name: 'a version is named where there are no versions',
    file: 'commits/event-queue.ts',
    find: "bucket.versioning === 'unversioned' ? undefined : version.versionId",
    replace: 'version.versionId',
    suite: told,
  },
  {
    name: 'events within a millisecond have no order',
    file: 'commits/event-queue.ts',
    find: 'Math.max(clock.now() * 1000, (lastStamps.get(clock) ?? 0) + 1)',
    replace: 'clock.now() * 1000',
    suite: told,
  },
]
