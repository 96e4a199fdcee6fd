/** The process's log: JSON lines on stderr. Never given a secret. */
import { type Logger, pino } from 'pino'
import type { Settings } from '../config/options.ts'

export type Log = Logger

/** Written synchronously: the last line before an exit is the one that matters. */
export function openLog(level: Settings['logLevel']): Log {
  return pino({ level, base: { pid: process.pid } }, pino.destination({ fd: 2, sync: true }))
}
