/** Makes one attempt on a locked version, and says in sentences what of it broke the rule. */
import type { Principal } from '../../src/auth/principal.ts'
import { ShardDamaged } from '../../src/stores/shard-store.ts'
import { owner } from './direct-client.ts'
import { type Attempt, type Consequence, jobs } from './lock-matrix-attempts.ts'
import { type Actor, actorsFor, key, type LockState, type Place, Unreadable, World } from './lock-matrix-world.ts'
import { isProtected } from './lock-rule.ts'

export interface Cell {
  state: LockState
  place: Place
  attempt: Attempt
  actor: Actor
  /** The request asks to bypass governance. */
  bypass: boolean
}

const cellName = ({ state, place, attempt, actor, bypass }: Cell): string =>
  `${attempt.name} by ${actor.name}${bypass ? ', bypassing governance' : ''} (${state.name}, ${place})`

const nobody: Actor = { name: 'the server', principal: owner, owns: true, may: () => true }

/** The cells of one lock at one place: each attempt by each who may try, with and without bypass. Jobs ask nobody. */
export function* cellsOf(state: LockState, place: Place, attempts: readonly Attempt[]): Generator<Cell> {
  for (const attempt of attempts) {
    if (attempt.only !== undefined && attempt.only !== place) continue
    const { permission } = attempt
    if (permission === undefined) yield { state, place, attempt, actor: nobody, bypass: false }
    else
      for (const actor of actorsFor(permission))
        for (const bypass of [false, true]) yield { state, place, attempt, actor, bypass }
  }
}

/**
 * What an attempt must lead to, by whoever makes it. "To use the header" of the bypass "you must have the s3:BypassGovernanceRetention permission": who asks
 * without it is refused, whatever the lock of the version that is named.
 */
export function consequenceOf(world: World, { attempt, actor, bypass }: Omit<Cell, 'state' | 'place'>): Consequence {
  const asksBypass = bypass && attempt.takesBypass === true
  const permitted = attempt.permission === undefined || actor.may(attempt.permission)
  if (!actor.owns || !permitted) return { code: 'AccessDenied' }
  if (asksBypass && !actor.may('s3:BypassGovernanceRetention')) return { code: 'AccessDenied' }
  return attempt.rule(world, asksBypass)
}

/** Makes the attempt; the world's lock is afterwards what the rule says. Resolves with what was wrong. */
export async function violationsOf(world: World, cell: Omit<Cell, 'state' | 'place'>): Promise<string[]> {
  const expected = consequenceOf(world, cell)
  const principal: Principal = cell.actor.principal
  const code = await cell.attempt.make(world, principal, cell.bypass)
  world.lock = expected.lock ?? world.lock
  const violations = code === expected.code ? [] : [`answered ${code}, must be ${expected.code}`]
  violations.push(...(await stateViolations(world, expected.removed === true)))
  return violations
}

/** What is wrong with what is there: the version, byte for byte, and its lock, to the millisecond. */
export async function stateViolations(world: World, removed: boolean): Promise<string[]> {
  const found = await world.find().catch((error: unknown) => {
    if (error instanceof ShardDamaged) return new Unreadable('the bytes of the version are gone')
    if (error instanceof Unreadable) return error
    throw error
  })
  if (found instanceof Unreadable) return [found.message]
  const { bytes, lock } = found
  if (bytes === undefined) return removed ? [] : ['the version is gone']
  if (removed) return ['the version is still there']
  const violations: string[] = []
  if (!bytes.equals(world.bytes)) violations.push('the version has other bytes')
  const [is, must] = [lock, world.lock].map(({ retention, hold }) => JSON.stringify([retention, hold]))
  if (is !== must) violations.push(`the lock is ${is}, must be ${must}`)
  return violations
}

/** All jobs take what they may; and what the rule still protects must withstand its owner's DELETE. */
export async function aftermathViolations(world: World): Promise<string[]> {
  for (const { make } of jobs) await make(world, owner, false)
  const violations = await stateViolations(world, false)
  if (!isProtected(world.lock, world.believedMs, false)) return violations
  const { code } = await world.client.ask('DeleteObject', { key }, { versionId: world.versionId })
  if (code !== 'AccessDenied') violations.push(`DELETE of the version was answered ${code}`)
  return [...violations, ...(await stateViolations(world, false))]
}

/** One cell, in a world of its own. */
export async function runCell(cell: Cell, world = new World()): Promise<string[]> {
  await world.build(cell.state, cell.place)
  const { removed } = consequenceOf(world, cell)
  const violations = await violationsOf(world, cell)
  if (removed !== true && violations.length === 0) violations.push(...(await aftermathViolations(world)))
  return violations.map((violation) => `${cellName(cell)}: ${violation}`)
}
