/** Every command of `aws s3api`: it does what the support table says, and prints what it prints on S3. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { supportTable } from '../../src/contract/support-table.ts'
import { operations } from '../../src/operations/table.ts'
import { describeClient, type Workplace } from './client-tools.ts'
import { buckets } from './s3api/buckets.ts'
import { type Call, fill, fillWords, pick, type Scenario } from './s3api/call.ts'
import { documents } from './s3api/documents.ts'
import { encryption } from './s3api/encryption.ts'
import { files } from './s3api/files.ts'
import { listings } from './s3api/listings.ts'
import { locks } from './s3api/locks.ts'
import { type CliModel, cliName, presentName, readCliModel, shortestCommand } from './s3api/model.ts'
import { multipart } from './s3api/multipart.ts'
import { objects } from './s3api/objects.ts'
import { replication } from './s3api/replication.ts'
import { takingTurns } from './s3api/turns.ts'
import { versions } from './s3api/versions.ts'

/** A run of the CLI takes half a second of a core. */
const atOnceMax = 2
const timeout = 120_000

const scenarios: readonly Scenario[] = [
  buckets,
  objects,
  listings,
  versions,
  locks,
  multipart,
  encryption,
  documents,
  replication,
]

/** Commands for other services, which AWS has on endpoints of their own, by the service that they are signed for. */
const otherServices = new Map([
  ['ListDirectoryBuckets', 's3express'],
  ['WriteGetObjectResponse', 's3-object-lambda'],
])

const here = new Map(supportTable(operations).map((row) => [row.name, row.here]))

const model = readCliModel()
if (model === undefined && process.env.HOLDFAST_CI_CLIENTS === '1') throw new Error('aws should tell its commands')

describeClient('aws s3api', ['aws', '--version'], (at) => {
  if (model === undefined) it.skip('does what the support table says (the list of its commands is not found)')
  else describeCommands(at, model)
})

function describeCommands(at: Workplace, model: CliModel): void {
  const supportOf = (name: string) => here.get(presentName(model, name))
  const commands = Object.keys(model.operations)
  const own = commands.filter((name) => !otherServices.has(name))
  const working = own.filter((name) => supportOf(name) === 'works')
  const refused = own.filter((name) => supportOf(name) === 'refused')
  const unknown = own.filter((name) => supportOf(name) === undefined)
  const foreign = commands.filter((name) => otherServices.has(name))

  const calls = scenarios.flatMap((scenario) => scenario.calls)
  const isUsed = ({ operation, needs = [] }: Call): boolean =>
    [operation, ...needs].every((name) => working.includes(name))
  const called = new Set(calls.filter(isUsed).map(commandOf))

  const withTurn = takingTurns(atOnceMax)
  const aws = (...words: string[]): Promise<string> =>
    withTurn(() => at.client('aws', 's3api', '--output', 'json', ...words))
  const failing = (...words: string[]): Promise<string> =>
    // Some commands put words before the host, for other services; here they shall come to the server all the same.
    withTurn(() => at.failing('env', 'AWS_DISABLE_HOST_PREFIX_INJECTION=true', 'aws', 's3api', ...words))

  beforeAll(async () => {
    for (const [name, bytes] of Object.entries(files)) await writeFile(join(at.directory, name), bytes)
  })

  it('has commands that work, commands that are refused by name, and none that is unknown', () => {
    const counts = `${working.length} work, ${refused.length} are refused by name, ${unknown.length} are unknown`
    console.info(`of ${commands.length} commands ${counts}; ${foreign.length} are for other services`)
    expect(unknown).toEqual([])
  })

  it('has a call of every command and every waiter that works', () => {
    const waiters = Object.entries(model.waiters).filter(([, { operation }]) => working.includes(operation))
    const callable = [...working.map(cliName), ...waiters.map(([name]) => `wait ${cliName(name)}`)]
    expect(callable.filter((command) => !called.has(command))).toEqual([])
  })

  it('has no call of what nobody knows', () => {
    const named = new Set(calls.flatMap(({ operation, needs = [] }) => [operation, ...needs]))
    expect([...named].filter((name) => supportOf(name) === undefined)).toEqual([])
  })

  describe.concurrent('does as S3 does with', { timeout }, () => {
    for (const { name, calls } of scenarios) {
      describe.concurrent(name, () => {
        const kept = new Map<string, string>()
        for (const call of calls.filter(isUsed)) {
          it.sequential(`${commandOf(call)} ${call.about}`, () => check(call, kept))
        }
      })
    }
  })

  describe.concurrent('is refused', { timeout }, () => {
    const refusal = (name: string): Promise<string> =>
      failing(...shortestCommand(model, name, { Bucket: 'refused', Key: 'refused' }))

    it.each(refused)('%s, by name', async (name) => {
      expect(await refusal(name)).toMatch(`: ${presentName(model, name)} is not implemented`)
    })
    it.each(foreign)('%s, which is for another service', async (name) => {
      expect(await refusal(name)).toContain(`incorrect service "${otherServices.get(name)}"`)
    })
  })

  async function check(call: Call, kept: Map<string, string>): Promise<void> {
    const words = [...commandOf(call).split(' '), ...fillWords(call.words, kept)]
    if (call.fails !== undefined) {
      expect(await failing(...words)).toContain(`(${call.fails})`)
      return
    }
    const printed = await aws(...words)
    const answer = printed.trim() === '' ? undefined : JSON.parse(printed)
    expect(answer).toEqual(fill(call.prints, kept))
    for (const [name, way] of Object.entries(call.keeps ?? {})) kept.set(name, pick(answer, way))
    if (call.saves === undefined) return
    expect(await readFile(join(at.directory, words.at(-1) ?? ''), 'utf8')).toBe(call.saves)
  }
}

const commandOf = ({ operation, command = cliName(operation) }: Call): string => command
