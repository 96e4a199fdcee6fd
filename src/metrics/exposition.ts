/** Writes what was measured as metrics, with `prom-client`, when a scrape asks for it. */
import {
  AggregatorRegistry,
  Counter,
  Gauge,
  type MetricObjectWithValues,
  type MetricValue,
  type MetricValueWithName,
  type OpenMetricsContentType,
  openMetricsContentType,
  type PrometheusContentType,
  Registry,
} from 'prom-client'
import {
  durationBoundsMs,
  type OperationTraffic,
  otherAccounts,
  type TrafficSnapshot,
} from '../http/telemetry/traffic.ts'
import type { ProcessLoad } from './process-load.ts'
import type { ServerState } from './state.ts'

export interface Measured {
  /** The sum over all processes. */
  traffic: TrafficSnapshot
  loads: readonly ProcessLoad[]
  state: ServerState
}

export interface Exposition {
  contentType: string
  text: string
}

/** `accept`: the header of the scrape, which decides between the formats of OpenMetrics and Prometheus. */
export async function expose(measured: Measured, accept: string | undefined): Promise<Exposition> {
  const isOpen = accept?.includes('application/openmetrics-text') === true
  // Aggregation is how `prom-client` takes metrics that were measured elsewhere, such as in another process.
  const families = [await familiesOf(measured)]
  if (!isOpen) return written(AggregatorRegistry.aggregate<PrometheusContentType>(families))
  const registry = AggregatorRegistry.aggregate<OpenMetricsContentType>(families)
  registry.setContentType(openMetricsContentType)
  return written(registry)
}

async function written(registry: Pick<Registry, 'metrics'> & { contentType: string }): Promise<Exposition> {
  return { contentType: registry.contentType, text: await registry.metrics() }
}

/** All metrics with one name, for pages. */
export interface MetricFamily {
  name: string
  help: string
  type: string
  values: { name: string; labels: Record<string, string | number>; value: number }[]
}

export async function metricFamilies(measured: Measured): Promise<MetricFamily[]> {
  const families = await familiesOf(measured)
  return families.map(({ name, help, type, values }) => ({
    name,
    help,
    type: String(type),
    values: values.map((value) => ({
      name: 'metricName' in value && typeof value.metricName === 'string' ? value.metricName : name,
      labels: labelsOf(value.labels),
      value: value.value,
    })),
  }))
}

/** The JSON that `prom-client` writes. Its own types get `type` wrong: it is a word. */
interface Family extends Omit<MetricObjectWithValues<MetricValue<string>>, 'type' | 'collect'> {
  type: unknown
}

