/** The command line as data, from the tables that also make its parser. Completions and the manual page are generated from it. */
import { type OptionName, options } from '../config/options.ts'
import type { CommandDeclaration, ExtraFlag } from './command.ts'

export interface FlagUsage {
  /** With dashes. The short name comes first. */
  names: readonly string[]
  /** Absent: the flag takes no value. */
  value?: ValueUsage
  summary: string
  repeatable: boolean
}

export interface ValueUsage {
  placeholder: string
  /** All values that are allowed. Empty: any value is. */
  choices: readonly string[]
  isFile: boolean
}

export interface CommandUsage {
  name: string
  summary: string
  flags: readonly FlagUsage[]
  /** The positional argument. */
  argument?: ValueUsage & { summary: string }
}

export function usageOf(commands: readonly CommandDeclaration[]): CommandUsage[] {
  return commands.map(({ name, summary, options: taken, extraFlags = [], argument, words }) => ({
    name,
    summary,
    flags: [...taken.map(tableFlag), ...extraFlags.map(extraFlag), ...commonFlags],
    ...(argument === undefined ? {} : { argument: { ...valueUsage(argument.placeholder), summary: argument.summary } }),
    ...(words === undefined
      ? {}
      : { argument: { ...valueUsage(words.placeholder, words.choices), summary: words.summary } }),
  }))
}

const commonFlags: readonly FlagUsage[] = [
  { names: ['--json'], summary: 'Write output for programs: one JSON object a line.', repeatable: false },
  { names: ['-h', '--help'], summary: 'Show the flags of the command.', repeatable: false },
]

function tableFlag(option: OptionName): FlagUsage {
  const { flag, kind, summary, initial = [] } = options[option]
  const shownInitial = initial.length === 0 ? '' : ` Initially ${initial.join(', ')}.`
  return {
    names: [`--${flag}`],
    ...(kind.placeholder === '' ? {} : { value: valueUsage(kind.placeholder) }),
    summary: summary + (kind.placeholder === '' ? '' : shownInitial),
    repeatable: kind.repeatable,
  }
}

/** Reads commander's notation: `-S, --certs-dir <DIR>`. */
function extraFlag({ flags, summary, repeatable }: ExtraFlag): FlagUsage {
  const [spelled = '', placeholder] = flags.split(/ [<[]|[>\]]$/)
  return {
    names: spelled.split(', '),
    ...(placeholder === undefined ? {} : { value: valueUsage(placeholder) }),
    summary,
    repeatable: repeatable === true,
  }
}

/** A placeholder like `off|presigned|all` lists what a value may be; one like `HOST:PORT|off` does not. */
function valueUsage(placeholder: string, known?: readonly string[]): ValueUsage {
  const choices = known ?? (/^[a-z]+\|/.test(placeholder) ? placeholder.split('|') : [])
  return { placeholder, choices, isFile: ['PATH', 'FILE', 'DIR'].includes(placeholder) }
}
