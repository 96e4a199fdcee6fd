/** Measures the state of a server for its metrics. Each part has a bound on its time or its cost, because a scrape comes every few seconds. */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { timeOfId } from '../../clock.ts'
import type { Backend } from '../../commits/backend.ts'
import { lockClockState } from '../../commits/lock-clock.ts'
import type { BucketQuotas } from '../../jobs/bucket-quotas.ts'
import type { BucketUsages } from '../../jobs/bucket-usage.ts'
import { everyEntry } from '../../jobs/every-entry.ts'
import { storeNow } from '../../jobs/locations/store-now.ts'
import { waitingFor } from '../../jobs/replication/replication-status.ts'
import { allTasks } from '../../jobs/tasks/tasks.ts'
import type { KeyRange } from '../../kv/ordered-key.ts'
import { limits } from '../../limits.ts'
import { listMembers } from '../../members/list-members.ts'
import type { LocationMeasure, ServerState, StoreMeasure } from '../../metrics/state.ts'
import {
  eventOf,
  eventsFor,
  garbage,
  moves,
  orphans,
  queuedEvents,
  queuedReplicas,
  repairs,
  replicaOf,
  replicasFor,
} from '../../records/keyspace.ts'
import { repairCodec } from '../../records/record-codecs.ts'
import { isReady } from '../endpoint.ts'

export interface MeasuredServer {
  backend: Backend
  usages: BucketUsages
  quotas: Pick<BucketQuotas, 'list'>
  /** The data directory. Absent: everything is in memory. */
  dataPath: string | undefined
  /** Absent: no other process shares the metadata. */
  member: string | undefined
  metadataAnswers(): boolean
  info(): { version: string; startedMs: number; workers: number; serving: boolean }
}

/** The part that is read from the metadata, by walking its queues. */
type Records = Pick<
  ServerState,
  | 'repairs'
  | 'garbage'
  | 'orphans'
  | 'queuedMoves'
  | 'events'
  | 'copies'
  | 'quotas'
  | 'tasks'
  | 'tasksDoneMs'
  | 'lockClockLagMs'
  | 'members'
  | 'leaseLeftMs'
  | 'clockDifferenceMs'
>

const unknownRecords: Records = {
  repairs: { waiting: 0, lost: 0 },
  garbage: 0,
  orphans: 0,
  queuedMoves: 0,
  events: [],
  copies: [],
  quotas: [],
  tasks: [],
  tasksDoneMs: [],
  lockClockLagMs: 0,
  members: [],
  leaseLeftMs: undefined,
  clockDifferenceMs: undefined,
}

export class ServerStateReader {
  readonly #server: MeasuredServer
  #records: { at: number; found: Records } | undefined
  #reading: Promise<Records> | undefined
  /** The last known room of each store, used when a store does not answer in time. */
  readonly #rooms = new Map<string, Pick<StoreMeasure, 'usedBytes' | 'freeBytes'>>()

  constructor(server: MeasuredServer) {
    this.#server = server
  }

  async measure(): Promise<ServerState> {
    const { backend, metadataAnswers, info } = this.#server
    const { blobs } = backend
    const answers = metadataAnswers()
    const [records, stores, damaged, fileBytes] = await Promise.all([
      this.#recordsNow(),
      this.#stores(),
      within(backend.kv.integrity.damage(), undefined),
      this.#fileBytes(),
    ])
    return {
      ...info(),
      ...records,
      stores,
      locations: blobs.locations.map((location): LocationMeasure => {
        const isDefault = location.name === blobs.defaultLocation
        const [writable, readable] = [isReady(location, 'writes'), isReady(location, 'reads')]
        return { name: location.name, isDefault, writable, readable }
      }),
      metadata: { answers, damaged: damaged !== undefined, fileBytes, connections: backend.kv.connections?.() },
      usage: this.#usage(),
    }
  }

