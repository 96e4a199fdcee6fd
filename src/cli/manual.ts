/** Renders the manual page holdfast(1) from the command table and the option table. */
import { credentialPairs, optionNames, options } from '../config/options.ts'
import type { CommandDeclaration } from './command.ts'
import { type CommandUsage, type FlagUsage, usageOf } from './usage.ts'

/** In the macros of mdoc(7). */
export function manualPage(commands: readonly CommandDeclaration[]): string {
  const usages = usageOf(commands)
  return `${[...head, ...usages.flatMap(commandLines), ...environment, ...tail].join('\n')}\n`
}

const head: readonly string[] = [
  '.\\" Generated from src/cli/commands.ts and src/config/options.ts by `npm run docs`. Do not edit.',
  '.Dd November 23, 2026',
  '.Dt HOLDFAST 1',
  '.Os',
  '.Sh NAME',
  '.Nm holdfast',
  '.Nd S3-compatible object store',
  '.Sh SYNOPSIS',
  '.Nm',
  '.Op Ar command',
  '.Op Ar flags',
  '.Op Ar words',
  '.Sh DESCRIPTION',
  '.Nm',
  'serves S3 from a data directory.',
  'Without a command, it serves.',
  'Flags override environment variables, which override the TOML file, which overrides the initial value.',
  'There are no default secrets: the first start makes a random key and prints its secret once.',
  '.Pp',
  'A duration is a number with ms, s, m, h or d; without a unit it counts seconds.',
  '.Sh COMMANDS',
]

function commandLines({ name, summary, flags, argument }: CommandUsage): string[] {
  return [
    `.Ss ${name}`,
    text(summary),
    '.Bl -tag -width Ds',
    ...(argument === undefined ? [] : [`.It Op Ar \\&${argument.placeholder}`, text(argument.summary)]),
    ...flags.flatMap(flagLines),
    '.El',
  ]
}

function flagLines({ names, value, summary, repeatable }: FlagUsage): string[] {
  const spelled = names.map((name) => `Fl ${name.slice(1).replaceAll('-', '\\-')}`).join(' , ')
  const taken = value === undefined ? '' : ` Ar \\&${value.placeholder.replaceAll('|', '\\||\\|')}`
  return [`.It ${spelled}${taken}`, text(repeatable ? `${summary} Repeatable.` : summary)]
}

const environment: readonly string[] = [
  '.Sh ENVIRONMENT',
  'Of several variables, the first that is set counts; an empty variable counts as not set.',
  '.Bl -tag -width Ds',
  ...credentialPairs.flatMap(([id, secret]) => [`.It Ev ${id} , Ev ${secret}`, "The root account's key."]),
  ...optionNames.flatMap((name) => {
    const { environment: names, flag, summary } = options[name]
    const meaning = flag === undefined ? text(summary) : `The same as\n.Fl \\-${flag.replaceAll('-', '\\-')} .`
    return names.length === 0 ? [] : [`.It ${names.map((variable) => `Ev ${variable}`).join(' , ')}`, meaning]
  }),
  '.El',
]

const tail: readonly string[] = [
  '.Sh EXIT STATUS',
  '0 if all went well, 1 if the command failed, 2 if the command line or the configuration is wrong.',
  '.Cm locations status',
  'exits with 3 if data is degraded, and with 4 if it is at risk.',
  '.Sh SIGNALS',
  '.Bl -tag -width Ds',
  '.It Dv SIGTERM , Dv SIGINT',
  'The server finishes the requests under way, and stops.',
  'A second signal stops it at once.',
  '.It Dv SIGHUP',
  'The server applies changed accounts and certificates, and opens its log file again.',
  '.El',
  '.Sh SEE ALSO',
  'The directory',
  '.Pa docs',
  'of the package.',
]

/** One line of running text. Each sentence begins a line, as mdoc requires. */
function text(summary: string): string {
  const plain = summary.replaceAll('\\', '\\e').replaceAll(/`([^`]*)`/g, '\\(oq$1\\(cq')
  return plain
    .split(/(?<=[.:;]) (?=[A-Z])/)
    .map((line) => (/^[.']/.test(line) ? `\\&${line}` : line))
    .join('\n')
}
