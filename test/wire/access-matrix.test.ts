/** Every operation x who asks: whoever is allowed is served, and nobody else. What is allowed follows from the declared permissions. */
import { beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { type Asked, type Asker, askersOf, type RunTimeKeys } from '../support/access-askers.ts'
import {
  allAsked,
  giveUserPolicy,
  guardBucket,
  narrowKeys,
  requestOf,
  runTimeKeys,
  takeUserPolicy,
  unguardBucket,
} from '../support/access-matrix.ts'
import { type OpenUpload, prepareAsks, type Succeeding } from '../support/wire-asks.ts'
import { exchange, type Reply, type Wire } from '../support/wire-client.ts'
import { matrixAsk, matrixServer, preparedWire } from '../support/wire-matrix.ts'

let aheadMs = 0
const clock = { ...systemClock, now: () => systemClock.now() + aheadMs }
const { keys, narrow } = narrowKeys()
const matrix = matrixServer({ keys, clock })
let runTime: RunTimeKeys
beforeAll(async () => {
  runTime = await runTimeKeys(matrix().server.identities, clock.now())
})
const prepared = preparedWire(matrix, { prefix: 'x-amz-', hosting: 'path' })

/** The code of an error, also of an entry of DeleteObjects; the answer to a HEAD has no body to say it in. */
async function answerOf({ status, headers, body }: Reply): Promise<string> {
  const [, code] = /<Code>(\w+)<\/Code>/.exec(body.toString()) ?? []
  if (code !== undefined || status < 400) return code ?? String(status)
  return (await matrix().server.logged(headers.get('x-amz-request-id') ?? '')).code
}

/** What a policy of the bucket makes of it: elsewhere there is none to be found. */
const withPolicy: Readonly<Record<string, string>> = { GetBucketPolicy: '200', GetBucketPolicyStatus: '200' }

function expected(asker: Asker, asked: Asked, { succeeds, code }: Succeeding): string {
  if (!asker.allowed(asked)) return asker.code ?? 'AccessDenied'
  const hasPolicy = asked.isOfBucket && asker.bucketPolicy !== undefined
  return (hasPolicy ? withPolicy[asked.name] : undefined) ?? code ?? String(succeeds)
}

/** Leaves the world as it was. */
async function answered(wire: Wire, open: OpenUpload, asker: Asker, asked: Asked): Promise<string> {
  const { server, agent } = matrix()
  const policy = asker.userPolicy?.(asked)
  if (policy !== undefined) await giveUserPolicy(server.identities, policy)
  await guardBucket(wire, asker, asked)
  aheadMs = asker.laterMs ?? 0
  try {
    const reply = await exchange(agent, wire.port, requestOf(matrixAsk(asked.name, open), asker, asked, wire))
    return await answerOf(reply)
  } finally {
    aheadMs = 0
    if (policy !== undefined) await takeUserPolicy(server.identities)
  }
}

/** S3 has them in other services: no policy here can name what they take. */
const ofOtherServices = ['ListDirectoryBuckets', 'CreateSession', 'RenameObject', 'WriteGetObjectResponse']

describe('each asker is answered as the declared permissions say', () => {
  it.each(allAsked.map((asked) => [asked.name, asked] as const))('%s', async (name, asked) => {
    const { wire } = prepared()
    let { open } = prepared()
    const askers = askersOf(asked, narrow, () => runTime).filter(
      ({ userPolicy }) => userPolicy === undefined || !ofOtherServices.includes(name),
    )
    const found: Record<string, string> = {}
    const wanted: Record<string, string> = {}
    for (const asker of askers) {
      const ask = matrixAsk(name, open)
      wanted[asker.who] = expected(asker, asked, ask)
      found[asker.who] = await answered(wire, open, asker, asked)
      if (ask.method === 'GET' || ask.method === 'HEAD' || found[asker.who] === 'AccessDenied') {
        await unguardBucket(wire, asker, asked)
      } else {
        await matrix().server.empty()
        open = await prepareAsks(wire)
      }
    }
    expect(found).toEqual(wanted)
  })
})
