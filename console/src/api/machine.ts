/** Stores, locations, tasks, members, settings and requests, as the admin API shows them. */
import { adminPath, askAdmin } from './admin.ts'

export interface StoreState {
  name: string
  domain: string
  state: 'up' | 'full' | 'read-only' | 'out'
  reason?: string
  usedBytes?: number
  freeBytes?: number
  /** Of this location. Absent: not counted yet. */
  shards?: { count: number; bytes: number; measured: string }
}

export interface Progress {
  done: number
  total?: number
  unit: 'bytes' | 'blobs' | 'records'
  counts: Record<string, number>
}

export interface LocationState {
  name: string
  isDefault: boolean
  scheme: 'replica' | 'erasure'
  copies: number
  striping?: { data: number; parity: number; replicateBelow: number }
  writeAck: number
  health: 'OK' | 'DEGRADED' | 'AT RISK'
  stores: StoreState[]
  degradedBlobs: number
  lostBlobs: number
  storageClasses: readonly string[]
  failuresSurvived: { now: number; whole: number }
}

export interface Task {
  id: string
  kind: string
  name: string
  state: 'waiting' | 'running' | 'done' | 'failed' | 'cancelled'
  progress: Progress
  reason?: string
  requested: string
  started?: string
  ended?: string
}

export interface Member {
  id: string
  kind: string
  host: string
  pid: number
  since: string
  leaseLeftMs: number
  clockAheadMs: number
  isMaintainer: boolean
}

export interface SettingState {
  name: string
  value?: unknown
  summary: string
}

export interface SeenRequest {
  requestId: string
  time: string
  operation: string
  method: string
  path: string
  status: number
  code: string
  bytesIn: number
  bytesOut: number
  durationMs: number
  accessKeyId: string
}

export interface ServerState {
  version: string
  region: string
  workers: number
  started: string
  endpoint: string
}

export const serverState = (): Promise<ServerState> => askAdmin('GET', '/v1/server')

export const locationStates = (): Promise<{ health: string; locations: LocationState[] }> =>
  askAdmin('GET', '/v1/locations')

export const memberStates = async (): Promise<Member[]> =>
  (await askAdmin<{ members: Member[] }>('GET', '/v1/members')).members

export const settingStates = async (): Promise<SettingState[]> =>
  (await askAdmin<{ settings: SettingState[] }>('GET', '/v1/configuration')).settings

export interface MetricFamily {
  name: string
  values: { labels: Record<string, string | number>; value: number }[]
}

export const metricFamilies = async (): Promise<MetricFamily[]> =>
  (await askAdmin<{ families: MetricFamily[] }>('GET', '/v1/metrics')).families

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

export const logLevel = async (): Promise<LogLevel> =>
  (await askAdmin<{ level: LogLevel }>('GET', '/v1/log/level')).level
export const setLogLevel = (level: LogLevel): Promise<unknown> => askAdmin('PUT', '/v1/log/level', { level })

export interface TaskOrder {
  kind: 'scrub' | 'repair' | 'move' | 'snapshot' | 'reclaim'
  /** For a move. */
  bucket?: string
  to?: string
}

export const startTask = (order: TaskOrder): Promise<unknown> => askAdmin('POST', '/v1/tasks', order)
export const cancelTask = ({ kind, name }: Pick<Task, 'kind' | 'name'>): Promise<unknown> =>
  askAdmin('POST', '/v1/tasks/cancel', { kind, ...(name === '' ? {} : { name }) })

/** Resolves with the number of blobs that will be repaired. */
export const replaceStore = async (store: string, force: boolean): Promise<number> =>
  (await askAdmin<{ queuedBlobs: number }>('POST', adminPath('stores', store, 'replace'), { force })).queuedBlobs
