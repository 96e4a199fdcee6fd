/** How a server in a test is started over PostgreSQL: with one shared store, and a key ring that others can have, too. */
import { join } from 'node:path'
import type { StartOptions } from '../../src/index.ts'

/** `directory`: holds the data directory of each host, by its name, and the shared store. */
export function sharedServerOptions(url: string, directory: string, host: string): StartOptions {
  return {
    metadata: { type: 'postgres', url },
    data: join(directory, host),
    stores: { shared: { type: 'directory', path: join(directory, 'shared') } },
    locations: { shared: { scheme: 'replica', copies: 1, stores: ['shared'] } },
    defaultLocation: 'shared',
    credentials: { accessKeyId: 'shared-key', secretAccessKey: 'canary-secret-of-tests' },
    keyRing: `sse-s3 ${Buffer.alloc(32, 1).toString('base64')},aws/s3 ${Buffer.alloc(32, 2).toString('base64')}`,
  }
}
