/** `holdfast restore`: puts the metadata of a backup into a data directory that has none, or into an empty database. */

import { readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { ownLocation } from '../../blobs/location-policy.ts'
import { ConfigurationError } from '../../config/configuration-error.ts'
import { failureText } from '../../file-failure.ts'
import { DataDirectoryRefused } from '../../instance/data-directory.ts'
import { knownDefaultStore, replaceDefaultStore } from '../../instance/default-store.ts'
import { mergeKeyRing } from '../../instance/key-ring-file.ts'
import { PlacementRefused, readKnownPlacement } from '../../instance/known-placement.ts'
import { fillMetadata } from '../../opening/filling/fill-metadata.ts'
import type { FilledMetadata } from '../../opening/filling/filling.ts'
import { storeOpener } from '../../opening/placement/open-stores.ts'
import { dataInDirectory } from '../../opening/placement/placement-refusals.ts'
import { bucketsIn } from '../../opening/placement/placement-users.ts'
import { loadPieces } from '../../records/snapshot-pieces.ts'
import { audited } from '../audited-command.ts'
import type { Invocation } from '../command.ts'
import { counted } from '../counted.ts'
import { exitOnFatal, openCommandLog } from '../log.ts'
import { openProgress } from '../tasks/progress.ts'
import { backupSuffix, isDirectory, onlyPath } from './backup.ts'
import { type Backup, openBackup } from './backup-file.ts'

export async function restore(invocation: Invocation): Promise<number> {
  const { configuration, json, print, notice } = invocation
  const given = resolve(onlyPath(invocation))
  const path = (await isDirectory(given)) ? await newestIn(given) : given
  // Verifies the whole backup before it writes anything.
  const backup = await openBackup(path)
  const log = openCommandLog(configuration, { json })
  const progress = openProgress({ label: 'restore', json, print })
  const total = backup.end.entries
  let done = 0
  const entry = { operation: 'RestoreMetadata', target: { backup: path } }
  const storeIsNew = await audited(invocation, entry, () =>
    fillMetadata(
      {
        path: configuration.data,
        metadata: configuration.metadata,
        command: 'restore',
        onFatal: (error) => exitOnFatal(log, error),
        warn: (message) => log.warn(message),
      },
      async (metadata) => {
        await loadPieces(metadata.kv, backup.pieces(), backup.end, {
          isWanted: metadata.isWanted,
          loaded: (entries) => {
            done += entries
            progress.show({ done, total, unit: 'records', counts: {} })
          },
        })
        if (backup.keys !== undefined && configuration.keyRing === undefined) {
          await mergeKeyRing(metadata.directory.keyRing, backup.keys)
        }
        await learnOwners(metadata, invocation)
        return settleDefaultStore(metadata, notice)
      },
    ),
  )
  progress.end({ done, total, unit: 'records', counts: {} })
  report(invocation, path, backup, storeIsNew)
  return 0
}

function report({ json, print, notice }: Invocation, path: string, backup: Backup, storeIsNew: boolean): void {
  const { createdMs, end, keys } = backup
  if (json)
    print(JSON.stringify({ event: 'restored', path, createdMs, entries: end.entries, keys: keys !== undefined }))
  else print(`${path} of ${new Date(createdMs).toISOString()}: ${counted(end.entries, 'record')} of metadata restored`)
  if (storeIsNew)
    notice(
      'the store of the location default was not there: a new one was made, and what the old one kept cannot be read',
    )
}

async function newestIn(directory: string): Promise<string> {
  const names = (await readdir(directory)).filter((name) => name.endsWith(backupSuffix)).sort()
  const newest = names.at(-1)
  if (newest === undefined) throw new ConfigurationError(`${directory} holds no *${backupSuffix}`)
  return join(directory, newest)
}

/**
 * Records the stores' last owners, because they may be newer than the backup. For a store that is unreachable now, `holdfast locations claim` does the
 * same later.
 */
async function learnOwners(
  { kv, clock, member, ownership }: FilledMetadata,
  { configuration, notice }: Invocation,
): Promise<void> {
  const { known } = await readKnownPlacement(kv)
  for (const settings of configuration.placement.stores) {
    const knows = known.stores[settings.name]?.storeId
    if (knows === undefined) continue
    try {
      const open = storeOpener(settings, { clock, member, warn: notice, ownership })
      const store = await open({ first: false, knows, onFatal: () => {} })
      await store.close()
    } catch (error) {
      notice(`stores.${settings.name} could not be opened: ${failureText(error)}`)
    }
  }
}

/** Checks that the metadata belongs to the store in the data directory, or needs no such store. True: the store is lost, and a new one was made. */
async function settleDefaultStore(
  { kv, directory, openDefaultStore }: FilledMetadata,
  warn: (message: string) => void,
): Promise<boolean> {
  if (openDefaultStore === undefined) {
    for (const [bucket] of (await bucketsIn(kv, [ownLocation])).values()) {
      if (bucket !== undefined) throw new PlacementRefused(dataInDirectory(bucket))
    }
    return false
  }
  const known = await knownDefaultStore(kv)
  const store = await openDefaultStore({ onFatal: () => {}, warn })
  try {
    if (store.storeId === known) return false
    for await (const _ of store.list()) {
      throw new DataDirectoryRefused(
        directory.path,
        "holds the data of other metadata than the backup's. Name another data directory",
      )
    }
    await replaceDefaultStore(kv, store.storeId)
    return known !== undefined
  } finally {
    await store.close()
  }
}
