/** Keeps the connection alive during a long operation: sends status 200 and white space first, then the result or the error. */
import type { OperationRequest } from '../operations/context.ts'
import { run } from '../operations/run.ts'
import { writeHead } from './answer.ts'
import { afterwards, endAnswer } from './connections/keep-alive.ts'
import type { Input } from './decode.ts'
import { type Endpoint, send } from './endpoint.ts'
import type { Exchange } from './exchange.ts'
import { note } from './failure.ts'
import { faultElement, faultOf } from './fault.ts'
import type { RequestHead } from './request-head.ts'
import { xmlDeclaration } from './xml/xml-write.ts'

class SlowAnswer {
  #exchange: Exchange
  #head: RequestHead
  #timer: NodeJS.Timeout

  /** Starts the timer for the white space. The caller must `stop` it or, when it has begun, `finish` it. */
  constructor(exchange: Exchange, head: RequestHead) {
    this.#exchange = exchange
    this.#head = head
    this.#timer = setTimeout(() => this.#begin(), exchange.bounds.slowAnswerAfterMs)
  }

  /** The status has been sent: everything else goes into the body. */
  get begun(): boolean {
    return this.#exchange.response.headersSent
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  /** Sends the element of the result or the error, and ends the answer. */
  finish(bytes: Buffer): void {
    this.stop()
    this.#exchange.bytesOut += bytes.length
    endAnswer(this.#exchange, afterwards(this.#exchange, this.#head), bytes)
  }

  #begin(): void {
    const exchange = this.#exchange
    writeHead(exchange, 200, ['Content-Type', 'application/xml'], afterwards(exchange, this.#head))
    this.#write(xmlDeclaration)
    this.#timer = setInterval(() => this.#write(' '), exchange.bounds.slowAnswerEveryMs)
  }

  #write(text: string): void {
    this.#exchange.bytesOut += text.length
    this.#exchange.response.write(text)
  }
}

/** Runs an operation that may take long. Throws what the operation throws, unless something was sent already. */
export async function answerSlowly(
  exchange: Exchange,
  head: RequestHead,
  endpoint: Endpoint,
  { request, input }: { request: OperationRequest; input: Input },
): Promise<void> {
  const slow = new SlowAnswer(exchange, head)
  try {
    const answer = await run(endpoint.operation, request, input)
    const { document } = endpoint.encoders[exchange.dialect.name]
    if (!slow.begun) return await send(exchange, head, endpoint, answer)
    slow.finish(document === undefined ? Buffer.alloc(0) : document.element(answer.body))
  } catch (error) {
    if (!slow.begun) throw error
    const fault = faultOf(error)
    note(exchange, error, fault)
    slow.finish(Buffer.from(faultElement(fault, exchange)))
  } finally {
    slow.stop()
  }
}
