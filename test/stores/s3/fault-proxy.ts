/** Stands between a store and its endpoint, and does to single requests what networks and other vendors do. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** `pass`: the request goes on as it is. `corrupt`: what is sent, or read of an object, arrives altered. A number: it is answered with that status. */
export type Fault = 'pass' | 'hang' | 'corrupt' | 'cut' | number

export interface FaultProxy {
  endpoint: string
  /** Decides what becomes of each request from now on. */
  decide(fault: (method: string, url: string, headers: IncomingHttpHeaders) => Fault): void
  /** `METHOD key?query` of all that came. */
  seen: string[]
  close(): Promise<void>
}

export async function openFaultProxy(target: string): Promise<FaultProxy> {
  let fault: (method: string, url: string, headers: IncomingHttpHeaders) => Fault = () => 'pass'
  const seen: string[] = []
  const server = createServer((incoming, outgoing) => {
    const { method = '', url = '', headers } = incoming
    seen.push(`${method} ${url}`)
    const what = fault(method, url, headers)
    if (what === 'hang') return
    if (typeof what === 'number') {
      incoming.resume()
      outgoing.writeHead(what, { 'content-type': 'application/xml' })
      outgoing.end('<Error><Code>NotImplemented</Code><Message>not here</Message></Error>')
      return
    }
    forward(target, incoming, outgoing, what)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    endpoint: `http://127.0.0.1:${port}`,
    decide: (next) => {
      fault = next
    },
    seen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** The host that was signed stays in the head. */
function forward(target: string, incoming: IncomingMessage, outgoing: ServerResponse, what: Fault): void {
  const { hostname, port } = new URL(target)
  const { method, url: path, headers } = incoming
  const onward = request({ hostname, port, method, path, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
    if (what === 'corrupt' && method === 'GET' && !path?.includes('list-type')) {
      answer.on('data', (chunk: Buffer) => outgoing.write(altered(chunk)))
      answer.once('end', () => outgoing.end())
      return
    }
    if (what !== 'cut') {
      answer.pipe(outgoing)
      return
    }
    answer.once('data', (chunk: Buffer) => {
      outgoing.write(chunk.subarray(0, chunk.length / 2))
      setImmediate(() => outgoing.destroy())
      answer.destroy()
    })
    // Without a body it is the head that never arrives.
    answer.once('end', () => outgoing.destroy())
  })
  onward.on('error', () => outgoing.destroy())
  incoming.on('data', (chunk: Buffer) => {
    onward.write(what === 'corrupt' ? altered(chunk) : chunk)
  })
  incoming.on('end', () => onward.end())
  incoming.on('close', () => {
    if (!incoming.complete) onward.destroy()
  })
}

function altered(chunk: Buffer): Buffer {
  const bytes = Buffer.from(chunk)
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1
  return bytes
}
