/** `holdfast completion SHELL`: prints a script that completes commands, flags and their values in a shell. */
import { ConfigurationError } from '../config/configuration-error.ts'
import type { CommandDeclaration } from './command.ts'
import { bashCompletion } from './completion/bash.ts'
import { fishCompletion } from './completion/fish.ts'
import { zshCompletion } from './completion/zsh.ts'
import { type CommandUsage, usageOf } from './usage.ts'

const shells: Readonly<Record<string, (commands: readonly CommandUsage[]) => string>> = {
  bash: bashCompletion,
  fish: fishCompletion,
  zsh: zshCompletion,
}

export const completion: CommandDeclaration = {
  name: 'completion',
  summary: 'Print the script that completes this command line in bash, zsh or fish.',
  options: [],
  words: { placeholder: 'SHELL', summary: "'bash', 'zsh' or 'fish'.", choices: Object.keys(shells) },
  run: async ({ commands, words, script }) => {
    const [shell = ''] = words
    const generate = Object.hasOwn(shells, shell) ? shells[shell] : undefined
    if (generate === undefined || words.length > 1) {
      throw new ConfigurationError(`expects \`completion\` with one of ${Object.keys(shells).join(', ')}`)
    }
    script(generate(usageOf(commands)))
    return 0
  },
}
