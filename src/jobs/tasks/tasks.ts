/** Requests for long work. Any process may write them as records; the owner's `task-runner` takes them up. */
import { type Clock, randomId } from '../../clock.ts'
import type { Entry, Kv, Version } from '../../kv/kv.ts'
import { taskKey, taskOf, tasks } from '../../records/keyspace.ts'
import { taskCodec } from '../../records/record-codecs.ts'
import type { TaskArguments, TaskProgress, TaskRecord, TaskState } from '../../records/records.ts'
import { everyEntry } from '../every-entry.ts'

export type { TaskArguments, TaskProgress, TaskRecord }

/** Tasks of one kind run one at a time. Each name has one record, of the last request. */
export interface TaskName {
  kind: string
  /** What the task is about, such as a bucket; empty where a kind has only one. */
  name: string
}

export interface TaskRequest extends TaskName {
  arguments: TaskArguments
  /** Forgets the progress of an earlier request. */
  restart?: boolean
  /** The task starts no earlier than after this time. */
  afterMs?: number
}

export interface FoundTask extends TaskName {
  record: TaskRecord
  /** The record's version, for the checks of a commit. */
  version: Version
}

type Writing = { kv: Kv; clock: Clock }

export function isEnded({ state }: { state: TaskState }): boolean {
  return state === 'done' || state === 'failed' || state === 'cancelled'
}

export async function readTask(kv: Kv, { kind, name }: TaskName): Promise<FoundTask | undefined> {
  const [entry] = await kv.get([taskKey(kind, name)])
  return entry && foundTask(entry)
}

export async function allTasks(kv: Kv): Promise<FoundTask[]> {
  const found: FoundTask[] = []
  for await (const entry of everyEntry(kv, tasks)) found.push(foundTask(entry))
  return found
}

function foundTask({ key, value, version }: Entry): FoundTask {
  return { ...taskOf(key), record: taskCodec.decode(key, value), version }
}

/**
 * Asks for a task, or joins one that has not ended, which then gets the new arguments. A task that failed or was cancelled continues from where it stopped. Resolves
 * with the new record.
 */
export async function requestTask({ kv, clock }: Writing, request: TaskRequest): Promise<TaskRecord> {
  for (;;) {
    const found = await readTask(kv, request)
    const record = requested(found?.record, request, clock)
    if (await writeTask(kv, { ...request, record, version: found?.version })) return record
  }
}

function requested(found: TaskRecord | undefined, request: TaskRequest, clock: Clock): TaskRecord {
  const isNew = found === undefined || found.state === 'done' || request.restart === true
  const requestedMs = clock.now() + (request.afterMs ?? 0)
  if (!isNew && !isEnded(found)) {
    return { ...found, arguments: request.arguments, requestedMs: Math.min(found.requestedMs, requestedMs) }
  }
  return {
    id: randomId(clock),
    state: 'waiting',
    arguments: request.arguments,
    cursor: isNew ? undefined : found.cursor,
    progress: isNew ? { done: 0, unit: 'bytes', counts: {} } : found.progress,
    requestedMs,
  }
}

/** The task stops at its next step. False: there was nothing to cancel. */
export async function cancelTask({ kv, clock }: Writing, name: TaskName): Promise<boolean> {
  for (;;) {
    const found = await readTask(kv, name)
    if (found === undefined || isEnded(found.record)) return false
    const record: TaskRecord = { ...found.record, state: 'cancelled', endedMs: clock.now() }
    if (await writeTask(kv, { ...found, record })) return true
  }
}

/** False when the record has changed since it was read. `version`: absent when there was no record. */
export function writeTask(
  kv: Kv,
  { kind, name, record, version }: TaskName & { record: TaskRecord; version: Version | undefined },
): Promise<boolean> {
  const key = taskKey(kind, name)
  const check = version === undefined ? ({ key, absent: true } as const) : { key, version }
  return kv.commit({ checks: [check], puts: [{ key, value: taskCodec.encode(key, record) }] })
}

/** Deletes the record only if it is unchanged. */
export async function forgetTask(kv: Kv, { kind, name, version }: TaskName & { version: Version }): Promise<void> {
  const key = taskKey(kind, name)
  await kv.commit({ checks: [{ key, version }], deletes: [key] })
}
