/** The S3 port: a port in front of the pipeline. */
import { createPort, type HttpServer, type PortOptions } from './connections/server.ts'
import { openPipeline } from './pipeline.ts'
import type { PipelineOptions } from './pipeline-options.ts'
import { logAccess } from './telemetry/access-log.ts'

export interface HttpServerOptions extends PipelineOptions, Omit<PortOptions, 'clock'> {}

/** Throws when the operations contradict each other. */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const log = withAccessLogs(options)
  return createPort({ ...options, log }, openPipeline(options, options.tls === undefined ? 'http' : 'https'))
}

function withAccessLogs({ accessLogs, clock, log }: HttpServerOptions): PortOptions['log'] {
  if (accessLogs === undefined) return log
  return (line, exchange) => {
    log(line, exchange)
    const { durationMs, firstByteMs } = line
    logAccess(accessLogs, exchange, () => ({ receivedMs: clock.now() - durationMs, durationMs, firstByteMs }))
  }
}
