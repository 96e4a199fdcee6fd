/** Announces that the server is ready: in words for people, and in one line for scripts that wait for it. */
import { version } from '../../version.ts'
import type { Instance } from '../instance.ts'
import type { ServedConfiguration, ServedInvocation } from './worker-count.ts'

interface Served {
  /** URL of the S3 port. */
  endpoint: string
  /** Absent: there is no admin port. */
  adminEndpoint: string | undefined
  /** `WorkerCount.reason`. */
  workersReason: string | undefined
}

/** Call once, when every serving process is listening. */
export function announce(
  { configuration, extra, json, print }: ServedInvocation,
  instance: Instance,
  served: Served,
): void {
  const { endpoint, adminEndpoint } = served
  const isAnonymous = extra.anonymous === true
  if (json) {
    const about = isAnonymous ? {} : privateFields(instance)
    print(JSON.stringify({ ...readyEvent(configuration, endpoint), adminEndpoint, ...about }))
    return
  }
  if (extra.quiet !== true && !isAnonymous) for (const line of aboutLines(configuration, instance, served)) print(line)
  const key = isAnonymous ? '' : ` accessKeyId=${instance.shownKey.accessKeyId}`
  print(`ready ${endpoint}${key} workers=${configuration.workers} pid=${process.pid}`)
}

const readyEvent = ({ region, workers }: ServedConfiguration, endpoint: string): object => ({
  event: 'ready',
  version,
  endpoint,
  region,
  workers,
  pid: process.pid,
})

/** Fields that `--anonymous` omits. */
function privateFields({ shownKey, dataPath }: Instance): object {
  const { accessKeyId, secretAccessKey, keptIn } = shownKey
  // The secret is absent unless this start made it.
  return { accessKeyId, secretAccessKey, secretKeptIn: keptIn, data: dataPath }
}

function aboutLines(
  { region, workers }: ServedConfiguration,
  { shownKey, dataPath }: Instance,
  { endpoint, adminEndpoint, workersReason }: Served,
): string[] {
  const { accessKeyId, secretAccessKey, keptIn } = shownKey
  const secret =
    secretAccessKey === undefined
      ? `kept in ${keptIn}`
      : `${secretAccessKey}   (made now, shown once, kept in ${keptIn})`
  return [
    `Holdfast ${version}`,
    `  endpoint    ${endpoint}`,
    ...(adminEndpoint === undefined ? [] : [`  admin port  ${adminEndpoint}`]),
    `  access key  ${accessKeyId}`,
    `  secret key  ${secret}`,
    `  region      ${region}`,
    `  data        ${dataPath}`,
    `  workers     ${workers}${workersReason === undefined ? '' : `   (auto: ${workersReason})`}`,
  ]
}
