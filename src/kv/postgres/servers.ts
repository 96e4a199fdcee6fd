/** The servers that a URL names: several hosts, as libpq takes them, which the driver does not. */
import { Socket } from 'node:net'
import pg from 'pg'
import { ConfigurationRefused } from './session-rules.ts'

/** One server, with all else that the URL says. */
export type ServerUrl = string

const pattern = /^(postgres(?:ql)?:\/\/)(?:([^@/?]*)@)?([^/?]*)(\/[^?]*)?(?:\?(.*))?$/

/**
 * `postgres://user:password@a:5432,b:5432/name?sslmode=verify-full` -> a URL for each host, in their order. Only the primary is used, so that `target_session_attrs` can only say
 * so. Throws `ConfigurationRefused`, without the password.
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

/** A client, and the socket that it will use: to give it up at once is nothing that the driver offers. Where it speaks TLS, it does so over this socket. */
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
