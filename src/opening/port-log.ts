/** The interface that a port needs of a log, and a log that discards everything. */
import type { Logger } from 'pino'

export type PortLog = Pick<Logger, 'level' | 'isLevelEnabled' | 'debug' | 'info' | 'warn' | 'error'>

const ignore = (): void => {}

/** For servers inside other processes, which may have no log. Loading `pino` takes longer than starting such a server. */
export const silentLog = (): PortLog => ({
  level: 'silent',
  isLevelEnabled: () => false,
  debug: ignore,
  info: ignore,
  warn: ignore,
  error: ignore,
})
