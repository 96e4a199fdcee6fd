/** Starts two servers: one keeps its shards in a bucket of the other. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createBucket } from '../load/create-bucket.ts'
import { startHoldfast } from './holdfast.ts'
import type { Server } from './server.ts'

const bucket = 'shards'

export async function startFarHoldfast(name: string, directory: string): Promise<Server> {
  mkdirSync(directory, { recursive: true })
  const far = await startHoldfast(`${name}: the other`, { data: join(directory, 'far') })
  try {
    const { host, port } = far.endpoint
    const endpoint = `http://${host}:${port}`
    await createBucket({ ...far.endpoint, bucket })
    const config = join(directory, 'bench.toml')
    const store = `[stores.far]\ntype = "s3"\nendpoint = "${endpoint}"\nbucket = "${bucket}"\n`
    const location = '[locations.far]\nscheme = "replica"\ncopies = 1\nstores = ["far"]\n'
    writeFileSync(config, `defaultLocation = "far"\n${store}${location}`)
    const gateway = await startHoldfast(name, { data: join(directory, 'own'), config })
    return {
      ...gateway,
      farPid: far.pid,
      close: async () => {
        await gateway.close()
        await far.close()
      },
    }
  } catch (error) {
    await far.close()
    throw error
  }
}
