/** The admin port of a server: a listener of its own, in the process that owns the data. */
import { failInJson, faultsInJson } from '../admin/requests/answer.ts'
import type { AdminPipeline } from '../admin/requests/pipeline.ts'
import { systemClock } from '../clock.ts'
import { createPort } from '../http/connections/server.ts'
import type { KeyPair } from '../http/connections/tls-front.ts'
import type { Exchange } from '../http/exchange.ts'
import { BucketQuotas } from '../jobs/bucket-quotas.ts'
import { BucketUsages } from '../jobs/bucket-usage.ts'
import { ShardCounts } from '../jobs/locations/shard-counts.ts'
import { limits } from '../limits.ts'
import { openProcessLoad } from '../metrics/process-load.ts'
import type { AdminEndpointOptions, openPipeline } from './admin/pipeline.ts'
import { ListenFailed, urlOf } from './listen-address.ts'
import { logRequests } from './port-log.ts'

export interface AdminEndpoint {
  /** The URL for clients on this machine. */
  url: string
  /** Uses this certificate for new connections. */
  renewTls(pair: KeyPair): void
  /** Stops listening, and resolves when the requests under way are answered. */
  close(): Promise<void>
}

/** Small limits, because only a few people and scripts use this port at a time. */
const bounds = {
  connectionsMax: limits.adminConnectionsMax,
  requestsInFlightMax: limits.adminConnectionsMax,
  clientBytesMax: limits.adminConnectionsMax * limits.adminBodyBytesMax,
}

/** Throws `ListenFailed`. */
export async function openAdminEndpoint(options: AdminEndpointOptions): Promise<AdminEndpoint> {
  const { listen, keyPair, log, backend } = options
  const usages = new BucketUsages(backend)
  const quotas = new BucketQuotas(backend)
  const shardCounts = new ShardCounts(backend)
  const load = openProcessLoad()
  let pipeline: Promise<AdminPipeline> | undefined
  let isClosing = false
  const answer = async (exchange: Exchange): Promise<void> => {
    try {
      pipeline ??= open(options, { usages, quotas, shardCounts, load })
      const opened = await pipeline
      // Opening may have ended after the port began to close.
      if (isClosing) opened.close()
      await opened.answer(exchange)
    } catch (error) {
      failInJson(exchange, undefined, error)
    }
  }
  const { requestClock: clock = systemClock } = backend
  const logged = { clock, log: logRequests(log), tls: keyPair, bounds, faults: faultsInJson }
  const port = createPort(logged, answer)
  const close = async (): Promise<void> => {
    isClosing = true
    // If it could not be opened, the request that opened it has reported why.
    const opened = await pipeline?.catch(() => undefined)
    opened?.close()
    await port.close()
    await Promise.all([usages.stop(), quotas.stop(), shardCounts.stop()])
    load.stop()
  }
  try {
    const bound = await port.listen(listen.host, listen.port)
    return { url: urlOf(listen.host, bound.port, { secure: keyPair !== undefined }), renewTls: port.renewTls, close }
  } catch (error) {
    throw error instanceof Error ? new ListenFailed(listen, error) : error
  }
}

async function open(...parts: Parameters<typeof openPipeline>): Promise<AdminPipeline> {
  const { openPipeline } = await import('./admin/pipeline.ts')
  return openPipeline(...parts)
}
