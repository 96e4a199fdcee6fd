/** One connection of the lean generator: sends prepared bytes, and reads of answers as little as tells them apart. No pipelining. */
import { connect, type Socket } from 'node:net'
import { ChunkedBody } from './chunked-body.ts'
import type { PreparedRequest } from './requests.ts'

export interface Answer {
  status: number
  /** Head and body when they were asked for; else the body of an answer that is no success. */
  text: string
}

/** For the reads of all connections: what is read is looked at before anything else is read, and one place stays in the processor's cache. */
const readBuffer = Buffer.allocUnsafe(256 * 1024)
const emptyLine = '\r\n\r\n'
const headEnd = Buffer.from(emptyLine)

export class Connection {
  readonly #socket: Socket
  #onAnswer: (answer: Answer) => void = () => {}
  #onFailure: (error: Error) => void = () => {}
  #keepText = false
  #isHead = false
  #waiting = false
  /** The beginning of a head that came in pieces. */
  #headSoFar: Buffer | undefined
  #status = 0
  /** What is left of a body with a length. -1: the head is still being read. */
  #left = -1
  #chunked: ChunkedBody | undefined
  #kept: string[] = []

  private constructor(host: string, port: number) {
    this.#socket = connect({
      host,
      port,
      noDelay: true,
      // Nothing is allocated for what arrives.
      onread: {
        buffer: readBuffer,
        callback: (bytes) => {
          this.#take(readBuffer.subarray(0, bytes))
          return true
        },
      },
    })
    this.#socket.on('error', (error) => this.#onFailure(error))
    this.#socket.on('close', () => {
      if (this.#waiting) this.#onFailure(new Error('the server closed the connection before it had answered'))
    })
  }

  static open(host: string, port: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const connection = new Connection(host, port)
      connection.#onFailure = reject
      connection.#socket.once('connect', () => resolve(connection))
    })
  }

  /** One at a time. `onAnswer` is called when the whole answer is there. */
  send(request: PreparedRequest, onAnswer: (answer: Answer) => void, onFailure: (error: Error) => void): void {
    this.#onAnswer = onAnswer
    this.#onFailure = onFailure
    this.#isHead = request.isHead
    this.#waiting = true
    if (request.body === undefined) this.#socket.write(request.head)
    else {
      this.#socket.cork()
      this.#socket.write(request.head)
      this.#socket.write(request.body)
      this.#socket.uncork()
    }
  }

  /** The answer with its text, for requests that are not measured. */
  async ask(request: PreparedRequest): Promise<Answer> {
    this.#keepText = true
    try {
      return await new Promise((resolve, reject) => this.send(request, resolve, reject))
    } finally {
      this.#keepText = false
    }
  }

  close(): void {
    this.#waiting = false
    this.#socket.destroy()
  }

  #take(bytes: Buffer): void {
    try {
      if (this.#left < 0 && this.#chunked === undefined) this.#takeHead(bytes)
      else this.#takeBody(bytes)
    } catch (error) {
      this.#waiting = false
      this.#onFailure(error instanceof Error ? error : new Error(String(error)))
    }
  }

  #takeHead(bytes: Buffer): void {
    const all = this.#headSoFar === undefined ? bytes : Buffer.concat([this.#headSoFar, bytes])
    const end = all.indexOf(headEnd)
    if (end < 0) {
      this.#headSoFar = Buffer.from(all)
      return
    }
    this.#headSoFar = undefined
    const head = all.toString('latin1', 0, end + 2)
    this.#status = Number(head.slice(9, 12))
    if (this.#keepText) this.#kept.push(`${head}\r\n`)
    const rest = all.subarray(end + 4)
    if (this.#isHead || this.#status === 204 || this.#status === 304) this.#finish()
    else if (/\r\ntransfer-encoding: *chunked/i.test(head)) {
      this.#chunked = new ChunkedBody()
      this.#takeBody(rest)
    } else {
      this.#left = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? Number.NaN)
      if (Number.isNaN(this.#left)) throw new Error(`an answer does not say its length: ${head}`)
      this.#takeBody(rest)
    }
  }

  #takeBody(bytes: Buffer): void {
    if (this.#keepText || this.#status >= 300) this.#kept.push(bytes.toString('latin1'))
    if (this.#chunked !== undefined) {
      if (this.#chunked.take(bytes)) this.#finish()
      return
    }
    this.#left -= bytes.length
    if (this.#left < 0) throw new Error('an answer is longer than it says')
    if (this.#left === 0) this.#finish()
  }

  #finish(): void {
    this.#left = -1
    this.#chunked = undefined
    this.#waiting = false
    const text = this.#kept.join('')
    this.#kept = []
    this.#onAnswer({ status: this.#status, text })
  }
}
