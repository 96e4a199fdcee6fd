/** A server in a process of its own: it makes a user with a key, says so, and goes on until it is killed. */
import { startServer } from '../../src/index.ts'

export interface MadeKey {
  accessKeyId: string
  secretAccessKey: string
}

const [data] = process.argv.slice(2)
if (data === undefined) throw new Error('no path given')
const { identities } = await startServer({ data, buckets: ['photos'] })
await identities.users.create('main', { name: 'ann' })
await identities.users.attachPolicy('main', 'ann', 'readwrite')
const { accessKeyId, secretAccessKey } = await identities.keys.add({ accountId: 'main', user: 'ann' })
const made: MadeKey = { accessKeyId, secretAccessKey }
process.send?.(made)
