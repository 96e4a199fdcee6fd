/** The answer to bytes that are no request: written straight to the socket, as there is no exchange that could carry it. */
import type { Socket } from 'node:net'
import type { S3Error } from '../errors.ts'
import { storeDialect } from './dialect.ts'
import { type FaultPlace, faultDocument } from './fault.ts'

/** Sends the error and ends the connection, which goes on being read for `lingerMs` so that the client gets to see it. */
export function refuseSocket(socket: Socket, fault: S3Error, place: FaultPlace, lingerMs: number): void {
  const document = faultDocument(fault, place)
  const head = [
    `HTTP/1.1 ${fault.status} ${fault.code}`,
    'Content-Type: application/xml',
    `Content-Length: ${document.length}`,
    `Date: ${new Date().toUTCString()}`,
    'Server: Holdfast',
    `${storeDialect.requestIdHeader}: ${place.requestId}`,
    'Connection: close',
  ]
  socket.end(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'), document]))
  const timer = setTimeout(() => socket.destroy(), lingerMs)
  socket.once('close', () => clearTimeout(timer))
}
