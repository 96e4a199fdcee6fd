/** A bare node:http server: what Node's own HTTP costs, with the same sizes. The first part of a key says how large an answer is to be. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const bodies = new Map<string, Buffer>()

function bodyFor(url: string): Buffer {
  const size = url.split('/', 3)[2] ?? '0'
  const known = bodies.get(size)
  if (known !== undefined) return known
  const body = Buffer.alloc(Number(size), 'http')
  bodies.set(size, body)
  return body
}

const server = createServer(
  { keepAliveTimeout: 60_000, noDelay: true, highWaterMark: 1024 * 1024 },
  (request, response) => {
    if (request.method === 'PUT') {
      request.resume()
      request.once('end', () => {
        response.writeHead(200, ['Content-Length', '0'])
        response.end()
      })
      return
    }
    if (request.method === 'DELETE') {
      response.writeHead(204)
      response.end()
      return
    }
    const body = bodyFor(request.url ?? '')
    response.writeHead(200, ['Content-Length', String(body.length)])
    if (request.method === 'HEAD') response.end()
    else response.end(body)
  },
)
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`))
