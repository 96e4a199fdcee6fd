/** Which requests make a log line, and of what severity: failures of ours always, the rest (refusals under overload too) only when asked for. */
import type { Logger } from 'pino'
import type { RequestLog } from '../http/request-log.ts'

export function logRequests(log: Logger): (line: RequestLog) => void {
  const logsAll = log.isLevelEnabled('info')
  return (line) => {
    if (line.error !== undefined) {
      const { error, ...rest } = line
      log.error({ ...rest, err: error }, 'a request failed unexpectedly')
    } else if (line.status === 500) log.warn(line, 'a request failed')
    else if (logsAll) log.info(line, 'request')
  }
}
