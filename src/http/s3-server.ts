/** The S3 port: a port in front of the pipeline. */
import { createPort, type HttpServer, type PortOptions } from './connections/server.ts'
import { openPipeline } from './pipeline.ts'
import type { PipelineOptions } from './pipeline-options.ts'

export interface HttpServerOptions extends PipelineOptions, Omit<PortOptions, 'clock'> {}

/** Throws when the operations contradict each other. */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  return createPort(options, openPipeline(options, options.tls === undefined ? 'http' : 'https'))
}
