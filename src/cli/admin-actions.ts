/** Runs commands that have actions: `holdfast users add NAME`. Finds the action, counts its words, asks the server, and prints the answer. */

import type { z } from 'zod'
import { ConfigurationError } from '../config/configuration-error.ts'
import type { AdminRequest } from './admin-client.ts'
import { askAdmin } from './admin-client.ts'
import { adminTarget } from './admin-target.ts'
import type { ExtraFlag, Invocation } from './command.ts'

/** The result of an action. */
export interface Shown {
  /** JSON for programs. */
  event: Record<string, unknown>
  /** Text for people. */
  lines: readonly string[]
}

export interface Asking extends Invocation {
  /** Id of the account that the action is about. */
  account: string
  /** The value of one of the command's flags. When the flag is given several times, the last value counts. */
  flag(name: string): string | undefined
  /** Rejects with `AdminRefused`. */
  ask<T extends z.ZodType>(request: AdminRequest, answered: T): Promise<z.output<T>>
}

export interface Action {
  /** Placeholders of the words that follow the action's name. */
  takes: readonly string[]
  /** The last word is optional. */
  lastIsOptional?: true
  run(asking: Asking, words: readonly string[]): Promise<Shown>
}

export type Actions = Readonly<Record<string, Action>>

export const accountFlag: ExtraFlag = {
  flags: '--account <ID>',
  summary: 'The account that it is about. Initially the one that the key belongs to.',
}

/** Every action with its words, for the help. */
export const actionsSummary = (actions: Actions): string =>
  Object.entries(actions)
    .map(([word, { takes, lastIsOptional }]) => {
      const words = takes.map((name, i) => (lastIsOptional === true && i === takes.length - 1 ? `[${name}]` : name))
      return `'${[word, ...words].join(' ')}'`
    })
    .join(', ')

/** Throws `ConfigurationError` when the words name no action. */
export async function runAction(command: string, actions: Actions, invocation: Invocation): Promise<number> {
  const [word = 'list', ...words] = invocation.words
  const action = Object.hasOwn(actions, word) ? actions[word] : undefined
  const least = (action?.takes.length ?? 0) - (action?.lastIsOptional === true ? 1 : 0)
  if (action === undefined || words.length < least || words.length > action.takes.length) {
    throw new ConfigurationError(`expects \`${command}\` with one of ${actionsSummary(actions)}`)
  }
  const { target, account } = await adminTarget(invocation)
  const flag = (name: string): string | undefined => {
    const value = invocation.extra[name]
    return typeof value === 'string' ? value : undefined
  }
  const asking: Asking = {
    ...invocation,
    account: flag('account') ?? account,
    flag,
    ask: (request, answered) => askAdmin(target, request, answered),
  }
  const { event, lines } = await action.run(asking, words)
  if (invocation.json) invocation.print(JSON.stringify(event))
  else for (const line of lines) invocation.print(line)
  return 0
}

/** Pads the cells so that columns line up. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = []
  for (const row of rows) for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, cell.length)
  return rows.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}
