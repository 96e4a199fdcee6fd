/** The process's log: JSON lines on stderr or in a file. Nothing waits for its writes, and no secret goes into it. */
import { type Logger, pino } from 'pino'
import { systemClock } from '../clock.ts'
import { ConfigurationError } from '../config/configuration-error.ts'
import type { Settings } from '../config/options.ts'
import { failureText } from '../file-failure.ts'
import { limits } from '../limits.ts'
import { endProcess } from '../process-end.ts'
import { type LogSink, type LogTarget, logFile, openLogSink, standardError } from './log-sink.ts'
import { printable } from './printable.ts'

export type Log = Logger

/** One sink for the process, because there is only one stderr. */
let sink: LogSink | undefined
/** The file that lines go to. `undefined`: stderr. */
let openFile: string | undefined

/** Opens a server's log, in the configured file or on stderr. Throws `ConfigurationError` when the file can't be opened. */
export function openLog({ logLevel, logFile: file }: Pick<Settings, 'logLevel' | 'logFile'>): Log {
  const target = targetOf(file)
  if (sink === undefined) sink = openLogSink(target, droppedLine)
  else sink.redirect(target)
  openFile = file
  return pino({ level: logLevel, base: { pid: process.pid } }, sink)
}

/** Opens a command's log, always on stderr, where its user looks. The file belongs to the server. `json`: the output is for programs. */
export function openCommandLog({ logLevel }: Pick<Settings, 'logLevel'>, { json }: { json: boolean }): Log {
  const log = openLog({ logLevel, logFile: undefined })
  return json ? log : pino({ level: logLevel }, { write: (line) => sink?.write(lineForPeople(line)) })
}

/** As all that a command says on stderr. `line`: in pino's form. */
function lineForPeople(line: string): string {
  const { msg, err }: { msg: string; err?: { message: string } } = JSON.parse(line)
  return `holdfast: ${printable(err === undefined ? msg : `${msg}: ${err.message}`)}\n`
}

/** Opens the file again after log rotation renamed it. Throws `ConfigurationError`; lines then go to the same file as before. */
export function reopenLog({ logFile: file }: Pick<Settings, 'logFile'>): void {
  if (file === undefined && openFile === undefined) return
  sink?.redirect(targetOf(file))
  openFile = file
}

/** Call before the process exits. Resolves when all lines are written, or after `logFlushMs`. */
export async function flushLog(): Promise<void> {
  await sink?.flush(limits.logFlushMs)
}

/** Ends the process. After a failed fsync, its view of what is stored can't be trusted. The next start recovers. */
export function exitOnFatal(log: Log, error: Error): void {
  log.fatal({ err: error }, 'the server cannot continue')
  void flushLog().then(() => endProcess(1))
}

function targetOf(file: string | undefined): LogTarget {
  if (file === undefined) return standardError()
  try {
    return logFile(file)
  } catch (error) {
    throw new ConfigurationError(`--log-file: ${failureText(error)}`)
  }
}

/** A line in pino's form. It ignores the log level, because it reports missing lines. */
function droppedLine(dropped: number): string {
  const msg = 'log lines were dropped: they could not be written'
  return `${JSON.stringify({ level: pino.levels.values.warn, time: systemClock.now(), pid: process.pid, dropped, msg })}\n`
}
