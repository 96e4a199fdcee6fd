/** `holdfast migrate`: moves the metadata of a data directory into PostgreSQL, or back. */

import { rootAccount } from '../../config/accounts.ts'
import { ConfigurationError } from '../../config/configuration-error.ts'
import { cancelMove, moveMetadata } from '../../opening/moving/move-metadata.ts'
import { audited } from '../audited-command.ts'
import type { Invocation } from '../command.ts'
import { counted } from '../counted.ts'
import { exitOnFatal, openCommandLog } from '../log.ts'
import { openProgress } from '../tasks/progress.ts'

export async function migrate(invocation: Invocation): Promise<number> {
  const { configuration, extra } = invocation
  const { to } = extra
  if (to !== 'postgres' && to !== 'lmdb') throw new ConfigurationError('expects --to postgres or --to lmdb')
  const { metadata, data: path, placement } = configuration
  if (metadata === undefined) {
    throw new ConfigurationError(
      'expects the database: set HOLDFAST_METADATA_URL, or metadata.url in the configuration file',
    )
  }
  const log = openCommandLog(configuration, { json: invocation.json })
  const sides = {
    to,
    path,
    metadata,
    onFatal: (error: Error) => exitOnFatal(log, error),
    warn: (message: string) => log.warn(message),
  } as const
  if (extra.cancel === true) {
    const entry = { operation: 'CancelMigration', target: { to } }
    return cancel(invocation, () => audited(invocation, entry, () => cancelMove(sides)))
  }
  const { report, shown } = progressOf(invocation)
  const entry = { operation: 'MigrateMetadata', target: { to } }
  const moved = await audited(invocation, entry, () =>
    moveMetadata({ ...sides, placement, keepLocal: extra.keepLocal === true, did: shown.did }),
  )
  shown.end()
  report(moved)
  if (to === 'postgres' && !moved.wasMovedBefore) advise(invocation)
  return 0
}

async function cancel({ json, print }: Invocation, give: () => Promise<boolean>): Promise<number> {
  const cancelled = await give()
  if (json) print(JSON.stringify({ event: 'cancelled', cancelled }))
  else print(cancelled ? 'cancelled: the metadata is where it was' : 'no move of the metadata was begun')
  return cancelled ? 0 : 1
}

type Moved = Awaited<ReturnType<typeof moveMetadata>>

function progressOf({ json, print }: Invocation) {
  const bars = {
    copy: openProgress({ label: 'copy', json, print }),
    compare: openProgress({ label: 'compare', json, print }),
  }
  const done = { copy: 0, compare: 0 }
  const at = (what: keyof typeof done) => ({ done: done[what], unit: 'records' as const, counts: {} })
  return {
    shown: {
      did: (what: keyof typeof done, records: number): void => {
        if (what === 'compare' && done.compare === 0) bars.copy.end(at('copy'))
        done[what] += records
        bars[what].show(at(what))
      },
      end: (): void => {
        if (done.compare > 0) bars.compare.end(at('compare'))
      },
    },
    report: (moved: Moved): void => {
      const { from, to, records, wasMovedBefore } = moved
      if (json) print(JSON.stringify({ event: 'migrated', ...moved }))
      else if (wasMovedBefore) print(`nothing to do: the metadata is in ${to}`)
      else if (records === undefined) print(`the metadata is in ${to}; the move from ${from} was ended`)
      else
        print(
          `${counted(records, 'record')} of metadata copied and compared: they are in ${to} now, no longer in ${from}`,
        )
    },
  }
}

/** Tells the operator what servers need that is not in the metadata. */
function advise({ configuration: { data, keyRing, accounts }, notice }: Invocation): void {
  if (keyRing === undefined)
    notice(`every server needs the key ring: copy ${data}/keys into the data directory of each`)
  if (!accounts.some(({ id }) => id === rootAccount.id)) {
    notice(
      `every server needs the key of the root account: set HOLDFAST_ACCESS_KEY_ID and HOLDFAST_SECRET_ACCESS_KEY, for instance to those in ${data}/credentials.json`,
    )
  }
}
