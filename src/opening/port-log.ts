/** What a port needs of a log, and the log that keeps nothing. */
import type { Logger } from 'pino'

export type PortLog = Pick<Logger, 'level' | 'isLevelEnabled' | 'debug' | 'info' | 'warn' | 'error'>

const ignore = (): void => {}

/** For servers in other processes, which may have no log: `pino` takes longer to load than such a server takes to start. */
export const silentLog = (): PortLog => ({
  level: 'silent',
  isLevelEnabled: () => false,
  debug: ignore,
  info: ignore,
  warn: ignore,
  error: ignore,
})
