/** Every operation x temporary keys: those of the owner may do it, and those that are narrowed, expired or without their token may not. */
import { Agent } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operations } from '../../src/operations/table.ts'
import { openStsWorld, type StsWorld, type TemporaryKey } from '../support/sts-world.ts'
import type { Ask, Reply } from '../support/wire-client.ts'
import { matrixAsk, preparedWire } from '../support/wire-matrix.ts'

const nothingOfS3 = JSON.stringify({
  Version: '2012-10-17',
  Statement: { Effect: 'Allow', Action: 'sts:*', Resource: '*' },
})

let world: StsWorld
let keys: Record<'owner' | 'narrowed' | 'expired', TemporaryKey>
const agent = new Agent({ keepAlive: true })
beforeAll(async () => {
  world = await openStsWorld()
  const expired = await world.keysOf({ Action: 'AssumeRole', DurationSeconds: '900' })
  keys = {
    owner: await world.keysOf({ Action: 'GetSessionToken' }),
    narrowed: await world.keysOf({ Action: 'AssumeRole', Policy: nothingOfS3 }),
    expired,
  }
})
afterAll(async () => {
  agent.destroy()
  await world.close()
})

const codeOf = ({ body }: Reply): string => /<Code>([\w.]+)<\/Code>/.exec(body.toString())?.[1] ?? ''

function by({ sessionToken, ...signedBy }: TemporaryKey, ask: Ask): Ask {
  return { ...ask, signedBy, vendor: { ...ask.vendor, 'security-token': sessionToken } }
}

const rows = operations.map(({ name, method }) => ({ name, isHead: method === 'HEAD' }))

describe('keys that have not expired', () => {
  const prepared = preparedWire(() => ({ server: world, agent }), { prefix: 'x-amz-', hosting: 'path' })

  it.each(rows)('$name is done for keys of the owner', async ({ name }) => {
    const { wire, open } = prepared()
    const ask = matrixAsk(name, open)
    expect((await wire.ask(by(keys.owner, ask))).status).toBe(ask.succeeds)
  })

  it.each(rows)('$name is refused to keys that are narrowed', async ({ name, isHead }) => {
    const { wire, open } = prepared()
    const reply = await wire.ask(by(keys.narrowed, matrixAsk(name, open)))
    // It answers for each key by itself.
    const status = name === 'DeleteObjects' ? 200 : 403
    expect([reply.status, isHead ? 'AccessDenied' : codeOf(reply)]).toEqual([status, 'AccessDenied'])
  })

  it.each(rows)('$name is refused to keys without their token', async ({ name, isHead }) => {
    const { wire, open } = prepared()
    const { sessionToken: _token, ...signedBy } = keys.owner
    const reply = await wire.ask({ ...matrixAsk(name, open), signedBy })
    expect([reply.status, isHead ? 'InvalidAccessKeyId' : codeOf(reply)]).toEqual([403, 'InvalidAccessKeyId'])
  })
})

describe('expired keys', () => {
  beforeAll(() => world.putForward(15 * 60_000))

  it.each(rows)('are refused $name', async ({ name, isHead }) => {
    const ask = by(keys.expired, matrixAsk(name, { uploadId: 'x', etag: 'x' }))
    const reply = await world.wire.ask({ ...ask, signedAtMs: world.now() })
    expect([reply.status, isHead ? 'ExpiredToken' : codeOf(reply)]).toEqual([400, 'ExpiredToken'])
  })
})
