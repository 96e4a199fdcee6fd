/** Over which connections operations are told that customers' keys may come. Over TLS: tls.test.ts. */
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { sign } from '../support/signer.ts'
import { connectionOperation } from './connection-operation.ts'
import { type Fixture, type FixtureOptions, key, startFixture, wireBytes } from './fixture.ts'
import { type Giver, giveConnections } from './given-connections.ts'

let fixture: Fixture
const start = async (options: FixtureOptions = {}): Promise<void> => {
  fixture = await startFixture([connectionOperation], options)
}
afterEach(() => fixture.close())

it('those that stay on this machine, whose URLs are http', async () => {
  await start()
  const { body } = await fixture.send({ path: '/b/k' })
  expect(body.toString()).toContain(`<Url>http://${fixture.host}/b/k</Url>`)
  expect(body.toString()).toContain('<CustomerKeys>true</CustomerKeys>')
})

it.each([
  ['not over others', {}, false],
  ['over others when the operator allows it', { allowCustomerKeysOverHttp: true }, true],
])('%s, on every request of the connection', async (_what, options, allowed) => {
  await start(options)
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-keys-'))
  let giver: Giver | undefined
  try {
    // A connection whose ends have no address that is known to be loopback, which works on any machine.
    const path = join(directory, 'socket')
    giver = await giveConnections(fixture.server, { path })
    const socket = connect(path).setEncoding('latin1')
    const get = wireBytes(sign({ method: 'GET', host: 'a', path: '/b/k' }, { key }))
    for (let sent = 0; sent < 2; sent++) {
      socket.write(get)
      const [answer] = await once(socket, 'data')
      expect(answer).toContain(`<CustomerKeys>${allowed}</CustomerKeys>`)
    }
    socket.destroy()
  } finally {
    giver?.close()
    await rm(directory, { recursive: true })
  }
})