  #usage(): ServerState['usage'] {
    const known = this.#server.usages.known()
    if (known.length === 0) return undefined
    const sum = (of: 'objects' | 'versions' | 'bytes'): number => known.reduce((total, usage) => total + usage[of], 0)
    return { buckets: known.length, objects: sum('objects'), versions: sum('versions'), bytes: sum('bytes') }
  }

  /** Lists each store once, although several locations may use it. */
  async #stores(): Promise<StoreMeasure[]> {
    const { locations } = this.#server.backend.blobs
    const placed = new Map(locations.flatMap(({ stores }) => stores.map((store) => [store.name, store])))
    return Promise.all(
      [...placed.values()].map(async (store): Promise<StoreMeasure> => {
        const { name, domain, state } = store
        const now = await within(storeNow(store), undefined)
        // A store that does not answer counts with its last known room.
        if (now === undefined) return { name, domain, state, ...(this.#rooms.get(name) ?? noRoom) }
        const room = { usedBytes: finite(now.usedBytes), freeBytes: finite(now.freeBytes) }
        this.#rooms.set(name, room)
        return { name, domain, state: now.state, ...room }
      }),
    )
  }

  /** Returns records that were read a moment ago, if there are any. While the metadata is away, returns the last ones that were read. */
  async #recordsNow(): Promise<Records> {
    const known = this.#records
    if (known !== undefined && performance.now() - known.at < limits.stateMeasuredMs) return known.found
    this.#reading ??= this.#readRecords()
      .then((found) => {
        this.#records = { at: performance.now(), found }
        return found
      })
      .finally(() => {
        this.#reading = undefined
      })
    const last = known?.found ?? unknownRecords
    return within(
      this.#reading.catch(() => last),
      last,
    )
  }

  async #readRecords(): Promise<Records> {
    const { backend, member } = this.#server
    const { kv } = backend
    const found = await allTasks(kv)
    const waiting = { waiting: 0, lost: 0 }
    let seen = 0
    for await (const { key, value } of everyEntry(kv, repairs)) {
      if (repairCodec.decode(key, value).lost === undefined) waiting.waiting++
      else waiting.lost++
      if (++seen >= limits.queueCountMax) break
    }
    const { machineMs, trustedMs } = await lockClockState(backend)
    return {
      repairs: waiting,
      garbage: await this.#count(garbage),
      orphans: await this.#count(orphans),
      queuedMoves: await this.#count(moves),
      events: await this.#oldestEvents(),
      copies: await this.#waitingCopies(),
      quotas: await this.#quotas(),
      tasks: countTasks(found.map(({ kind, record }) => `${kind} ${record.state}`)),
      tasksDoneMs: lastDone(
        found.map(({ kind, record }) => ({ kind, ms: record.state === 'done' ? record.endedMs : 0 })),
      ),
      lockClockLagMs: Math.max(0, machineMs - trustedMs),
      ...(member === undefined ? noMembers : await this.#members(member)),
    }
  }

  async #count(range: KeyRange): Promise<number> {
    let count = 0
    for await (const _ of everyEntry(this.#server.backend.kv, range)) {
      if (++count >= limits.queueCountMax) break
    }
    return count
  }

  /** Reads one event for each webhook, because millions may wait. */
  async #oldestEvents(): Promise<Records['events']> {
    const { kv, clock } = this.#server.backend
    const found: Records['events'] = []
    let { start, end } = queuedEvents
    while (found.length < limits.webhooksMeasuredMax) {
      const [oldest] = await kv.range({ start, end, limit: 1 })
      if (oldest === undefined) break
      const { webhook, id } = eventOf(oldest.key)
      found.push({ webhook, oldestMs: Math.max(0, clock.now() - timeOfId(id)) })
      start = eventsFor(webhook).end
    }
    return found
  }

  async #waitingCopies(): Promise<Records['copies']> {
    const { kv, clock } = this.#server.backend
    const found: Records['copies'] = []
    let { start, end } = queuedReplicas
    while (found.length < limits.destinationsMeasuredMax) {
      const [first] = await kv.range({ start, end, limit: 1 })
      if (first === undefined) break
      const { bucket, arn } = replicaOf(first.key)
      const { waiting, isQueueing, sinceMs } = await waitingFor(kv, bucket, arn, limits.waitingCopiesReadMax)
      // Another process may have copied all that waited.
      if (sinceMs !== undefined) {
        const oldestMs = Math.max(0, clock.now() - sinceMs)
        found.push({ bucket, destination: arn, count: waiting + Number(isQueueing), oldestMs })
      }
      start = replicasFor(bucket, arn).end
    }
    return found
  }

  async #quotas(): Promise<Records['quotas']> {
    const limited = await this.#server.quotas.list()
    return limited.slice(0, limits.quotasMeasuredMax).flatMap(({ bucket, quota, used }) =>
      (['bytes', 'objects'] as const).flatMap((of) => {
        const most = quota[of]
        if (most === undefined || used === undefined) return []
        return [{ bucket, of, usedShare: most === 0 ? 1 : used[of] / most }]
      }),
    )
  }

  async #members(own: string): Promise<Pick<Records, 'members' | 'leaseLeftMs' | 'clockDifferenceMs'>> {
    const listed = await listMembers(this.#server.backend.kv)
    const kinds = [...new Set(listed.map(({ kind }) => kind))]
    return {
      members: kinds.map((kind) => ({ kind, count: listed.filter((one) => one.kind === kind).length })),
      leaseLeftMs: listed.find(({ id }) => id === own)?.leaseLeftMs,
      clockDifferenceMs: Math.max(0, ...listed.map(({ clockAheadMs }) => Math.abs(clockAheadMs))),
    }
  }

  async #fileBytes(): Promise<number | undefined> {
    const { dataPath, member } = this.#server
    if (dataPath === undefined || member !== undefined) return undefined
    // Blocks, because the file's size includes sparse room at its end.
    return stat(join(dataPath, 'meta', 'data.mdb')).then(
      ({ blocks }) => blocks * 512,
      () => undefined,
    )
  }
}

const noRoom = { usedBytes: undefined, freeBytes: undefined }
const noMembers = { members: [], leaseLeftMs: undefined, clockDifferenceMs: undefined }

const finite = (bytes: number | undefined): number | undefined =>
  bytes !== undefined && Number.isFinite(bytes) ? bytes : undefined

/** Resolves with the result of `work`, or with `otherwise` if that takes too long. */
function within<T, O>(work: Promise<T>, otherwise: O): Promise<T | O> {
  return Promise.race([work, delay(limits.storeMeasureMs, otherwise, { ref: false })])
}

function countTasks(names: readonly string[]): ServerState['tasks'] {
  return [...new Set(names)].map((name) => {
    const [kind = '', state = ''] = name.split(' ')
    return { kind, state, count: names.filter((other) => other === name).length }
  })
}

function lastDone(ended: readonly { kind: string; ms: number | undefined }[]): ServerState['tasksDoneMs'] {
  const latest = new Map<string, number>()
  for (const { kind, ms = 0 } of ended) if (ms > 0) latest.set(kind, Math.max(ms, latest.get(kind) ?? 0))
  return [...latest].map(([kind, ms]) => ({ kind, ms }))
}
