/** `holdfast import`: copies buckets of another S3 server to this one, while both are in use. */

import { setTimeout as delay } from 'node:timers/promises'
import { ConfigurationError } from '../../config/configuration-error.ts'
import { duration } from '../../config/kinds.ts'
import { Endpoint } from '../../endpoint/endpoint.ts'
import { TransferFailed } from '../../endpoint/failures.ts'
import { type ImportCounts, type ImportOptions, importBucket } from '../../imports/import-bucket.ts'
import { importLimits } from '../../imports/import-limits.ts'
import { bucketNames } from '../../imports/listing.ts'
import type { CommandDeclaration, Invocation } from '../command.ts'
import { counted } from '../counted.ts'
import { exitCodes } from '../exit-codes.ts'
import { flagValue } from '../flag-values.ts'
import { formatBytes, openProgress } from '../tasks/progress.ts'
import { sourceOf, targetOf } from './import-endpoints.ts'

/** What all buckets of a run have in common. */
type Run = Omit<ImportOptions, 'from' | 'to'>

export const runImport: CommandDeclaration['run'] = async (invocation) => {
  const [url, ...buckets] = invocation.words
  if (url === undefined) throw new ConfigurationError('name the server to import from: holdfast import URL [BUCKET...]')
  const run = await runOf(invocation, url)
  const to = textOf(invocation, 'to')
  if (to !== undefined && buckets.length !== 1) throw new ConfigurationError('--to needs exactly one bucket to import')
  const every = textOf(invocation, 'every')
  const everyMs = every === undefined ? undefined : flagValue('--every', duration(1000), every)
  if (everyMs === undefined)
    return (await importAll(invocation, run, { buckets, to })) ? exitCodes.done : exitCodes.failed
  for (;;) {
    try {
      await importAll(invocation, run, { buckets, to })
    } catch (error) {
      if (!(error instanceof TransferFailed)) throw error
      invocation.notice(error.message)
    }
    await delay(everyMs)
  }
}

interface Wanted {
  /** Empty: all. */
  buckets: readonly string[]
  /** The name here of the only one. Absent: the same. */
  to: string | undefined
}

/** Resolves with whether everything is here. */
async function importAll(invocation: Invocation, run: Run, { buckets, to }: Wanted): Promise<boolean> {
  const names = buckets.length > 0 ? buckets : await bucketNames(run.source)
  let isWhole = true
  for (const from of names) {
    const { failed } = await importOne(invocation, { ...run, from, to: to ?? from })
    if (failed > 0) isWhole = false
  }
  if (names.length === 0) invocation.notice(`${run.source.name} has no buckets`)
  return isWhole
}

async function runOf(invocation: Invocation, url: string): Promise<Run> {
  const { extra } = invocation
  const parallel = parallelOf(textOf(invocation, 'parallel'))
  const source = sourceOf(invocation, url, parallel)
  return {
    source: new Endpoint(source),
    target: new Endpoint(await targetOf(invocation, parallel)),
    clock: source.clock,
    prefix: textOf(invocation, 'prefix') ?? '',
    versions: extra.current === true ? 'current' : 'all',
    overwrite: extra.overwrite === true,
    ignoreEtags: extra.ignoreEtags === true,
    deleteMissing: extra.delete === true,
    dryRun: extra.dryRun === true,
    parallel,
  }
}

function textOf({ extra }: Invocation, name: string): string | undefined {
  const value = extra[name]
  return typeof value === 'string' ? value : undefined
}

function parallelOf(text: string | undefined): number {
  if (text === undefined) return importLimits.parallelInitial
  const parallel = Number(text)
  if (Number.isInteger(parallel) && parallel >= 1 && parallel <= importLimits.parallelMax) return parallel
  throw new ConfigurationError(`--parallel: expects a number from 1 to ${importLimits.parallelMax}, not '${text}'`)
}

/** A bucket that fails as a whole does not stop the import of the others. */
async function importOne(invocation: Invocation, options: ImportOptions): Promise<{ failed: number }> {
  const { json, print, notice } = invocation
  const { from, to, dryRun } = options
  const progress = openProgress({ label: from, json, print })
  let reported = 0
  const report = (event: string, about: Record<string, string>, line: string): void => {
    if (json) print(JSON.stringify({ event, bucket: from, ...about }))
    else if (reported++ < importLimits.failuresListedMax) notice(line)
  }
  try {
    const counts = await importBucket(options, {
      counted: (now) => progress.show(shownProgress(now)),
      failed: (key, reason) => report('failed', { key, reason }, `${from}/${key}: ${reason}`),
      newerHere: (key) => report('newerHere', { key }, `${from}/${key}: left alone, because it is newer here`),
      settingSkipped: (setting, reason) =>
        report('settingLeft', { setting, reason }, `${from}: without its ${setting}: ${reason}`),
    })
    progress.end(shownProgress(counts))
    if (reported > importLimits.failuresListedMax)
      notice(`${from}: ${reported - importLimits.failuresListedMax} more of these`)
    if (json) print(JSON.stringify({ event: 'imported', bucket: from, to, dryRun, ...counts }))
    else if (isNews(invocation, counts)) print(summaryOf(options, counts))
    return counts
  } catch (error) {
    if (!(error instanceof TransferFailed)) throw error
    report('bucketFailed', { reason: error.message }, `${from}: ${error.message}. Repeat the command to continue`)
    return { failed: 1 }
  }
}

/** Whoever follows another server wants to read only about changes. */
const isNews = ({ extra }: Invocation, { copied, deleted, failed }: ImportCounts): boolean =>
  extra.every === undefined || copied + deleted + failed > 0

const shownProgress = ({ bytes, copied, same, failed }: ImportCounts) => ({
  done: bytes,
  unit: 'bytes' as const,
  counts: { copied, same, failed },
})

function summaryOf({ from, to, dryRun }: ImportOptions, { copied, bytes, ...keys }: ImportCounts): string {
  const where = from === to ? from : `${from} to ${to}`
  const rest: readonly (readonly [count: number, one: string, several: string])[] = [
    [keys.same, 'key was here already', 'keys were here already'],
    [keys.newerHere, 'key is newer here', 'keys are newer here'],
    dryRun ? [keys.deleted, 'key to delete', 'keys to delete'] : [keys.deleted, 'key deleted', 'keys deleted'],
    [keys.failed, 'key failed: repeat the command', 'keys failed: repeat the command'],
  ]
  const counts = rest.flatMap(([count, one, several]) => (count > 0 ? [counted(count, one, several)] : []))
  return [
    `${where}: ${counted(copied, 'version')} ${dryRun ? 'to copy' : 'copied'} (${formatBytes(bytes)})`,
    ...counts,
  ].join(', ')
}
