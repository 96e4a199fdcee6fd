// biome-ignore-all lint/suspicious/noTemplateCurlyInString: policy variables look like placeholders
/**
 * Random policies and requests, decided here and by an evaluator that is not written here: @cloud-copilot/iam-simulate. That is free software under the
 * AGPL; this test runs it unchanged as a tool, and nothing of it is part of what is published.
 */
import { runSimulation, type Simulation } from '@cloud-copilot/iam-simulate'
import { expect, it } from 'vitest'
import { type AccessRequest, accountOf } from '../../src/access/access-request.ts'
import { compilePolicy } from '../../src/access/compile-policy.ts'
import type { CompiledPolicy } from '../../src/access/compiled-policy.ts'
import { evaluatedKeys } from '../../src/access/condition-keys.ts'
import { decide } from '../../src/access/decide.ts'
import { noPublicAccessBlock } from '../../src/access/grants.ts'
import { parsePolicy } from '../../src/access/parsing/parse-policy.ts'
import { contextValue } from '../../src/access/principal-values.ts'
import { S3Error } from '../../src/errors.ts'
import { seededRandom } from '../support/seeded.ts'
import {
  bucket,
  operatorNames,
  ownerId,
  type Pair,
  type Policy,
  PolicyWorld,
  type Statement,
  tagged,
} from './policy-simulator-world.ts'

const scale = Number(process.env.HOLDFAST_TRUST_SCALE ?? '1')
const isWhole = scale >= 10
const pairs = isWhole ? 10_000 * scale : 1000
/** Of each operator and key, where the whole form runs. */
const decidedMin = isWhole ? 200 : 0
/** The other evaluator takes milliseconds for each. */
const timeoutMs = pairs * 60
const everything: Policy = { Version: '2012-10-17', Statement: [{ Effect: 'Allow', Action: ['*'], Resource: ['*'] }] }

const identityOf = (policy: Policy): CompiledPolicy =>
  compilePolicy(parsePolicy(JSON.stringify(policy), { kind: 'identity' }))

function requestOf({ principal, action, resource, values }: Pair): AccessRequest {
  return { principal, action, resource, value: (key) => values[key] }
}

function decidedHere(pair: Pair): boolean {
  return decide({
    request: requestOf(pair),
    identityPolicies:
      pair.principal.kind === 'account'
        ? undefined
        : pair.identity.map((policy) => ({ name: 'identity', policy: identityOf(policy) })),
    sessionPolicy: pair.session === undefined ? undefined : identityOf(pair.session),
    bucket: {
      owner: ownerId,
      ownership: 'BucketOwnerEnforced',
      publicAccessBlock: noPublicAccessBlock,
      policy:
        pair.bucket === undefined
          ? undefined
          : compilePolicy(parsePolicy(JSON.stringify(pair.bucket), { kind: 'bucket', bucket, stored: true })),
    },
  }).allowed
}

async function decidedThere(pair: Pair): Promise<boolean> {
  if (!(await simulated(pair, pair.principal.kind === 'account' ? [everything] : pair.identity, pair.bucket)))
    return false
  // It takes session policies only for roles. They can only narrow what is allowed otherwise.
  return pair.session === undefined || (await simulated(pair, [pair.session], undefined, true))
}

async function simulated(
  pair: Pair,
  identity: readonly Policy[],
  resourcePolicy: Policy | undefined,
  inside = false,
): Promise<boolean> {
  const request = requestOf(pair)
  const contextVariables: Record<string, string | string[]> = {}
  for (const key of evaluatedKeys.map(tagged)) {
    const value = contextValue(request, key)
    if (value !== undefined) contextVariables[key] = typeof value === 'string' ? value : [...value]
  }
  const accountId = (inside ? accountOf(pair.principal) : undefined) ?? ownerId
  const principal =
    pair.principal.kind === 'anonymous'
      ? ({ type: 'Anonymous' } as const)
      : String(contextValue(request, 'aws:PrincipalArn'))
  const simulation: Simulation = {
    request: { principal, action: pair.action, resource: { resource: pair.resource, accountId }, contextVariables },
    identityPolicies: identity.map((policy, i) => ({ name: `${i}`, policy })),
    serviceControlPolicies: [],
    resourceControlPolicies: [],
    resourcePolicy,
  }
  const result = await runSimulation(simulation, {})
  if (result.resultType === 'error') throw new Error(JSON.stringify({ ...result.errors, simulation }))
  return result.overallResult === 'Allowed'
}

