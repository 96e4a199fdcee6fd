/** DeleteObject under a condition, while another client writes the object. */
import { describe, expect, it } from 'vitest'
import { plainStyle, wireServer, wireTo } from '../support/wire-fixture.ts'

describe('a delete that knows the size', () => {
  const server = wireServer()
  const wire = wireTo(server, plainStyle, async (wire) => {
    await wire.must({ method: 'PUT' })
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
