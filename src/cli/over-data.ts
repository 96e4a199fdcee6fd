/** Runs the commands that open data. They need most of the sources, which are loaded when one of them runs. */
import type { CommandDeclaration } from './command.ts'

type DataCommands = typeof import('./data-commands.ts')

export const overData =
  (name: keyof DataCommands): CommandDeclaration['run'] =>
  async (invocation) => {
    const commands = await import('./data-commands.ts')
    return commands[name](invocation)
  }
