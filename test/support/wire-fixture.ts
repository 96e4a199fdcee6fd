/** A server and its clients for the tests of a file or of a block: begun before them, ended after them, and to be asked within a test or a hook. */
import { afterAll, beforeAll, expect } from 'vitest'
import { openWire, type Style, type Wire } from './wire-client.ts'
import { startWireServer, type WireServer, type WireServerOptions } from './wire-server.ts'

/** For tests that are not about the styles. */
export const plainStyle: Style = { prefix: 'x-amz-', hosting: 'path' }

/** It must have met nothing unexpected at the end. */
export function wireServer(options: WireServerOptions = {}, start = startWireServer): Omit<WireServer, 'close'> {
  let started: WireServer | undefined
  beforeAll(async () => {
    started = await start(options)
  })
  afterAll(async () => {
    await started?.close()
    expect(started?.unexpected).toEqual([])
  })
  return {
    get port() {
      return begun(started).port
    },
    get unexpected() {
      return begun(started).unexpected
    },
    get identities() {
      return begun(started).identities
    },
    logged: (requestId) => begun(started).logged(requestId),
    empty: () => begun(started).empty(),
    keep: () => begun(started).keep(),
  }
}

/** `given` prepares what all the tests are about. */
export function wireTo(
  server: Pick<WireServer, 'port'>,
  style: Style = plainStyle,
  given: (wire: Wire) => Promise<unknown> = async () => {},
): Wire {
  let opened: Wire | undefined
  beforeAll(async () => {
    opened = openWire(server.port, style)
    await given(opened)
  })
  afterAll(() => opened?.close())
  return {
    style,
    get port() {
      return server.port
    },
    ask: (ask) => begun(opened).ask(ask),
    must: (ask) => begun(opened).must(ask),
    close: () => opened?.close(),
  }
}

function begun<T>(made: T | undefined): T {
  if (made === undefined) throw new Error('the tests have not begun')
  return made
}