type Conditions = Record<string, Record<string, readonly string[]>>

/** The same statement in other words, by AWS's documentation. */
type Rewrite = (statement: Statement, pair: Pair, version: string) => Statement

/** Other values for a condition. `undefined` leaves the condition out, since it holds. */
type RewriteValues = (
  operator: string,
  key: string,
  values: readonly string[],
  pair: Pair,
) => readonly string[] | undefined

const inConditions =
  (rewrite: RewriteValues): Rewrite =>
  (statement, pair) => {
    const conditions: Conditions = {}
    for (const [operator, keys] of Object.entries(statement.Condition ?? {}))
      for (const [key, values] of Object.entries(keys)) {
        const left = rewrite(operator, key, values, pair)
        if (left !== undefined) conditions[operator] = { ...conditions[operator], [key]: left }
      }
    const { Condition: _, ...rest } = statement
    return Object.keys(conditions).length === 0 ? rest : { ...rest, Condition: conditions }
  }

const isOfFamily = (address: string, other: string): boolean => address.includes(':') === other.includes(':')

/**
 * Where the two differ, and why. Each is a rewrite of policies into other words for the same, after which the other evaluator must answer as we do for
 * the words as they were.
 */
const explanations: readonly (readonly [why: string, rewrite: Rewrite])[] = [
  [
    'it takes 0.0.0.0/0 for no address, where that is every address of IPv4',
    inConditions((operator, _, values) =>
      operator.includes('Ip')
        ? values.flatMap((of) => (of === '0.0.0.0/0' ? ['0.0.0.0/1', '128.0.0.0/1'] : [of]))
        : values,
    ),
  ],
  [
    'it takes an address for neither in nor outside of a range of the other family, where that is outside',
    inConditions((operator, key, values, { values: given }) => {
      const address = given[key]
      if (!operator.includes('NotIp') || typeof address !== 'string') return values
      const same = values.filter((of) => isOfFamily(of, address))
      return same.length === 0 ? undefined : same
    }),
  ],
  [
    'it lets a negated operator fail on a variable that has no value, where nothing equals what has no value',
    inConditions((operator, _, values, pair) => {
      if (!operator.includes('Not')) return values
      const resolved = values.filter((value) => !isUnresolved(value, pair))
      return resolved.length === 0 ? undefined : resolved
    }),
  ],
  [
    'it lets ForAnyValue fail on a missing key in spite of IfExists, which holds of a missing key',
    inConditions((operator, key, values, pair) =>
      /^ForAnyValue.*IfExists$/.test(operator) && contextValue(requestOf(pair), key) === undefined ? undefined : values,
    ),
  ],
  [
    'it has variables in policies of 2008-10-17, where they are text',
    (statement, _, version) =>
      version === '2012-10-17'
        ? statement
        : // Spelled so that the newer version means the text, too.
          (JSON.parse(JSON.stringify(statement).replaceAll('${', '${$}{')) as Statement),
  ],
  [
    'it lets NotPrincipal with Deny spare a user whose account is not named beside it, or who is not named beside its account',
    (statement, { principal }) => {
      const named = JSON.stringify(statement.NotPrincipal ?? '')
      if (statement.Effect === 'Allow' || principal.kind !== 'user' || named === '""') return statement
      const isSpared = named.includes(`:user/${principal.name}"`) && named.includes(`"${principal.accountId}"`)
      return isSpared ? statement : { ...statement, NotPrincipal: { AWS: ['arn:aws:iam::999900001111:user/nobody'] } }
    },
  ],
]

