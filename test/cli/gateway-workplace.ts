/** Runs servers that share a store and metadata in PostgreSQL: each test gets a workplace, a configuration and a database. */
import { mkdir, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { PostgresServer } from '../support/postgres.ts'
import { keyVariables } from './holdfast-process.ts'
import { openWorkplace, type Workplace } from './workplace.ts'

/** A key ring in the environment, so that no server has to get it as a file. */
export const ringVariables = {
  HOLDFAST_KEY_RING: `sse-s3 ${Buffer.alloc(32, 1).toString('base64')},aws/s3 ${Buffer.alloc(32, 2).toString('base64')}`,
}

export interface GatewayWorkplace extends Workplace {
  /** The environment of every server and command of the test. */
  readonly variables: Record<string, string>
  /** The URL of another database, which is empty. */
  database(): Promise<string>
  /** Writes the configuration again for all servers, with more at its end. */
  configure(more?: string): Promise<void>
}

const shared = `defaultLocation = "shared"
[stores.shared]
type = "directory"
path = "shared"
[locations.shared]
scheme = "replica"
copies = 1
stores = ["shared"]
`

/** Call it once, like `openWorkplace`. */
export function openGatewayWorkplace(name: string): GatewayWorkplace {
  const place = openWorkplace(name)
  let postgres: PostgresServer
  let databases = 0
  const database = (): Promise<string> => postgres.database(`servers${++databases}`)
  const variables: Record<string, string> = {}
  const configure = (more = ''): Promise<void> => writeFile(place.path('holdfast.toml'), `${shared}${more}`)
  beforeAll(async () => {
    postgres = await PostgresServer.start()
  })
  afterAll(() => postgres?.remove())
  beforeEach(async () => {
    await mkdir(place.path('shared'))
    await configure()
    Object.assign(variables, keyVariables, {
      HOLDFAST_CONFIG: place.path('holdfast.toml'),
      HOLDFAST_METADATA_URL: await database(),
    })
  })
  return { ...place, variables, database, configure }
}
