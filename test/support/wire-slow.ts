/** A server that is kept waiting by its store, and a client that lets it go on once the first of an answer has come. */
import { Agent, request as httpRequest } from 'node:http'
import type { Kv } from '../../src/kv/kv.ts'
import { type Ask, signAsk, type Wire } from './wire-client.ts'
import { startWireServer, type WireServer } from './wire-server.ts'

/** Keeps everything that would be read or written waiting while it is shut. */
export class Gate {
  #opened: Promise<void> = Promise.resolve()
  #open: () => void = () => {}

  shut(): void {
    this.#opened = new Promise((resolve) => {
      this.#open = resolve
    })
  }

  open(): void {
    this.#open()
  }

  before(kv: Kv): Kv {
    return {
      integrity: kv.integrity,
      get: async (keys) => this.#opened.then(() => kv.get(keys)),
      range: async (query) => this.#opened.then(() => kv.range(query)),
      view: async (keys, queries, read) => this.#opened.then(() => kv.view(keys, queries, read)),
      commit: async (commit) => this.#opened.then(() => kv.commit(commit)),
      snapshot: () => kv.snapshot(),
      now: () => kv.now(),
      close: () => kv.close(),
    }
  }
}

/** Begins an answer early, and writes white space often. */
export const startSlowServer = (gate: Gate): Promise<WireServer> =>
  startWireServer({
    bounds: { slowAnswerAfterMs: 5, slowAnswerEveryMs: 2 },
    over: (backend) => ({ ...backend, kv: gate.before(backend.kv) }),
  })

interface SlowReply {
  status: number
  /** What came before the gate was opened. */
  early: string
  whole: Buffer
}

/** Opens the gate when the status and some white space have come. */
export function askSlowly(ask: Ask, { port, style }: Wire, gate: Gate): Promise<SlowReply> {
  const { method, target: path, headers, body } = signAsk(ask, port, style)
  return new Promise((resolve, reject) => {
    const agent = new Agent()
    const request = httpRequest({ agent, port, host: '127.0.0.1', method, path, headers: headers.flat() })
    request.on('error', reject)
    request.on('response', (response) => {
      const chunks: Buffer[] = []
      let early: string | undefined
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk)
        const text = Buffer.concat(chunks).toString()
        if (early !== undefined || !/\n {3}/.test(text)) return
        early = text
        gate.open()
      })
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, early: early ?? '', whole: Buffer.concat(chunks) }),
      )
      response.on('error', reject)
    })
    gate.shut()
    request.end(body)
  })
}
