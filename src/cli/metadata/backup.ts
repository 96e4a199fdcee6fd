/** `holdfast backup`: a consistent copy of the metadata as one file, whether a server runs or not. */

import { readFile, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { ConfigurationError } from '../../config/configuration-error.ts'
import { absent } from '../../instance/atomic-file.ts'
import { snapshotTask } from '../../jobs/snapshots.ts'
import { piecesOf } from '../../records/snapshot-pieces.ts'
import { version } from '../../version.ts'
import type { Invocation } from '../command.ts'
import { counted } from '../counted.ts'
import { withMetadata } from '../stopped-data.ts'
import { formatBytes } from '../tasks/progress.ts'
import { runTask } from '../tasks/run-task.ts'
import { writeBackup } from './backup-file.ts'

/** Suffix of backups that are named by their time. */
export const backupSuffix = '.backup'

export async function backup(invocation: Invocation): Promise<number> {
  if (invocation.extra.onStores === true) return snapshotOnStores(invocation)
  const { configuration, extra, json, print, notice } = invocation
  const target = resolve(onlyPath(invocation))
  const withKeys = extra.withKeys === true
  const report = await withMetadata(invocation, async ({ kv, clock, directory }) => {
    const createdMs = clock.now()
    const path = (await isDirectory(target)) ? join(target, nameAt(createdMs)) : target
    if ((await stat(path).catch(absent)) !== undefined) throw new ConfigurationError(`${path} already exists`)
    const keys = withKeys ? (configuration.keyRing ?? (await readFile(directory.keyRing, 'utf8'))) : undefined
    const snapshot = await kv.snapshot()
    try {
      const { entries } = await writeBackup(path, { createdMs, version }, keys, piecesOf(snapshot))
      return { path, createdMs, entries, keys: withKeys }
    } finally {
      await snapshot.close()
    }
  })
  if (json) print(JSON.stringify({ event: 'backup', ...report }))
  else print(`${report.path}: ${counted(report.entries, 'record')} of metadata; objects' data stays in its stores`)
  if (!withKeys) {
    notice(
      'the key ring is not in the backup: without a copy of it, what is encrypted at rest is lost. --with-keys includes it',
    )
  }
  return 0
}

/** Makes a snapshot on the stores now, like those that the server makes regularly. */
async function snapshotOnStores(invocation: Invocation): Promise<number> {
  const { configuration, extra, words, json, print, notice } = invocation
  if (words.length > 0) throw new ConfigurationError('--on-stores needs no path')
  if (extra.withKeys === true) throw new ConfigurationError('--with-keys: keys are never put on stores')
  if (configuration.placement.locations.length === 0) {
    throw new ConfigurationError(
      '--on-stores needs a [locations] entry in the configuration: its stores take the snapshot',
    )
  }
  const task = snapshotTask({ everyMs: undefined, kept: configuration.snapshotsKept })
  const ended = await runTask(invocation, { kind: task.kind, name: 'now', arguments: {} }, task)
  if (ended.state !== 'done') {
    notice(`no snapshot was made: ${ended.reason ?? ended.state}`)
    return 1
  }
  if (json) print(JSON.stringify({ event: 'snapshot', bytes: ended.progress.done }))
  else print(`a snapshot of the metadata lies on the stores of each location: ${formatBytes(ended.progress.done)}`)
  return 0
}

/** The path, which is the only word that the command takes. */
export function onlyPath({ words }: Invocation): string {
  const [path, ...more] = words
  if (path === undefined || more.length > 0) throw new ConfigurationError('expects the path of one file or directory')
  return path
}

export async function isDirectory(path: string): Promise<boolean> {
  return (await stat(path).catch(absent))?.isDirectory() ?? false
}

/** A file name that sorts by time and that every file system accepts. */
function nameAt(ms: number): string {
  return `holdfast-${new Date(ms).toISOString().replaceAll(':', '-')}${backupSuffix}`
}
