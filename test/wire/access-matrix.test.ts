/** Every operation x who asks: whoever is allowed is served, and nobody else. What is allowed follows from the declared permissions. */
import { Agent } from 'node:http'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Backend } from '../../src/commits/backend.ts'
import { known } from '../../src/known.ts'
import { changeBucket } from '../../src/objects/buckets.ts'
import { type Asked, type Asker, askersOf, type NarrowKeys, type RunTimeKeys } from '../support/access-askers.ts'
import {
  allAsked,
  allBypassing,
  giveUserPolicy,
  guardBucket,
  narrowKeys,
  requestOf,
  runTimeKeys,
  takeUserPolicy,
} from '../support/access-matrix.ts'
import type { KeptState } from '../support/kept-state.ts'
import { openStsWorld, type StsWorld } from '../support/sts-world.ts'
import { type KeptAsks, keepAsks, type Succeeding } from '../support/wire-asks.ts'
import { md5Base64 } from '../support/wire-checksums.ts'
import { exchange, type Reply, type Wire } from '../support/wire-client.ts'
import { matrixAsk } from '../support/wire-matrix.ts'

const ordinary = narrowKeys(allAsked, 'ORDINARY')
const bypassing = narrowKeys(allBypassing, 'BYPASSING')
const agent = new Agent({ keepAlive: true })
let world: StsWorld
let runTime: RunTimeKeys
let backend: Backend
beforeAll(async () => {
  const over = (made: Backend): Backend => {
    backend = made
    return made
  }
  world = await openStsWorld({ keys: [...ordinary.keys, ...bypassing.keys], over })
  runTime = await runTimeKeys(world)
})
// What is set for a whole account outlasts its buckets.
afterEach(async () => {
  const { accounts } = world.identities
  for (const { id, publicAccessBlock } of await accounts.list())
    if (publicAccessBlock !== undefined) await accounts.setPublicAccessBlock(id, undefined)
})
afterAll(async () => {
  agent.destroy()
  await world.close()
  expect(world.unexpected).toEqual([])
})

/** The code of an error, also of an entry of DeleteObjects; the answer to a HEAD has no body to say it in. */
async function answerOf({ status, headers, body }: Reply): Promise<string> {
  const [, code] = /<Code>(\w+)<\/Code>/.exec(body.toString()) ?? []
  if (code !== undefined || status < 400) return code ?? String(status)
  return (await world.logged(headers.get('x-amz-request-id') ?? '')).code
}

/** What a policy of the bucket makes of it: elsewhere there is none to be found. */
const withPolicy: Readonly<Record<string, string>> = { GetBucketPolicy: '200', GetBucketPolicyStatus: '200' }

function expected(asker: Asker, asked: Asked, { succeeds, code }: Succeeding): string {
  if (!asker.allowed(asked)) return asker.code ?? 'AccessDenied'
  const hasPolicy = asked.isOfBucket && asker.bucketPolicy !== undefined
  return (hasPolicy ? withPolicy[asked.name] : undefined) ?? code ?? String(succeeds)
}

/** What each asker is answered, and what each must be. Each finds what is stored in `state`. */
async function everyAsker(asked: Asked, narrow: NarrowKeys, state: KeptState, sent: Succeeding) {
  const found: Record<string, string> = {}
  const wanted: Record<string, string> = {}
  for (const asker of askersOf(asked, narrow, () => runTime)) {
    if (namesActions(asker) && ofOtherServices.includes(asked.name)) continue
    await state.restore()
    found[asker.who] = await answered(sent, asker, asked)
    wanted[asker.who] = expected(asker, asked, sent)
  }
  return { found, wanted }
}

