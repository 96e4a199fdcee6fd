/** The completion script of zsh. */
import type { CommandUsage, FlagUsage, ValueUsage } from '../usage.ts'

export function zshCompletion(commands: readonly CommandUsage[]): string {
  const [initial] = commands
  return `#compdef holdfast
# Completes holdfast in zsh: source <(holdfast completion zsh)
_holdfast() {
  local -a commands
  commands=(
${commands.map(({ name, summary }) => `    ${quoted(`${name}:${summary}`)}`).join('\n')}
  )
  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then
    _describe command commands
    return
  fi
  # Without a command, holdfast serves.
  local command=$words[2]
  if [[ $command == -* ]]; then
    command=${initial?.name ?? ''}
  else
    shift words
    (( CURRENT-- ))
  fi
  case $command in
${commands.map(commandCase).join('\n')}
  esac
}
if [[ $funcstack[1] == _holdfast ]]; then
  _holdfast "$@"
else
  compdef _holdfast holdfast
fi
`
}

function commandCase({ name, flags, argument }: CommandUsage): string {
  const specs = flags.flatMap(flagSpecs)
  if (argument !== undefined) specs.push(quoted(`1:${escaped(argument.placeholder)}:${action(argument)}`))
  return `    ${name})\n      _arguments -s ${specs.join(' ')} ;;`
}

const flagSpecs = ({ names, value, summary, repeatable }: FlagUsage): string[] =>
  names.map((name) => {
    const [often, joined] = [repeatable ? '*' : '', value !== undefined && name.startsWith('--') ? '=' : '']
    const taken = value === undefined ? '' : `:${escaped(value.placeholder)}:${action(value)}`
    return quoted(`${often}${name}${joined}[${escaped(summary)}]${taken}`)
  })

function action({ choices, isFile }: ValueUsage): string {
  if (isFile) return '_files'
  return choices.length === 0 ? ' ' : `(${choices.join(' ')})`
}

const escaped = (text: string): string => text.replaceAll(/[\\[\]:]/g, '\\$&')
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
