/** Bytes over a socket, for what no HTTP client would send, and the answer to them. */
import { connect } from 'node:net'
import type { SignedRequest } from './signer.ts'

export interface RawReply {
  /** 0: the connection ended without an answer. */
  status: number
  head: string
  body: string
  /** `Code` of an error; empty when there is none. */
  code: string
  /** Everything, interim answers included. */
  all: string
}

/** A signed request as the bytes that go over the wire. */
export function requestBytes({ method, target, headers, body }: SignedRequest): Buffer {
  const lines = [`${method} ${target} HTTP/1.1`, ...headers.map(([name, value]) => `${name}: ${value}`)]
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), body])
}

/**
 * Sends bytes, and resolves with the first answer that isn't interim, or when the server ends the connection.
 * `onInterim` is called at `100 Continue`, and gives what is to be sent then. With `ends` the sending side is closed behind the bytes.
 */
export function sendRaw(
  port: number,
  bytes: Buffer | string,
  { onInterim, ends = false }: { onInterim?: () => Buffer; ends?: boolean } = {},
): Promise<RawReply> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    let all = ''
    let continued = false
    const settle = (): void => {
      socket.destroy()
      resolve(readRaw(all))
    }
    socket.setEncoding('latin1')
    socket.on('data', (text: string) => {
      all += text
      if (!continued && all.startsWith('HTTP/1.1 100 ')) {
        continued = true
        if (onInterim !== undefined) socket.write(onInterim())
      }
      if (isComplete(withoutInterim(all))) settle()
    })
    // A reset after the answer is an end like any other: what was received is what counts.
    socket.on('error', () => {})
    socket.on('close', settle)
    const data = typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes
    if (ends) socket.end(data)
    else socket.write(data)
  })
}

const withoutInterim = (all: string): string => all.replace(/^(?:HTTP\/1\.1 1\d\d [\s\S]*?\r\n\r\n)+/, '')

function isComplete(answer: string): boolean {
  const end = answer.indexOf('\r\n\r\n')
  if (end === -1) return false
  const length = /\r\ncontent-length: *(\d+)/i.exec(answer.slice(0, end))?.[1]
  return answer.length - end - 4 >= Number(length ?? 0)
}

function readRaw(all: string): RawReply {
  const answer = withoutInterim(all)
  const end = answer.indexOf('\r\n\r\n')
  const head = end === -1 ? answer : answer.slice(0, end)
  const body = end === -1 ? '' : answer.slice(end + 4)
  return {
    status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0),
    head,
    body,
    code: /<Code>([\w.]+)<\/Code>/.exec(body)?.[1] ?? '',
    all,
  }
}