function labelsOf(labels: Partial<Record<string, string | number>>): Record<string, string | number> {
  return Object.fromEntries(
    Object.entries(labels).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}

async function familiesOf({ traffic, loads, state }: Measured): Promise<Family[]> {
  const registry = new Registry()
  const to = new Filling(registry)
  fillTraffic(to, traffic)
  fillLoads(to, loads)
  fillServer(to, state)
  fillStores(to, state)
  fillQueues(to, state)
  return [...(await registry.getMetricsAsJSON()), durationsOf(traffic.operations)]
}

type Labels = Record<string, string>

/** Adds metrics to a registry that is filled once and then read. */
class Filling {
  readonly #registry: Registry

  constructor(registry: Registry) {
    this.#registry = registry
  }

  gauge(name: string, help: string, values: readonly (readonly [Labels, number | undefined])[]): void {
    const known = values.flatMap(([labels, value]) => (value === undefined ? [] : [{ labels, value }]))
    const metric = new Gauge({ name, help, labelNames: namesOf(values), registers: [this.#registry] })
    // A gauge without labels starts at 0, which would be a false value.
    metric.reset()
    if (known.length === 0) this.#registry.removeSingleMetric(name)
    for (const { labels, value } of known) metric.set(labels, value)
  }

  counter(name: string, help: string, values: readonly (readonly [Labels, number])[]): void {
    const metric = new Counter({ name, help, labelNames: namesOf(values), registers: [this.#registry] })
    for (const [labels, value] of values) metric.inc(labels, value)
  }
}

const namesOf = (values: readonly (readonly [Labels, unknown])[]): string[] => Object.keys(values[0]?.[0] ?? {})

const durationName = 'holdfast_request_duration_seconds'

/** A classic histogram, from buckets that were counted one by one. */
function durationsOf(operations: readonly OperationTraffic[]): Family {
  const values: MetricValueWithName<string>[] = []
  for (const { operation, durations, durationSumMs } of operations) {
    const labels = { operation: named(operation) }
    let below = 0
    for (const [i, count] of durations.entries()) {
      below += count
      const bound = durationBoundsMs[i]
      const le = bound === undefined ? '+Inf' : bound / 1000
      values.push({ metricName: `${durationName}_bucket`, labels: { le, ...labels }, value: below })
    }
    values.push({ metricName: `${durationName}_sum`, labels, value: durationSumMs / 1000 })
    values.push({ metricName: `${durationName}_count`, labels, value: below })
  }
  const help = 'Time from head to answer by operation.'
  return { name: durationName, help, type: 'histogram', aggregator: 'sum', values }
}

/** The name is empty if the request was refused before its operation was known. */
const named = (operation: string): string => (operation === '' ? 'unknown' : operation)

function fillTraffic(to: Filling, { operations, accounts }: TrafficSnapshot): void {
  to.counter(
    'holdfast_requests_total',
    'Requests to the S3 port by operation, HTTP status (0: the client left first) and S3 error code.',
    operations.flatMap(({ operation, outcomes }) =>
      outcomes.map(({ status, code, requests }) => [
        { operation: named(operation), status: String(status), code },
        requests,
      ]),
    ),
  )
  const bytes = (name: 'bytesIn' | 'bytesOut'): [Labels, number][] =>
    operations.map((traffic) => [{ operation: named(traffic.operation) }, traffic[name]])
  to.counter('holdfast_received_bytes_total', 'Bytes of request bodies by operation.', bytes('bytesIn'))
  to.counter('holdfast_sent_bytes_total', 'Bytes of answer bodies by operation.', bytes('bytesOut'))
  const ofAccounts = (name: 'requests' | 'failures' | 'bytesIn' | 'bytesOut'): [Labels, number][] =>
    accounts.map((traffic) => [
      { account: traffic.account === otherAccounts ? 'other' : traffic.account },
      traffic[name],
    ])
  to.counter(
    'holdfast_account_requests_total',
    'Requests by account; beyond 100 accounts, other.',
    ofAccounts('requests'),
  )
  to.counter('holdfast_account_errors_total', 'Refused and failed requests by account.', ofAccounts('failures'))
  to.counter('holdfast_account_received_bytes_total', 'Bytes of request bodies by account.', ofAccounts('bytesIn'))
  to.counter('holdfast_account_sent_bytes_total', 'Bytes of answer bodies by account.', ofAccounts('bytesOut'))
}

function fillLoads(to: Filling, loads: readonly ProcessLoad[]): void {
  const max = (of: (load: ProcessLoad) => number): number => Math.max(0, ...loads.map(of))
  const sum = (of: (load: ProcessLoad) => number): number => loads.reduce((total, load) => total + of(load), 0)
  to.gauge('holdfast_processes', 'Processes of this server that reported.', [[{}, loads.length]])
  to.gauge(
    'holdfast_event_loop_delay_seconds',
    'Delay of the event loop within the last one or two minutes, in the worst process.',
    [
      [{ statistic: 'p50' }, max(({ loopDelayMs }) => loopDelayMs.p50) / 1000],
      [{ statistic: 'p99' }, max(({ loopDelayMs }) => loopDelayMs.p99) / 1000],
      [{ statistic: 'max' }, max(({ loopDelayMs }) => loopDelayMs.max) / 1000],
    ],
  )
  to.counter('holdfast_cpu_seconds_total', 'Processor time of all processes.', [
    [{}, sum(({ cpuSeconds }) => cpuSeconds)],
  ])
  to.gauge('holdfast_resident_memory_bytes', 'Memory of all processes.', [[{}, sum((load) => load.residentBytes)]])
  to.gauge('holdfast_heap_bytes', 'JavaScript heap in use by all processes.', [[{}, sum((load) => load.heapBytes)]])
}

const flag = (value: boolean): number => (value ? 1 : 0)

function fillServer(to: Filling, state: ServerState): void {
  const { version, startedMs, serving, workers, metadata, members, leaseLeftMs, clockDifferenceMs } = state
  to.gauge('holdfast_build_info', 'The version, as a label.', [[{ version }, 1]])
  to.gauge('holdfast_start_time_seconds', 'When the server started, in seconds since the epoch.', [
    [{}, startedMs / 1000],
  ])
  to.gauge('holdfast_serving', 'Whether the S3 port takes requests.', [[{}, flag(serving)]])
  to.gauge('holdfast_workers', 'Configured worker processes.', [[{}, workers]])
  to.gauge('holdfast_metadata_up', 'Whether the metadata answers.', [[{}, flag(metadata.answers)]])
  to.gauge('holdfast_metadata_damaged', 'Whether damage to the metadata is known.', [[{}, flag(metadata.damaged)]])
  to.gauge('holdfast_metadata_file_bytes', 'Size of the metadata in LMDB.', [[{}, metadata.fileBytes]])
  const { connections } = metadata
  to.gauge('holdfast_metadata_connections', 'Connections of this process to the database for reads.', [
    [{ state: 'open' }, connections?.open],
    [{ state: 'idle' }, connections?.idle],
    [{ state: 'most' }, connections?.most],
  ])
  to.gauge('holdfast_metadata_connection_waits', 'Reads that wait for a connection.', [[{}, connections?.waiting]])
  to.gauge(
    'holdfast_members',
    'Processes that share the metadata.',
    members.map(({ kind, count }) => [{ kind }, count]),
  )
  const seconds = (ms: number | undefined): number | undefined => (ms === undefined ? undefined : ms / 1000)
  to.gauge('holdfast_lease_left_seconds', "What is left of this server's lease.", [[{}, seconds(leaseLeftMs)]])
  to.gauge('holdfast_clock_difference_seconds', "Largest difference of a member's clock from the database's.", [
    [{}, seconds(clockDifferenceMs)],
  ])
  to.gauge('holdfast_lock_clock_lag_seconds', "How far the clock of Object Lock is behind the machine's.", [
    [{}, state.lockClockLagMs / 1000],
  ])
}

function fillStores(to: Filling, { stores, locations, usage, quotas }: ServerState): void {
  to.gauge(
    'holdfast_store_up',
    'Whether a store is in use.',
    stores.map(({ name, domain, state }) => [{ store: name, domain }, flag(state !== 'out')]),
  )
  to.gauge(
    'holdfast_store_writable',
    'Whether a store takes new data.',
    stores.map(({ name, domain, state }) => [{ store: name, domain }, flag(state === 'up')]),
  )
  to.gauge(
    'holdfast_store_used_bytes',
    'Bytes that the data of a store takes.',
    stores.map(({ name, domain, usedBytes }) => [{ store: name, domain }, usedBytes]),
  )
  to.gauge(
    'holdfast_store_free_bytes',
    'Bytes free for new data.',
    stores.map(({ name, domain, freeBytes }) => [{ store: name, domain }, freeBytes]),
  )
  to.gauge(
    'holdfast_location_writable',
    'Whether enough stores of a location are in use to acknowledge writes.',
    locations.map(({ name, isDefault, writable }) => [{ location: name, default: String(isDefault) }, flag(writable)]),
  )
  to.gauge(
    'holdfast_location_readable',
    'Whether enough stores of a location are in use to read everything in it.',
    locations.map(({ name, isDefault, readable }) => [{ location: name, default: String(isDefault) }, flag(readable)]),
  )
  to.gauge('holdfast_buckets', 'Buckets, as last counted.', [[{}, usage?.buckets]])
  to.gauge('holdfast_objects', 'Current objects, as last counted.', [[{}, usage?.objects]])
  to.gauge('holdfast_object_versions', 'Versions of objects, as last counted.', [[{}, usage?.versions]])
  to.gauge('holdfast_object_bytes', 'Bytes of all versions, as last counted.', [[{}, usage?.bytes]])
  to.gauge(
    'holdfast_quota_used_ratio',
    'How much of the quota of a bucket is used; 1 is all of it.',
    quotas.map(({ bucket, of, usedShare }) => [{ bucket, of }, usedShare]),
  )
}

function fillQueues(to: Filling, state: ServerState): void {
  const { repairs, garbage, orphans, queuedMoves, events, copies, tasks, tasksDoneMs } = state
  to.gauge('holdfast_repair_queue_blobs', 'Blobs that lack shards; lost: too few are left.', [
    [{ state: 'waiting' }, repairs.waiting],
    [{ state: 'lost' }, repairs.lost],
  ])
  to.gauge('holdfast_garbage_entries', 'Unreferenced data that waits for its grace to end.', [[{}, garbage]])
  to.gauge('holdfast_orphans', 'Shards in quarantine.', [[{}, orphans]])
  to.gauge('holdfast_queued_moves', 'Blobs that may lie outside their location.', [[{}, queuedMoves]])
  to.gauge(
    'holdfast_oldest_event_age_seconds',
    'How long the oldest event that waits for a webhook has waited.',
    events.map(({ webhook, oldestMs }) => [{ webhook }, oldestMs / 1000]),
  )
  to.gauge(
    'holdfast_replication_waiting_versions',
    'Versions of a bucket that wait to be copied to a destination, counted up to 1000.',
    copies.map(({ bucket, destination, count }) => [{ bucket, destination }, count]),
  )
  to.gauge(
    'holdfast_replication_oldest_age_seconds',
    'How long the oldest of them has waited.',
    copies.map(({ bucket, destination, oldestMs }) => [{ bucket, destination }, oldestMs / 1000]),
  )
  to.gauge(
    'holdfast_tasks',
    'Tasks by kind and state.',
    tasks.map(({ kind, state, count }) => [{ kind, state }, count]),
  )
  to.gauge(
    'holdfast_task_done_timestamp_seconds',
    'When a task of each kind was last done, in seconds since the epoch.',
    tasksDoneMs.map(({ kind, ms }) => [{ kind }, ms / 1000]),
  )
}
