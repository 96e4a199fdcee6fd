/** Marks metadata that a command is filling, so that no server starts on a part of it. */
import { z } from 'zod'
import type { Key, Kv } from '../kv/kv.ts'
import { DataDirectoryRefused } from './data-directory.ts'
import { readRecord, systemRecord } from './sealed-record.ts'

const record = systemRecord('unfinished', z.object({ command: z.string() }))
export const unfinishedKey: Key = record.key

export async function markUnfinished(kv: Kv, command: string): Promise<void> {
  await kv.commit({ puts: [{ key: record.key, value: record.seal({ command }) }] })
}

/** Makes the metadata valid by removing the mark. */
export async function markFinished(kv: Kv): Promise<void> {
  await kv.commit({ deletes: [record.key] })
}

/** The command that began and did not finish. */
export async function unfinishedCommand(kv: Kv): Promise<string | undefined> {
  return (await readRecord(kv, record))?.value.command
}

/** Throws `DataDirectoryRefused` when a command that filled the metadata did not finish. */
export async function refuseUnfinished(kv: Kv, path: string): Promise<void> {
  const command = await unfinishedCommand(kv)
  if (command === undefined) return
  throw new DataDirectoryRefused(path, `holds a part of its metadata: holdfast ${command} did not finish. Run it again`)
}
