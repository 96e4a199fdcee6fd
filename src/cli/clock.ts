/** `holdfast clock`: shows the time that Object Lock goes by, and lets an operator vouch for the clock of the machine, or of the metadata database. */
import { confirmLockClock, type LockClockState, lockClockState } from '../commits/lock-clock.ts'
import { audited } from './audited-command.ts'
import type { Invocation } from './command.ts'
import { withMetadata } from './stopped-data.ts'

export async function clock(invocation: Invocation): Promise<number> {
  const { extra, json, print } = invocation
  const confirm = { operation: 'ConfirmLockClock', target: {} }
  const state = await (extra.confirm === true
    ? audited(invocation, confirm, () => withMetadata(invocation, confirmLockClock))
    : withMetadata(invocation, lockClockState))
  if (json) print(JSON.stringify({ event: 'clock', ...state }))
  else for (const line of stateLines(state, invocation.configuration.metadata !== undefined)) print(line)
  return 0
}

/** `shared`: the clock is that of the metadata database. */
function stateLines({ trustedMs, machineMs, awaitsConfirmation }: LockClockState, shared: boolean): string[] {
  const says = shared ? 'the database says' : 'the machine says'
  const lines = [
    `locks are judged by  ${new Date(trustedMs).toISOString()}`,
    `${says.padEnd(21)}${new Date(machineMs).toISOString()}`,
  ]
  if (awaitsConfirmation) {
    const named = shared ? "The database's clock" : "The machine's clock"
    lines.push(`${named} is too far ahead to be believed. If it is right, confirm it: holdfast clock --confirm`)
  }
  return lines
}
