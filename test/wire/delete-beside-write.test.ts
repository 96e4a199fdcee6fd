/** DeleteObject under a condition, while another client writes the object. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openWire, type Wire } from '../support/wire-client.ts'
import { startWireServer, type WireServer } from '../support/wire-server.ts'

describe('a delete that knows the size', () => {
  let server: WireServer
  let wire: Wire
  beforeAll(async () => {
    server = await startWireServer()
    wire = openWire(server.port, { prefix: 'x-amz-', hosting: 'path' })
    await wire.must({ method: 'PUT' })
  })
  afterAll(async () => {
    wire.close()
    await server.close()
  })

  it('never removes what is written beside it', async () => {
    for (let round = 0; round < 50; round++) {
      await wire.must({ method: 'PUT', key: 'a', body: 'four' })
      const [, removed] = await Promise.all([
        wire.must({ method: 'PUT', key: 'a', body: 'longer' }),
        wire.ask({ method: 'DELETE', key: 'a', vendor: { 'if-match-size': '4' } }),
      ])
      expect([204, 409, 412]).toContain(removed.status)
      expect((await wire.must({ method: 'GET', key: 'a' })).body.toString()).toBe('longer')
    }
  })
})
