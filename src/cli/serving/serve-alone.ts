/** Serves the S3 port from the process that owns the data. */
import { setDefaultHighWaterMark } from 'node:stream'
import { systemClock } from '../../clock.ts'
import { socketBufferBytes } from '../../http/connections/server.ts'
import { LocalRequests } from '../../http/telemetry/request-feed.ts'
import { Traffic } from '../../http/telemetry/traffic.ts'
import { openAccountBlocks } from '../../opening/account-blocks.ts'
import { onlyThisProcess } from '../../opening/admin/s3-processes.ts'
import { openEndpoint } from '../../opening/endpoint.ts'
import type { Serving, ServingParts } from './serving.ts'
import type { ServedConfiguration } from './worker-count.ts'
import type { Renewal } from './worker-messages.ts'

export async function serveAlone(
  configuration: ServedConfiguration,
  { instance, keyPairFiles, log, audit, traces, consoleOrigins }: Omit<ServingParts, 'ahead'>,
): Promise<Serving> {
  const { backend, identities, metadataAnswers } = instance
  // TLS connections take their buffer sizes from here, not from the server.
  if (keyPairFiles !== undefined) setDefaultHighWaterMark(false, socketBufferBytes)
  const requests = new LocalRequests(() => systemClock.now())
  const traffic = new Traffic()
  const endpoint = await openEndpoint({
    ...configuration,
    keyPair: keyPairFiles?.current,
    backend,
    credentials: identities.credentials,
    accountBlocks: openAccountBlocks(identities, configuration),
    metadataAnswers,
    requests,
    traffic,
    audit,
    traces,
    consoleOrigins,
    log,
  })
  keyPairFiles?.watch(endpoint.renewTls)
  return {
    ...endpoint,
    renew: ({ accounts }: Renewal) => identities.renewAccounts(accounts),
    // The port asks for them at every request.
    renewConsoleOrigins: () => {},
    processes: onlyThisProcess(requests, traffic),
    // It never rejects, because there are no workers: when this process fails, it ends.
    failed: new Promise<never>(() => {}),
  }
}
