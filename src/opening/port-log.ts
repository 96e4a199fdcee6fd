/** The interface that a port needs of a log, what it logs of its requests, and a log that discards everything. */
import type { RequestLog } from '../http/telemetry/request-log.ts'

interface LogLine {
  (message: string): void
  (fields: object, message?: string): void
}

/** What a logger of pino has. Its own type is not used, because the types of the package need no other package. */
export interface PortLog {
  readonly level: string
  isLevelEnabled(level: string): boolean
  debug: LogLine
  info: LogLine
  warn: LogLine
  error: LogLine
}

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

/**
 * Decides which requests are logged, and at what level: the server's failures always, the rest (refusals under overload too) only when the log level
 * includes info. A vendor header without effect makes a line at debug level, to explain why a client's header did nothing.
 */
export function logRequests(log: PortLog, slowMs = Number.POSITIVE_INFINITY): (line: RequestLog) => void {
  // The level can change at any time. Comparing two strings is cheaper than asking pino twice.
  let [level, logsAll, logsIgnored] = ['', false, false]
  return (request) => {
    if (log.level !== level) {
      level = log.level
      logsAll = log.isLevelEnabled('info')
      logsIgnored = log.isLevelEnabled('debug')
    }
    const isSlow = request.firstByteMs >= slowMs
    if (!logsAll && !logsIgnored && !isSlow && request.status !== 500 && request.error === undefined) return
    const { ignoredHeaders, ...line } = request
    if (ignoredHeaders !== undefined && logsIgnored) {
      const { requestId, operation } = line
      log.debug({ requestId, operation, ignoredHeaders }, 'vendor headers without a meaning here were ignored')
    }
    if (line.error !== undefined) {
      const { error, ...rest } = line
      log.error({ ...rest, err: error }, 'a request failed unexpectedly')
    } else if (line.status === 500) log.warn(line, 'a request failed')
    else if (isSlow) log.warn(line, 'a slow request')
    else if (logsAll) log.info(line, 'request')
  }
}
