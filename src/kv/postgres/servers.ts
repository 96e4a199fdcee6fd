/** Splits a URL with several hosts, which libpq accepts and the driver does not. */
import { Socket } from 'node:net'
import pg from 'pg'
import { ConfigurationRefused } from './session-rules.ts'

/** The URL of one server, with all parameters of the original. */
export type ServerUrl = string

const pattern = /^(postgres(?:ql)?:\/\/)(?:([^@/?]*)@)?([^/?]*)(\/[^?]*)?(?:\?(.*))?$/

/**
 * `postgres://user:password@a:5432,b:5432/name?sslmode=verify-full` -> a URL for each host, in order. Only the primary is used, so `target_session_attrs` must not ask for anything
 * else. Throws `ConfigurationRefused`, whose message never holds the password.
 */
export function serversOf(url: string): ServerUrl[] {
  const match = pattern.exec(url)
  if (match === null)
    throw new ConfigurationRefused('the address of PostgreSQL must be a URL: postgres://user@host:5432/database')
  const [, scheme = '', user, hosts = '', path = '/', query = ''] = match
  const parameters = new URLSearchParams(query)
  const wanted = parameters.get('target_session_attrs') ?? 'read-write'
  if (!['read-write', 'primary', 'any'].includes(wanted)) {
    throw new ConfigurationRefused(
      `target_session_attrs=${wanted} is not supported: only the primary is used, which read-write says`,
    )
  }
  parameters.delete('target_session_attrs')
  const rest = parameters.size === 0 ? path : `${path}?${parameters}`
  return hosts.split(',').map((host) => `${scheme}${user === undefined ? '' : `${user}@`}${host}${rest}`)
}

/** A client and the socket that it will use, so that the connection can be dropped at once, which the driver does not offer. TLS runs over this socket, too. */
export interface Connecting {
  client: pg.Client
  socket: Socket
}

export function clientOf(url: ServerUrl, connectTimeoutMs: number): Connecting {
  const socket = new Socket()
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 5000,
    application_name: 'holdfast',
    stream: () => socket,
  })
  return { client, socket }
}
