/** `holdfast clock`: shows the time that Object Lock goes by, and lets an operator vouch for the machine's clock. */
import { confirmLockClock, type LockClockState, lockClockState } from '../commits/lock-clock.ts'
import type { Invocation } from './command.ts'
import { withMetadata } from './stopped-data.ts'

export async function clock(invocation: Invocation): Promise<number> {
  const { extra, json, print } = invocation
  const state = await withMetadata(invocation, (metadata) =>
    extra.confirm === true ? confirmLockClock(metadata) : lockClockState(metadata),
  )
  if (json) print(JSON.stringify({ event: 'clock', ...state }))
  else for (const line of stateLines(state)) print(line)
  return 0
}

function stateLines({ trustedMs, machineMs, awaitsConfirmation }: LockClockState): string[] {
  const lines = [
    `locks are judged by  ${new Date(trustedMs).toISOString()}`,
    `the machine says     ${new Date(machineMs).toISOString()}`,
  ]
  if (awaitsConfirmation) {
    lines.push(
      "The machine's clock is too far ahead to be believed. If it is right, confirm it: holdfast clock --confirm",
    )
  }
  return lines
}