function isUnresolved(value: string, pair: Pair): boolean {
  const [, key] = /^\$\{([^,}]+)\}$/.exec(value) ?? []
  return key !== undefined && typeof contextValue(requestOf(pair), key) !== 'string'
}

function rewritten(pair: Pair, rewrites: readonly Rewrite[]): Pair {
  const ofPolicy = (policy: Policy): Policy => ({
    ...policy,
    Statement: policy.Statement.map((statement) =>
      rewrites.reduce((of, rewrite) => rewrite(of, pair, policy.Version), statement),
    ),
  })
  return {
    ...pair,
    identity: pair.identity.map(ofPolicy),
    session: pair.session && ofPolicy(pair.session),
    bucket: pair.bucket && ofPolicy(pair.bucket),
  }
}

/** Why the other evaluator differs. `undefined`: nobody knows. */
async function explain(pair: Pair, here: boolean): Promise<string | undefined> {
  for (const [why, rewrite] of explanations) if ((await decidedThere(rewritten(pair, [rewrite]))) === here) return why
  const all = explanations.map(([, rewrite]) => rewrite)
  return (await decidedThere(rewritten(pair, all))) === here ? 'several of these at once' : undefined
}

it(
  'decides as an evaluator that is not written here',
  async () => {
    const world = new PolicyWorld(seededRandom(13))
    const unexplained: unknown[] = []
    const explained = new Map<string, number>()
    const decides = new Map<string, number>()
    let allowed = 0
    for (let i = 0; i < pairs; i++) {
      const pair = acceptedPair(world)
      const here = decidedHere(pair)
      if (here) allowed++
      for (const [operator, key, without] of withoutEachCondition(pair)) {
        if (decidedHere(without) === here) continue
        const name = operator.replace(/^.*:|IfExists$/g, '')
        for (const what of [name, key]) decides.set(what, (decides.get(what) ?? 0) + 1)
      }
      if ((await decidedThere(pair)) === here) continue
      const why = await explain(pair, here)
      if (why === undefined) unexplained.push({ here, ...pair })
      else explained.set(why, (explained.get(why) ?? 0) + 1)
    }
    const seldom = [...operatorNames, ...evaluatedKeys.map(tagged)].filter((of) => (decides.get(of) ?? 0) < decidedMin)
    if (isWhole) console.info({ pairs, allowed, explained, unexplained: unexplained.length, seldom })
    expect(unexplained.slice(0, 3)).toEqual([])
    expect(allowed).toBeGreaterThan(pairs / 3)
    expect(seldom).toEqual([])
  },
  timeoutMs,
)

/** What S3 would refuse to store, since its statements apply to nothing, is no policy to compare. */
function acceptedPair(world: PolicyWorld): Pair {
  for (;;) {
    const pair = world.pair()
    try {
      decidedHere(pair)
      if (!isOwnershipOfDocument(pair)) return pair
    } catch (error) {
      if (!(error instanceof S3Error) || !/apply to|has invalid action|needs the effect Deny/.test(error.message))
        throw error
    }
  }
}

/** The other evaluator takes the key for absent there. S3 has it, as a suite shows that was run against S3. */
const isOwnershipOfDocument = (pair: Pair): boolean =>
  pair.action.toLowerCase() === 's3:putbucketownershipcontrols' && 's3:x-amz-object-ownership' in pair.values

/** The same pair, without one of its conditions. */
function* withoutEachCondition(pair: Pair): Generator<[operator: string, key: string, without: Pair]> {
  const all = [...pair.identity, pair.session, pair.bucket].flatMap((policy) => policy?.Statement ?? [])
  for (const statement of all) {
    const conditions = statement.Condition ?? {}
    for (const [operator, keys] of Object.entries(conditions))
      for (const key of Object.keys(keys)) {
        const { [key]: _, ...others } = keys
        statement.Condition = { ...conditions, [operator]: others }
        yield [operator, key, pair]
        statement.Condition = conditions
      }
  }
}
