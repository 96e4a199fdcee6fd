/** Runs commands that have actions, such as `holdfast users add NAME`: finds the action, counts its words, asks the server, and prints the answer. Has the actions that all share. */

import { z } from 'zod'
import { ConfigurationError } from '../../config/configuration-error.ts'
import type { ExtraFlag, Invocation } from '../command.ts'
import type { AdminRequest } from './admin-client.ts'
import { askAdmin } from './admin-client.ts'
import { adminTarget } from './admin-target.ts'

/** The result of an action. */
export interface Shown {
  /** JSON for programs. */
  event: Record<string, unknown>
  /** Text for people. */
  lines: readonly string[]
  /** What people are told where there are no lines. */
  none?: string
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

/** A kind of thing that the admin port keeps by name, and how a command shows it. */
export interface Kept<View extends z.ZodType> {
  /** The placeholder of its name in help. */
  named: string
  view: View
  /** How `--json` names an answer with one of them, and an answer with a list. */
  event: { one: string; many: string }
  /** The fields of answers that hold one of them, a list of them, and its name. */
  field: { one: string; many: string; name: string }
  /** The path of the list. */
  path(asking: Asking): readonly string[]
  /** A flag that narrows the list. */
  listFlag?: string
  rowOf(item: z.output<View>): string[]
}

/** The actions that every kind has, and their parts. */
export function keptActions<View extends z.ZodType>(kept: Kept<View>) {
  const { named, view, event, field, path, listFlag, rowOf } = kept
  const list = z.object({ [field.many]: z.array(view) })
  const pathOf = (asking: Asking, name: string, ...more: readonly string[]): string[] => [
    ...path(asking),
    name,
    ...more,
  ]
  const shown = (item: z.output<View>, lines = columns([rowOf(item)])): Shown => ({
    event: { event: event.one, [field.one]: item },
    lines,
  })
  /** Sends a request that is answered with one of them, and shows the answer. */
  const asked = async (asking: Asking, request: AdminRequest): Promise<Shown> => shown(await asking.ask(request, view))
  const setEnabled = (enabled: boolean): Action => ({
    takes: [named],
    run: (asking, [name = '']) =>
      asked(asking, { method: 'PUT', path: pathOf(asking, name, 'enabled'), input: { enabled } }),
  })
  return {
    pathOf,
    shown,
    asked,
    list: {
      takes: [],
      run: async (asking) => {
        const query = listFlag === undefined ? {} : { [listFlag]: asking.flag(listFlag) }
        const { [field.many]: found = [] } = await asking.ask({ method: 'GET', path: path(asking), query }, list)
        const lines = columns(found.map(rowOf))
        return { event: { event: event.many, [field.many]: found }, lines, none: `there are no ${field.many}` }
      },
    } satisfies Action,
    show: {
      takes: [named],
      run: (asking, [name = '']) => asked(asking, { method: 'GET', path: pathOf(asking, name) }),
    } satisfies Action,
    disable: setEnabled(false),
    enable: setEnabled(true),
    remove: {
      takes: [named],
      run: async (asking, [name = '']) => {
        await asking.ask({ method: 'DELETE', path: pathOf(asking, name) }, z.undefined())
        return { event: { event: 'removed', [field.name]: name }, lines: [`${name} is removed`] }
      },
    } satisfies Action,
  }
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
  const { event, lines, none } = await action.run(asking, words)
  if (invocation.json) invocation.print(JSON.stringify(event))
  else for (const line of lines) invocation.print(line)
  // On stderr, because a script that reads the lines takes none for an empty list.
  if (!invocation.json && lines.length === 0 && none !== undefined) invocation.notice(none)
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
