/** The metadata that wire tests run over: in memory, or, when a PostgreSQL server is named, a database of its own there. */

import { randomBytes } from 'node:crypto'
import pg from 'pg'
import type { Backend } from '../../src/commits/backend.ts'
import { patientPostgres } from './postgres-engine.ts'

export interface WireMetadata {
  backend: Backend
  close(): Promise<void>
}

/** `url`: of the server, when `HOLDFAST_TEST_METADATA_URL` names none for all wire tests. */
export async function wireMetadata(
  backend: Backend,
  url = process.env.HOLDFAST_TEST_METADATA_URL,
): Promise<WireMetadata> {
  if (url === undefined) return { backend, close: async () => {} }
  const name = `wire_${randomBytes(6).toString('hex')}`
  await asAdministrator(url, `create database ${name}`)
  const own = new URL(url)
  own.pathname = `/${name}`
  const kv = await patientPostgres({ url: own.href, connections: 6 })
  return {
    backend: { ...backend, kv },
    close: async () => {
      await kv.close()
      await asAdministrator(url, `drop database ${name} with (force)`)
    },
  }
}

async function asAdministrator(server: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: server })
  await client.connect()
  await client.query(statement)
  await client.end()
}