async function answered(ask: Succeeding, asker: Asker, asked: Asked): Promise<string> {
  const { identities, wire, port } = world
  const policy = asker.userPolicy?.(asked)
  if (policy !== undefined) await giveUserPolicy(identities, policy)
  await guardBucket(wire, asker, asked)
  if (asker.isUnconfirmed === true && asked.isOfBucket) await leaveUnconfirmed(asked)
  const request = await requestOf(ask, asker, asked, world)
  world.putForward(asker.laterMs ?? 0)
  try {
    return await answerOf(await exchange(agent, port, request))
  } finally {
    world.putForward(-(asker.laterMs ?? 0))
    if (policy !== undefined) await takeUserPolicy(identities)
  }
}

async function leaveUnconfirmed({ needs: [need] }: Asked): Promise<void> {
  const scope = { name: known(need).bucket, admit: () => {} }
  await changeBucket(backend, scope, (bucket) => ({ ...bucket, unconfirmed: true }))
}

const namesActions = ({ userPolicy, sessionPolicy }: Asker): boolean =>
  userPolicy !== undefined || sessionPolicy !== undefined

/** S3 has them in other services: no policy here can name what they take. */
const ofOtherServices = ['ListDirectoryBuckets', 'CreateSession', 'RenameObject', 'WriteGetObjectResponse']

const named = (all: readonly Asked[]) => all.map((asked) => [asked.name, asked] as const)

describe('each asker is answered as the declared permissions say', () => {
  let kept: KeptAsks
  beforeAll(async () => {
    kept = await keepAsks(world, world.wire)
  })

  it.each(named(allAsked))('%s', async (name, asked) => {
    const { found, wanted } = await everyAsker(asked, ordinary.narrow, kept.state, matrixAsk(name, kept.open))
    expect(found).toEqual(wanted)
  })
})

const soon = new Date(Date.now() + 3_600_000).toISOString()
const earlier = `<Retention><Mode>GOVERNANCE</Mode><RetainUntilDate>${soon}</RetainUntilDate></Retention>`
const later = { 'object-lock-mode': 'GOVERNANCE', 'object-lock-retain-until-date': '2099-01-01T00:00:00.000Z' }
const governed = { bucket: 'locked', key: 'governed' }
const overLock = { 'bypass-governance-retention': 'true' }

/** Each would be refused without the bypass. */
const overLocks: Readonly<Record<string, (versionId: string) => Succeeding>> = {
  DeleteObject: (versionId) => ({
    ...governed,
    method: 'DELETE',
    query: { versionId },
    vendor: overLock,
    succeeds: 204,
  }),
  DeleteObjects: (versionId) => {
    const body = `<Delete><Object><Key>governed</Key><VersionId>${versionId}</VersionId></Object></Delete>`
    const headers = { 'Content-MD5': md5Base64(body) }
    return { bucket: 'locked', method: 'POST', query: { delete: '' }, headers, vendor: overLock, body, succeeds: 200 }
  },
  PutObjectRetention: () => ({
    ...governed,
    method: 'PUT',
    query: { retention: '' },
    headers: { 'Content-MD5': md5Base64(earlier) },
    vendor: overLock,
    body: earlier,
    succeeds: 200,
  }),
}

async function prepareLock(wire: Wire): Promise<string> {
  await wire.must({ method: 'PUT', bucket: 'locked', vendor: { 'bucket-object-lock-enabled': 'true' } })
  const put = {
    ...governed,
    method: 'PUT',
    body: 'x',
    headers: { 'Content-MD5': md5Base64('x') },
    vendor: later,
  } as const
  const { headers } = await wire.must(put)
  return headers.get('x-amz-version-id') ?? ''
}

describe('each asker that passes over a lock is answered as the permission for that says', () => {
  let state: KeptState
  let versionId: string
  beforeAll(async () => {
    await world.empty()
    versionId = await prepareLock(world.wire)
    state = await world.keep()
  })

  it.each(named(allBypassing))('%s', async (name, asked) => {
    const ask = overLocks[name]
    if (ask === undefined) throw new Error(`${name} is not in the matrix`)
    const { found, wanted } = await everyAsker(asked, bypassing.narrow, state, ask(versionId))
    expect(found).toEqual(wanted)
  })
})
