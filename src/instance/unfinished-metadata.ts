/** Marks metadata on which no server may start: a command is filling it, or it is being moved to another engine, or was moved there (ADR 0045). */
import { z } from 'zod'
import type { Key, Kv, Version } from '../kv/kv.ts'
import { DataDirectoryRefused } from './data-directory.ts'
import { readRecord, systemRecord } from './sealed-record.ts'

const moveSchema = z.object({
  /** Identifies the move. Both sides have the same. */
  id: z.string(),
  side: z.enum(['source', 'target']),
  /** On the source: the target has everything, and the source is never served again. */
  isOver: z.boolean().optional(),
  /** The id of the metadata that moves. */
  metadataId: z.string(),
  /** Where the other side is, for people. */
  other: z.string(),
  /** The process that moves it, among the members of the database. */
  member: z.string().optional(),
  /** The store of the data directory, under this name, keeps objects. */
  local: z.string().optional(),
})
export type MoveMark = z.infer<typeof moveSchema>

const markSchema = z.object({
  command: z.string(),
  /** The member that fills shared metadata. */
  member: z.string().optional(),
  /** For shared metadata: it was empty and nobody else used it. So what it holds now was written by the command, and may be removed. */
  begun: z.boolean().optional(),
  /** Absent: a command fills it. */
  move: moveSchema.optional(),
})
export type Mark = z.infer<typeof markSchema>

const record = systemRecord('unfinished', markSchema)
export const unfinishedKey: Key = record.key

/** `undefined`: the metadata is complete, or empty. */
export function readMark(kv: Kv): Promise<{ value: Mark; version: Version } | undefined> {
  return readRecord(kv, record)
}

export async function markUnfinished(kv: Kv, command: string): Promise<void> {
  await kv.commit({ puts: [{ key: record.key, value: record.seal({ command }) }] })
}

/** Makes the metadata valid by removing the mark. */
export async function markFinished(kv: Kv): Promise<void> {
  await kv.commit({ deletes: [record.key] })
}

/** Replaces the mark that was read, or its absence. Resolves with false when the mark has changed since. */
export function replaceMark(kv: Kv, version: Version | undefined, next: Mark | undefined): Promise<boolean> {
  const { key } = record
  return kv.commit({
    checks: [version === undefined ? { key, absent: true } : { key, version }],
    ...(next === undefined ? { deletes: [key] } : { puts: [{ key, value: record.seal(next) }] }),
  })
}

/** Why no server may start on metadata with this mark, to follow its name. Pure. */
export function whyUnusable({ command, move }: Mark): string {
  if (move === undefined || move.side === 'target') {
    return `is incomplete: holdfast ${command} did not finish. Run it again`
  }
  if (move.isOver === true) return `was moved to ${move.other}, and is out of date here`
  return `is being moved to ${move.other}: holdfast migrate did not finish. Run it again, or with --cancel to go on here`
}

/** Throws `DataDirectoryRefused` when the metadata in a data directory is marked. */
export async function refuseUnfinished(kv: Kv, path: string): Promise<void> {
  const found = await readMark(kv)
  if (found !== undefined) throw new DataDirectoryRefused(path, `has metadata that ${whyUnusable(found.value)}`)
}
