/** `npm run bench`: measures, shows what it measured, and keeps it where it is told to. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { measureConsole } from './console.ts'
import { scaleGoalResults, workGoalResults } from './goals.ts'
import { measureWork } from './measure.ts'
import { type BenchOptions, parseOptions, UsageError, usage } from './options.ts'
import { measureOverPostgres } from './over-postgres.ts'
import { measurePeers } from './peers.ts'
import { consoleGoalResults, consoleTables } from './report/console-page.ts'
import { keepResults, type ResultKind, writePage } from './report/page.ts'
import { peersTables } from './report/peers-page.ts'
import { postgresGoalResults, postgresTables } from './report/postgres-page.ts'
import {
  decisionTable,
  farTable,
  generatorBoundNote,
  goalTable,
  machineLine,
  pairTable,
  scaleTables,
  startTable,
  type Table,
  terminalText,
  workTable,
} from './report/table.ts'
import type { BenchResults, ConsoleResults, PeersResults, PostgresResults, ScaleResults } from './results.ts'
import { measureScale } from './scale.ts'
import { PeerError } from './servers/peers.ts'

/** Progress, apart from results. */
function say(line: string): void {
  process.stderr.write(`${line}\n`)
}

async function main(words: readonly string[]): Promise<void> {
  const options = parseOptions(words)
  switch (options.command) {
    case 'help':
      process.stdout.write(usage)
      return
    case 'page':
      writePage(options.docs ?? 'docs')
      return
    case 'scale': {
      const results = await measureScale(options, say)
      show(results, [...scaleTables(results), goalTable(scaleGoalResults(results))])
      keep(options, 'scale', results)
      return
    }
    case 'console': {
      const results = await measureConsole(options, say)
      show(results, [...consoleTables(results), goalTable(consoleGoalResults(results))])
      keep(options, 'console', results)
      return
    }
    case 'postgres': {
      const results = await measureOverPostgres(options, say)
      show(results, [...postgresTables(results), goalTable(postgresGoalResults(results))])
      keep(options, 'postgres', results)
      return
    }
    case 'peers': {
      const results = await measurePeers(options, say)
      show(results, peersTables(results))
      keep(options, 'peers', results)
      return
    }
    case 'work': {
      const results = await measureWork(options, say)
      const { work } = results
      show(results, [
        ...work.map(workTable),
        decisionTable(results),
        startTable(results),
        farTable(work),
        pairTable(work),
        // These goals are for a usual run.
        goalTable(options.far ? [] : workGoalResults(results)),
      ])
      keep(options, 'work', results)
      return
    }
  }
}

type Results = BenchResults | ScaleResults | PostgresResults | PeersResults | ConsoleResults

function show({ machine }: Results, tables: readonly Table[]): void {
  const shown = tables.filter(({ rows }) => rows.length > 0)
  process.stdout.write(`${[machineLine(machine), '', ...shown.map(terminalText), generatorBoundNote].join('\n')}\n`)
}

function keep({ json, docs }: BenchOptions, kind: ResultKind, results: Results): void {
  if (json !== undefined) {
    mkdirSync(dirname(json), { recursive: true })
    writeFileSync(json, `${JSON.stringify(results, null, 2)}\n`)
  }
  if (docs === undefined) return
  keepResults(docs, kind, results)
  writePage(docs)
}

// Ends by way of `exit`, which ends servers and removes their directories.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

try {
  await main(process.argv.slice(2))
} catch (error) {
  const isUsage = error instanceof UsageError || error instanceof PeerError
  say(isUsage ? `${error.message}\n\n${usage}` : String(error instanceof Error ? error.message : error))
  process.exitCode = isUsage ? 2 : 1
}
