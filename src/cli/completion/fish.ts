/** The completion script of fish. */
import type { CommandUsage, FlagUsage, ValueUsage } from '../usage.ts'

export function fishCompletion(commands: readonly CommandUsage[]): string {
  const [initial] = commands
  const noCommand = "'__fish_use_subcommand'"
  return `${[
    '# Completes holdfast in fish: holdfast completion fish | source',
    'complete -c holdfast -f',
    ...commands.map(({ name, summary }) => `complete -c holdfast -n ${noCommand} -a ${name} -d ${quoted(summary)}`),
    // Without a command, holdfast serves.
    ...(initial?.flags ?? []).map((flag) => `complete -c holdfast -n ${noCommand} ${flagWords(flag)}`),
    ...commands.flatMap(({ name, flags, argument }) => {
      const inCommand = `complete -c holdfast -n '__fish_seen_subcommand_from ${name}'`
      const lines = flags.map((flag) => `${inCommand} ${flagWords(flag)}`)
      if (argument === undefined) return lines
      if (argument.isFile) return [...lines, `${inCommand} -F`]
      const first = `complete -c holdfast -n '__fish_seen_subcommand_from ${name}; and test (count (commandline -opc)) -eq 2'`
      return [...lines, ...(argument.choices.length === 0 ? [] : [`${first} -a ${quoted(argument.choices.join(' '))}`])]
    }),
  ].join('\n')}\n`
}

function flagWords({ names, value, summary }: FlagUsage): string {
  const spelled = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`))
  return [...spelled, ...(value === undefined ? [] : [valueWords(value)]), `-d ${quoted(summary)}`].join(' ')
}

function valueWords({ choices, isFile }: ValueUsage): string {
  if (isFile) return '-r -F'
  return choices.length === 0 ? '-x' : `-x -a ${quoted(choices.join(' '))}`
}

const quoted = (text: string): string => `'${text.replaceAll(/[\\']/g, '\\$&')}'`
