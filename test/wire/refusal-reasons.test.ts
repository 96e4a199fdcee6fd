/** What decided that a request may not do what it asks: in the log, and never in the answer. */
import { expect, it } from 'vitest'
import { plainStyle, wireServer, wireTo } from '../support/wire-fixture.ts'
import { otherKey } from '../support/wire-server.ts'

const policy = JSON.stringify({
  Version: '2012-10-17',
  Statement: [
    { Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: 'arn:aws:s3:::wire/*' },
    {
      Sid: 'KeepSecrets',
      Effect: 'Deny',
      Principal: '*',
      Action: 's3:GetObject',
      Resource: 'arn:aws:s3:::wire/secret',
    },
  ],
})

const server = wireServer()
const wire = wireTo(server, plainStyle, async (wire) => {
  await wire.must({ method: 'PUT' })
  await wire.must({ method: 'PUT', key: 'secret', body: 'secret' })
  await wire.must({ method: 'PUT', query: { policy: '' }, body: policy })
})

it.each([
  ['nobody, by a statement', { method: 'GET', key: 'secret', unsigned: true }, 'KeepSecrets'],
  ['another account, by a statement', { method: 'GET', key: 'secret', signedBy: otherKey }, 'KeepSecrets'],
  ['the owner, by a statement', { method: 'GET', key: 'secret' }, 'KeepSecrets'],
  ['nobody, by the lack of one', { method: 'DELETE', key: 'secret', unsigned: true }, 'allows'],
  ['who may not list, of what is missing', { method: 'GET', key: 'none', unsigned: true }, 'allows'],
] as const)('is told of %s', async (_who, ask, reason) => {
  const reply = await wire.ask(ask)
  expect(reply.status).toBe(403)
  const line = await server.logged(reply.headers.get('x-amz-request-id') ?? '')
  expect(line.reason).toContain(reason)
  expect(reply.body.toString()).not.toContain(line.reason)
})

it('leaves the answer to a signed request to say in S3’s words what was refused, and to an unsigned one nothing', async () => {
  const message = async (ask: Parameters<typeof wire.ask>[0]): Promise<string | undefined> =>
    /<Message>(.*)<\/Message>/.exec((await wire.ask(ask)).body.toString())?.[1]
  expect(await message({ method: 'GET', key: 'secret', signedBy: otherKey })).toBe(
    'User: arn:aws:iam::other:root is not authorized to perform: s3:GetObject on resource: "arn:aws:s3:::wire/secret"',
  )
  expect(await message({ method: 'GET', key: 'secret', unsigned: true })).toBe('Access Denied')
})
