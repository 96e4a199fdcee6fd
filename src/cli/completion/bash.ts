/** The completion script of bash. */
import type { CommandUsage, ValueUsage } from '../usage.ts'

/** `holdfast` without a command serves, so the first command's flags complete without it too. */
export function bashCompletion(commands: readonly CommandUsage[]): string {
  const [initial] = commands
  return `# Completes holdfast in bash: source <(holdfast completion bash)
_holdfast() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]} command=\${COMP_WORDS[1]} flags='' words=''
  COMPREPLY=()
  # Bash takes the '=' of --flag=value for a word of its own.
  if [[ $current == = ]]; then
    current=
  elif [[ $previous == = ]]; then
    previous=\${COMP_WORDS[COMP_CWORD - 2]}
  fi
  if ((COMP_CWORD == 1)) && [[ $current != -* ]]; then
    COMPREPLY=($(compgen -W '${[...commands.map(({ name }) => name), 'help'].join(' ')}' -- "$current"))
    return
  fi
  [[ $command == -* ]] && command=${initial?.name ?? ''}
  case "$command $previous" in
${commands.flatMap(valueCases).join('\n')}
  esac
  case $command in
${commands.map(commandCase).join('\n')}
  esac
  if [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$current"))
  elif [[ $words == FILE ]]; then
    _holdfast_files
  elif ((COMP_CWORD == 2)); then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  fi
}
_holdfast_files() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -f -- "$current")
}
complete -F _holdfast holdfast
`
}

function valueCases({ name, flags }: CommandUsage): string[] {
  return flags.flatMap(({ names, value }) =>
    value === undefined
      ? []
      : [`    ${names.map((flag) => `'${name} ${flag}'`).join(' | ')}) ${valueReply(value)}; return ;;`],
  )
}

const valueReply = ({ choices, isFile }: ValueUsage): string => {
  if (isFile) return '_holdfast_files'
  return choices.length === 0 ? ':' : `COMPREPLY=($(compgen -W '${choices.join(' ')}' -- "$current"))`
}

function commandCase({ name, flags, argument }: CommandUsage): string {
  const words = argument?.isFile === true ? 'FILE' : (argument?.choices.join(' ') ?? '')
  return `    ${name}) flags='${flags.flatMap(({ names }) => names).join(' ')}' words='${words}' ;;`
}
