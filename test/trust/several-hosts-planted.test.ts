/** The workers of the storm over several gateways notice what is wrong: changes behind their backs stand for what a server loses, tears or brings back. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { serve } from '../cli/holdfast-process.ts'
import { openWorkplace } from '../cli/workplace.ts'
import { seededRandom } from '../support/seeded.ts'
import { StormClient, textsOf } from './several-hosts-client.ts'
import { Churner, Lister, type Timeline } from './several-hosts-listings.ts'
import { Owner } from './several-hosts-owner.ts'
import { Registers } from './several-hosts-registers.ts'
import { buckets, type Tools, type Worker } from './several-hosts-tools.ts'
import { Versioner } from './several-hosts-versions.ts'

const place = openWorkplace('planted')
let client: StormClient
let tools: Tools
let violations: string[]

beforeEach(async () => {
  const server = await serve(['serve', '--data', place.path('data'), '--listen', '127.0.0.1:0'])
  client = new StormClient(() => [server.ready.endpoint], seededRandom(1))
  violations = []
  tools = { client, random: seededRandom(2), violate: (sentence) => violations.push(sentence) }
  for (const bucket of Object.values(buckets)) await client.must({ method: 'PUT', bucket })
  const body = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>'
  await client.must({ method: 'PUT', bucket: buckets.versions, query: { versioning: '' }, body })
})
afterEach(() => client.close())

async function worked<W extends Worker>(worker: W, turns: number): Promise<W> {
  for (let i = 0; i < turns; i++) await worker.turn()
  await worker.verify()
  expect(violations).toEqual([])
  return worker
}

it('a write that was lost, bytes that are not those that were written, and an object that came back', async () => {
  const owner = await worked(new Owner(tools, 'owner', 12), 150)
  const keys = [...owner.keys]
  const [lost, torn] = keys.filter(([, [state]]) => state !== undefined && state.size > 0)
  const [back] = keys.filter(([, [state]]) => state === undefined)
  if (lost === undefined || torn === undefined || back === undefined) throw new Error('there are keys of each kind')
  const address = (key: string) => ({ bucket: buckets.owned, key })
  await client.must({ method: 'DELETE', ...address(lost[0]) })
  await client.must({ method: 'PUT', ...address(torn[0]), body: 'x' })
  await client.must({ method: 'PUT', ...address(back[0]), body: 'x' })
  await client.must({ method: 'PUT', ...address('owner/stranger'), body: 'x' })
  await owner.verify()
  for (const [key] of [lost, torn, back]) expect(violations).toContainEqual(expect.stringMatching(`^${key} `))
  expect(violations).toContainEqual(expect.stringContaining('stranger'))
  expect(violations).toHaveLength(4)
})

it('a version that was lost, and one of a change that nobody made', async () => {
  const versioner = await worked(new Versioner(tools, 'versioner', 1), 60)
  const address = { bucket: buckets.versions, key: 'versioner/0' }
  const { body } = await client.must({ method: 'GET', bucket: address.bucket, query: { versions: '' } })
  const [versionId = ''] = textsOf(body, 'VersionId')
  await client.must({ method: 'DELETE', ...address, query: { versionId } })
  await client.must({ method: 'PUT', ...address, body: 'x' })
  await versioner.verify()
  expect(violations).toEqual(
    expect.arrayContaining([
      `version ${versionId} of versioner/0 is lost`,
      expect.stringContaining('of 0 unknown changes'),
    ]),
  )
})

it('a key that a listing leaves out, and one that it should', async () => {
  const timeline: Timeline = new Map()
  await worked(new Churner(tools, timeline, 'churner', 30), 60)
  const lister = await worked(new Lister(tools, timeline), 5)
  const present = [...timeline].flatMap(([key, changes]) => (changes.at(-1)?.exists === true ? [key] : []))
  const absent = [...timeline].flatMap(([key, changes]) => (changes.at(-1)?.exists === false ? [key] : []))
  await client.must({ method: 'DELETE', bucket: buckets.listed, key: present[0] ?? '' })
  await client.must({ method: 'PUT', bucket: buckets.listed, key: absent[0] ?? '', body: '' })
  await lister.verify()
  expect(violations.sort()).toEqual(
    [
      `a listing: ${present[0]} was there and is not listed`,
      `a listing: ${absent[0]} was not there and is listed`,
    ].sort(),
  )
})

it('a key whose value changes behind the backs of its clients', async () => {
  const registers = await worked(new Registers(tools, 'register'), 2)
  let going = true
  const changed = (): string => `register/${registers.histories}`
  const change = async (): Promise<void> => {
    while (going) await client.must({ method: 'PUT', bucket: buckets.registers, key: changed(), body: 'a stranger' })
  }
  const changing = change()
  // Whether the clients of one key ever see the stranger's value is chance.
  while (violations.length === 0 && registers.histories < 100) await registers.turn()
  going = false
  await changing
  const key = `register/${registers.histories - 1}`
  expect(violations).toEqual([expect.stringContaining(`${key} is no register`)])
})
