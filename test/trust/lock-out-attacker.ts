/**
 * A process that attacks a server over many connections until it is killed: it takes an order as its argument, and says `ready` on stdout once every
 * connection has been tried. A connection that ends is tried again.
 */
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { type RequestToSign, type SigningKey, sign } from '../support/signer.ts'
import { requestBytes } from '../support/wire-raw.ts'

export type AttackName = 'pipelined-gets' | 'slow-readers' | 'trickling-puts' | 'unfinished-heads' | 'bad-signatures'

export interface AttackOrder {
  attack: AttackName
  port: number
  tls: boolean
  /** The loopback address that it comes from. */
  from: string
  connections: number
  key: SigningKey
  /** Of an object to read; new keys begin with it. */
  path: string
}

const KiB = 1024
const trickleMs = 1000
const againMs = 1000
/** So many handshakes at once are refused by no queue. */
const connectsAtOnce = 64

type Attack = (socket: Socket, order: AttackOrder, number: number) => void

const attacks: Record<AttackName, Attack> = {
  'pipelined-gets': (socket, order) => {
    const get = signed(order, { method: 'GET', path: order.path })
    socket.pause()
    socket.write(Buffer.concat(Array(100).fill(get)))
  },
  'slow-readers': (socket, order) => {
    socket.pause()
    socket.write(signed(order, { method: 'GET', path: order.path }))
    each(socket, () => socket.read(2 * KiB))
  },
  'trickling-puts': (socket, order, number) => {
    socket.resume()
    // Some have sent most of their body, which lies in memory somewhere.
    const [size, first] =
      [
        [512 * KiB, 0],
        [250 * KiB, 200 * KiB],
        [1024 * KiB, 0],
        [1024 * KiB, 500 * KiB],
      ][number % 4] ?? []
    const headers: [string, string][] = [['Content-Length', String(size)]]
    const head = signed(order, { method: 'PUT', path: `${order.path}-${number}` }, headers)
    socket.write(Buffer.concat([head, Buffer.alloc(first ?? 0)]))
    each(socket, () => socket.write('x'))
  },
  'unfinished-heads': (socket) => {
    socket.resume()
    socket.write('GET / HTTP/1.1\r\nHost: a\r\nX-Padding: ')
    each(socket, () => socket.write('x'))
  },
  'bad-signatures': (socket, order) => {
    const key = { ...order.key, secretAccessKey: 'a-secret-that-nobody-has' }
    const get = signed({ ...order, key }, { method: 'GET', path: order.path })
    const some = Buffer.concat(Array(20).fill(get))
    socket.on('data', () => socket.writableLength === 0 && socket.write(some))
    socket.write(some)
  },
}

function signed(
  { key, port }: AttackOrder,
  request: Omit<RequestToSign, 'host'>,
  headers: [string, string][] = [],
): Buffer {
  const made = sign({ ...request, host: `127.0.0.1:${port}` }, { key, payloadHash: 'UNSIGNED-PAYLOAD' })
  const rest = made.headers.filter(([name]) => name.toLowerCase() !== 'content-length')
  return requestBytes({ ...made, headers: [...rest, ...headers] })
}

function each(socket: Socket, act: () => void): void {
  const timer = setInterval(act, trickleMs)
  socket.once('close', () => clearInterval(timer))
}

function open({ port, tls, from }: AttackOrder, then: (socket: Socket) => void): Socket {
  const to = { host: '127.0.0.1', port, localAddress: from }
  const socket: Socket = tls
    ? connectTls({ ...to, rejectUnauthorized: false }, () => then(socket))
    : connect(to, () => then(socket))
  return socket
}

/** Resolves when each connection has been tried once. */
async function attack(order: AttackOrder): Promise<void> {
  const tried: Promise<void>[] = []
  const keepOne = (number: number): Promise<void> =>
    new Promise((resolve) => {
      const socket = open(order, () => {
        attacks[order.attack](socket, order, number)
        resolve()
      })
      socket.on('error', () => {})
      socket.once('close', () => {
        resolve()
        setTimeout(() => void keepOne(number), againMs)
      })
    })
  for (let number = 0; number < order.connections; number++) {
    tried.push(keepOne(number))
    if (number % connectsAtOnce === connectsAtOnce - 1) await Promise.all(tried)
  }
  await Promise.all(tried)
}

const [order] = process.argv.slice(2)
if (order !== undefined) {
  // Whoever started it has gone.
  process.stdin.on('end', () => process.exit()).resume()
  await attack(JSON.parse(order))
  process.stdout.write('ready\n')
}
