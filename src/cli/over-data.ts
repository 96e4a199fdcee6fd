/** Runs the commands that open data. Their code is loaded when one of them runs, because it is most of the source. */
import type { CommandDeclaration } from './command.ts'

type Run = CommandDeclaration['run']
type DataCommands = typeof import('./data-commands.ts')

export const overData =
  (name: keyof DataCommands): Run =>
  async (invocation) => {
    const commands = await import('./data-commands.ts')
    return commands[name](invocation)
  }

export const serveData: Run = async (invocation) => {
  const { serve } = await import('./serving/serve.ts')
  return serve(invocation)
}
