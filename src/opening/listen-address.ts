/** The address that a port listens on: its URL, and the error when it can't be used. */
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { ListenAddress } from '../config/kinds.ts'

/** The address can't be listened on. The message says why. */
export class ListenFailed extends Error {
  constructor({ host, port }: ListenAddress, { code, message }: NodeJS.ErrnoException) {
    const reasons: Record<string, string> = {
      EADDRINUSE: 'another process listens there already',
      EACCES: 'this user may not listen on that port. Name one from 1024 up, or give the process CAP_NET_BIND_SERVICE',
      EADDRNOTAVAIL: 'this machine does not have that address',
      ENOTFOUND: 'that name has no address',
    }
    super(`cannot listen on ${bracketed(host)}:${port}: ${reasons[code ?? ''] ?? message}`)
    this.name = 'ListenFailed'
  }
}

/** Call before a first start creates anything, so that a failed start leaves nothing behind. Throws `ListenFailed`. */
export async function refuseTakenAddress(address: ListenAddress): Promise<void> {
  const server = createServer()
  try {
    server.listen(address)
    await once(server, 'listening')
  } catch (error) {
    throw error instanceof Error ? new ListenFailed(address, error) : error
  } finally {
    server.close()
  }
}

export function urlOf(host: string, port: number, { secure }: { secure: boolean }): string {
  const isWildcard = ['', '0.0.0.0', '::'].includes(host)
  return `${secure ? 'https' : 'http'}://${isWildcard ? '127.0.0.1' : bracketed(host)}:${port}`
}

const bracketed = (host: string): string => (host.includes(':') ? `[${host}]` : host)
