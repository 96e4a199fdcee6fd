/** The answer to bytes that aren't a request. It goes straight to the socket, because there is no exchange. */
import type { Socket } from 'node:net'
import type { S3Error } from '../../errors.ts'
import { storeDialect } from '../dialect.ts'
import type { FaultContext, FaultFormat } from '../fault.ts'

/** Sends the error and ends the connection. Keeps reading for `lingerMs`, so that the client sees the error. */
export function refuseSocket(
  socket: Socket,
  fault: S3Error,
  context: FaultContext,
  { format, lingerMs }: { format: FaultFormat; lingerMs: number },
): void {
  const document = format.document(fault, context)
  const head = [
    `HTTP/1.1 ${fault.status} ${fault.code}`,
    `Content-Type: ${format.contentType}`,
    `Content-Length: ${document.length}`,
    `Date: ${new Date().toUTCString()}`,
    'Server: Holdfast',
    `${storeDialect.requestIdHeader}: ${context.requestId}`,
    'Connection: close',
  ]
  socket.end(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'), document]))
  const timer = setTimeout(() => socket.destroy(), lingerMs)
  socket.once('close', () => clearTimeout(timer))
}
