/** What the auth matrices share: their server, one request of each operation, also of those that are refused by name, and the change of a signed one. */
import { Agent } from 'node:http'
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { operations } from '../../src/operations/table.ts'
import type { SignedRequest } from './signer.ts'
import { asks, type KeptAsks, keepAsks, nothingChanged, type OpenUpload, type Succeeding } from './wire-asks.ts'
import { openWire, type Style, type Wire } from './wire-client.ts'
import { startWireServer, type WireServer } from './wire-server.ts'

interface MatrixServer {
  server: WireServer
  agent: Agent
}

/** A server for all tests of a file, which must have met nothing unexpected at their end. Ask for it within a test or a hook. */
export function matrixServer(): () => MatrixServer {
  let started: MatrixServer | undefined
  beforeAll(async () => {
    started = { server: await startWireServer(), agent: new Agent({ keepAlive: true }) }
  })
  afterAll(async () => {
    started?.agent.destroy()
    await started?.server.close()
    expect(started?.server.unexpected).toEqual([])
  })
  return () => begun(started)
}

interface Prepared extends KeptAsks {
  wire: Wire
}

/** A client for the tests of a block, each of which begins with what `prepareAsks` makes and nothing else. */
export function preparedWire(matrix: () => MatrixServer, style: Style): () => Prepared {
  let wire: Wire | undefined
  let kept: KeptAsks | undefined
  beforeAll(async () => {
    wire = openWire(matrix().server.port, style)
    kept = await keepAsks(matrix().server, wire)
  })
  afterAll(async () => {
    const { open, state } = begun(kept)
    await state.restore()
    await nothingChanged(begun(wire), open)
    wire?.close()
  })
  beforeEach(() => begun(kept).state.restore())
  return () => ({ wire: begun(wire), ...begun(kept) })
}

function begun<T>(made: T | undefined): T {
  if (made === undefined) throw new Error('the tests have not begun')
  return made
}

/** By name, for what `asks` lacks. */
export const refusedAsks: ReadonlyMap<string, Succeeding> = new Map(
  operations.flatMap(({ name, method, target, query, vendorHeaders, implemented }): [string, Succeeding][] =>
    implemented
      ? []
      : [
          [
            name,
            {
              method,
              ...(target === 'object' ? { key: 'a' } : {}),
              ...(target === 'service' ? { bucket: '' } : {}),
              query: Object.fromEntries(query.map(nameAndValue)),
              ...(vendorHeaders.length === 0 ? {} : { vendor: Object.fromEntries(vendorHeaders.map(nameAndValue)) }),
              succeeds: 501,
              code: 'NotImplemented' as const,
            },
          ],
        ],
  ),
)

function nameAndValue(required: string): [name: string, value: string] {
  const [name = '', value = ''] = required.split('=')
  return [name, value]
}

export function matrixAsk(name: string, open: OpenUpload): Succeeding {
  const ask = asks(open)[name] ?? refusedAsks.get(name)
  if (ask === undefined) throw new Error(`${name} is not in the matrix`)
  return ask
}

export function withHeader(request: SignedRequest, name: string, value: string): SignedRequest {
  return { ...request, headers: [...request.headers, [name, value]] }
}
