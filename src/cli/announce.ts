/** Says that the server is ready: to people, and in one line that scripts wait for. */
import type { Configuration } from '../config/configuration.ts'
import { version } from '../version.ts'
import type { Invocation } from './command.ts'
import type { Instance } from './instance.ts'

/** Call once, when every process that serves is listening. */
export function announce({ configuration, json, print }: Invocation, instance: Instance, endpoint: string): void {
  if (json) print(readyEvent(configuration, instance, endpoint))
  else for (const line of readyLines(configuration, instance, endpoint)) print(line)
}

function readyEvent({ region, workers }: Configuration, { shownKey, dataPath }: Instance, endpoint: string): string {
  const { accessKeyId, secretAccessKey, keptIn } = shownKey
  return JSON.stringify({
    event: 'ready',
    version,
    endpoint,
    region,
    accessKeyId,
    // Absent unless made by this start.
    secretAccessKey,
    secretKeptIn: keptIn,
    data: dataPath,
    workers,
    pid: process.pid,
  })
}

function readyLines(configuration: Configuration, { shownKey, dataPath }: Instance, endpoint: string): string[] {
  const { accessKeyId, secretAccessKey, keptIn } = shownKey
  const secret =
    secretAccessKey === undefined
      ? `kept in ${keptIn}`
      : `${secretAccessKey}   (made now, shown once, kept in ${keptIn})`
  return [
    `Holdfast ${version}`,
    `  endpoint    ${endpoint}`,
    `  access key  ${accessKeyId}`,
    `  secret key  ${secret}`,
    `  region      ${configuration.region}`,
    `  data        ${dataPath}`,
    `ready ${endpoint} accessKeyId=${accessKeyId} workers=${configuration.workers} pid=${process.pid}`,
  ]
}
