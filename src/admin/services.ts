/** What the handlers of the admin port work with. `opening/` provides it. */
import type { z } from 'zod'
import type { SeenRequest } from '../http/telemetry/request-feed.ts'
import type { Identities } from '../identities/identities.ts'
import type { AccessQuestion, ExplainedDecision, Subject } from './explanation.ts'
import type {
  bucketView,
  destinationView,
  locationView,
  logLevel,
  memberView,
  metricFamily,
  quotaView,
  settingView,
  taskView,
} from './state-views.ts'

export interface AdminServices {
  identities: Identities
  /** The server's state, for `GetServerInfo`. */
  info(): ServerInfo
  /** Throws InvalidAccessKeyId, NoSuchBucket. */
  explain(subject: Subject, question: AccessQuestion): Promise<ExplainedDecision>
  /** The buckets of one account, or of all accounts. */
  buckets(owner: string | undefined): Promise<z.input<typeof bucketView>[]>
  quotas: Quotas
  /** The destinations of one bucket, or of all. Asks the sites. */
  replication(bucket: string | undefined): Promise<z.input<typeof destinationView>[]>
  storage: Storage
  tasks: Tasks
  /** Empty: no other process shares the metadata. */
  members(): Promise<z.input<typeof memberView>[]>
  /** The effective configuration, without secrets. */
  settings(): z.input<typeof settingView>[]
  logLevel: { get(): LogLevel; set(level: LogLevel): void }
  requests: RequestFeed
  metrics: MetricsSource
  /** How this version treats each S3 operation. */
  support(): readonly { name: string }[]
  /** The URL of the S3 port for a client that reaches the admin port under this origin. */
  s3Endpoint(adminOrigin: string): string
}

export interface MetricsSource {
  /** The metrics as text, in a format that the scrape accepts. */
  expose(accept: string | undefined): Promise<{ contentType: string; text: string }>
  families(): Promise<z.input<typeof metricFamily>[]>
}

export type LogLevel = z.infer<typeof logLevel>

export interface ServerInfo {
  version: string
  region: string
  workers: number
  /** When this process started, in milliseconds since the epoch. */
  startedMs: number
  endpoint: string
}

export interface Quotas {
  list(): Promise<z.input<typeof quotaView>[]>
  /** `undefined`: the bucket has none. Throws NoSuchBucket. */
  find(bucket: string): Promise<z.input<typeof quotaView> | undefined>
  /** Throws NoSuchBucket. */
  set(bucket: string, most: Pick<z.input<typeof quotaView>, 'bytes' | 'objects'>): Promise<z.input<typeof quotaView>>
  /** Throws NoSuchBucket. */
  remove(bucket: string): Promise<void>
}

export interface Storage {
  locations(): Promise<z.input<typeof locationView>[]>
  /** Resolves with the number of blobs that will be repaired. Throws `AdminRefused`. */
  replace(store: string, how: { force: boolean }): Promise<number>
}

export interface TaskOrder {
  kind: string
  /** What the task is about. Empty if its kind is about everything. */
  name: string
  arguments: Readonly<Record<string, string | number | boolean>>
  restart?: boolean | undefined
}

export interface Tasks {
  list(): Promise<z.input<typeof taskView>[]>
  /** Throws `AdminRefused`. */
  start(order: TaskOrder): Promise<z.input<typeof taskView>>
  /** False: there was nothing to cancel. */
  cancel(task: Pick<TaskOrder, 'kind' | 'name'>): Promise<boolean>
}

/** The requests that the S3 port has served, over all processes. */
export interface RequestFeed {
  /** The latest requests, newest first. */
  recent(): Promise<SeenRequest[]>
  /** Calls `see` with each request from now on. The returned function ends this. */
  watch(see: (line: SeenRequest) => void): () => void
}
