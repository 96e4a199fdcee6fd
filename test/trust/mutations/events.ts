/** Mutations of notifications: which events are queued, with what, and when they leave the queue. */
import type { Mutation } from './mutation.ts'

const delivery = 'jobs/events/event-delivery.test.ts'
const told = 'library/events.test.ts'

export const eventMutations: readonly Mutation[] = [
  {
    name: 'an event leaves the queue although the webhook was away',
    file: 'jobs/events/webhook-queue.ts',
    find: "if (outcome === 'away') {",
    replace: "if (outcome === 'away' && done.length > due.length) {",
    suite: delivery,
  },
  {
    name: 'an event stays in the queue when it was taken',
    file: 'jobs/events/webhook-queue.ts',
    find: "if (outcome === 'taken' || this.#givesUp(event.key)) done.push(event.key)",
    replace: "if (outcome !== 'taken' && this.#givesUp(event.key)) done.push(event.key)",
    suite: delivery,
  },
  {
    name: 'an answer of 404 is taken for a refusal of the event',
    file: 'jobs/events/webhook-queue.ts',
    find: 'refusals.has(status)',
    replace: 'status < 500',
    suite: delivery,
  },
  {
    name: 'old events are removed while their webhook takes events',
    file: 'jobs/events/event-delivery.ts',
    find: 'const reception = await queue.send(signal)',
    replace: 'await removeExpired(options.backend, webhook.name)\n    const reception = await queue.send(signal)',
    suite: delivery,
  },
  {
    name: 'only the first page of events is posted at a time',
    file: 'jobs/events/webhook-queue.ts',
    find: 'from = keyAfter(last.key)',
    replace: 'return reception',
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
    name: 'events of one version within a millisecond have no order',
    file: 'jobs/events/event-json.ts',
    find: 'return [...texts, step]',
    replace: 'return texts',
    suite: told,
  },
]
