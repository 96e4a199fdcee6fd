/** How JSON is posted to receivers, whatever they do. */
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { collectEverything } from '../src/cli/serving/collector.ts'
import { type PostOptions, postJson } from '../src/webhook.ts'

let close = async (): Promise<void> => {}
afterEach(() => close())

async function receiving(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  close = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}
const post = (url: string, options: Partial<PostOptions> = {}) =>
  postJson({ url }, '{}', { answerMs: 5_000, ...options })

describe('a post', () => {
  it('on a connection that the receiver closes just then is made again on another', async () => {
    const seen = new WeakSet<object>()
    let asked = 0
    const url = await receiving((request, response) => {
      asked++
      if (seen.has(request.socket)) request.socket.destroy()
      else request.resume().on('end', () => response.end())
      seen.add(request.socket)
    })
    expect([await post(url), await post(url)]).toEqual([200, 200])
    expect(asked).toBe(3)
  })

  it('is not made again on a new connection', async () => {
    let asked = 0
    const url = await receiving((request) => {
      asked++
      request.socket.destroy()
    })
    expect(await post(url)).toBeUndefined()
    expect(asked).toBe(1)
  })

  it('is answered by a status, however long its body goes on', async () => {
    let isCut: () => void = () => {}
    const cut = new Promise<void>((resolve) => {
      isCut = resolve
    })
    const url = await receiving((_, response) => {
      response.on('close', isCut)
      const write = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(16 * 1024)));
        if (!response.destroyed) response.once('drain', write)
      }
      write()
    })
    expect(await post(url)).toBe(200)
    await cut
  })

  it('ends when there is no answer in time, also when all garbage has been collected', async () => {
    const url = await receiving(() => collectEverything())
    expect(await post(url, { answerMs: 200, signal: new AbortController().signal })).toBeUndefined()
  })

  it('ends with an answer that leads to another protocol', async () => {
    const url = await receiving((request) => {
      request.socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n')
    })
    expect(await post(url)).toBeUndefined()
  })

  it('holds no connection for a body that does not come', async () => {
    let open = 0
    const url = await receiving((request, response) => {
      open++
      request.socket.on('close', () => open--)
      response.writeHead(200, { 'content-length': '5' }).flushHeaders()
    })
    expect([await post(url), await post(url)]).toEqual([200, 200])
    await expect.poll(() => open).toBe(0)
  })

  it('ends with its signal', async () => {
    const ending = new AbortController()
    const url = await receiving(() => ending.abort())
    expect(await post(url, { signal: ending.signal })).toBeUndefined()
  })

  it('reaches nobody where nobody listens', async () => {
    const url = await receiving(() => {})
    await close()
    close = async () => {}
    expect(await post(url)).toBeUndefined()
  })

  it('follows no redirect', async () => {
    let asked = 0
    const url = await receiving((_, response) => {
      asked++
      response.writeHead(307, { location: '/elsewhere' }).end()
    })
    expect([await post(url), asked]).toEqual([307, 1])
  })
})
