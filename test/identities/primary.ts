/** A server with workers, in a process of its own, which changes keys when it is told to and says how long that took. */

import { openInstance } from '../../src/cli/instance.ts'
import { openLog } from '../../src/cli/log.ts'
import { WorkersAhead } from '../../src/cli/serving/fork-workers.ts'
import { startWorkers } from '../../src/cli/serving/workers.ts'
import { loadConfiguration } from '../../src/config/configuration.ts'
import type { IssuedKey } from '../../src/identities/identities.ts'

export type Request = { do: 'add' } | { do: 'setDisabled'; accessKeyId: string; disabled: boolean }
export type Report = { said: 'ready'; url: string } | { said: 'done'; tookMs: number; key?: IssuedKey }

const [data] = process.argv.slice(2)
if (data === undefined) throw new Error('no path given')
const configuration = await loadConfiguration({
  flags: { data: [data], listen: ['127.0.0.1:0'] },
  environment: process.env,
  directory: data,
})
const log = openLog(configuration)
const { id: instanceId, backend, accounts, identities } = await openInstance(configuration, log)
const workers = await startWorkers({
  configuration: { ...configuration, accounts: [...accounts], workers: 2 },
  instanceId,
  kv: backend.kv,
  keyPairFiles: undefined,
  log,
  ahead: new WorkersAhead(0),
  consoleOrigins: () => [],
  onCrash: async () => {},
})
identities.tellOthers(workers.teach)

const report = (message: Report): void => void process.send?.(message)

async function obey(request: Request): Promise<void> {
  const { keys } = identities.verbs
  const beganMs = performance.now()
  const key = request.do === 'add' ? await keys.add({ accountId: 'main' }) : undefined
  if (request.do === 'setDisabled') await keys.setDisabled(request.accessKeyId, request.disabled)
  report({ said: 'done', tookMs: performance.now() - beganMs, ...(key === undefined ? {} : { key }) })
}

process.on('message', (request: Request) => void obey(request))
report({ said: 'ready', url: workers.url })
