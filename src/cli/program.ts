/** Turns a command line into a run of one command and an exit code: 0 done, 1 failed, 2 wrong usage. */
import { Command, CommanderError, Option } from 'commander'
import { type Configuration, loadConfiguration } from '../config/configuration.ts'
import { ConfigurationError } from '../config/configuration-error.ts'
import { drivesRefusal } from '../config/drives.ts'
import { switchedOn } from '../config/kinds.ts'
import { type OptionName, options } from '../config/options.ts'
import { version } from '../version.ts'
import type { CommandDeclaration, ExtraFlag } from './command.ts'
import { commands, defaultCommand } from './commands.ts'
import { exitCodes } from './exit-codes.ts'
import { messageOf } from './failure-message.ts'
import { printable } from './printable.ts'

type Flags = Partial<Record<OptionName, string[]>>

/** What a command has of the process that it runs in. */
export interface CommandProcess {
  environment: NodeJS.ProcessEnv
  directory: string
  stdout: Pick<NodeJS.WritableStream, 'write'>
  stderr: Pick<NodeJS.WritableStream, 'write'>
}

const thisProcess: CommandProcess = {
  environment: process.env,
  // Asked for when a command runs, because the directory may be gone.
  get directory() {
    return process.cwd()
  },
  stdout: process.stdout,
  stderr: process.stderr,
}

/** `words` follow the program's name. */
export async function runCli(words: readonly string[], within = thisProcess): Promise<number> {
  const { stdout, stderr } = within
  let exitCode: number = exitCodes.done
  const completed = withDefaultCommand(words)
  const program = new Command('holdfast')
    .description('An S3-compatible object store.')
    .version(version, '-V, --version')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: (text) => void stderr.write(text),
    })
  for (const declaration of commands) {
    addCommand(program, declaration, within, (code) => {
      exitCode = code
    })
  }
  try {
    await program.parseAsync(completed, { from: 'user' })
    return exitCode
  } catch (error) {
    // Commander has already printed the problem, or the help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage
    // A stack has lines.
    stderr.write(`holdfast: ${messageOf(error)}\n`)
    return error instanceof ConfigurationError ? exitCodes.usage : exitCodes.failed
  } finally {
    const command = commands.find(({ name }) => name === completed[0])
    if (command?.isServer !== true) await outputRead(stdout)
  }
}

/** Adds the default command here, because commander's own mechanism would take a mistyped command for an argument. */
function withDefaultCommand(words: readonly string[]): string[] {
  const [first] = words
  const isForProgram = first !== undefined && ['-h', '--help', '-V', '--version'].includes(first)
  return isForProgram || (first !== undefined && !first.startsWith('-')) ? [...words] : [defaultCommand, ...words]
}

function addCommand(
  program: Command,
  declaration: CommandDeclaration,
  within: CommandProcess,
  done: (exitCode: number) => void,
): void {
  const { environment, stdout, stderr } = within
  const flags: Flags = {}
  const command = program.command(declaration.name).description(declaration.summary)
  for (const name of declaration.options) command.addOption(tableOption(name, flags))
  for (const extra of declaration.extraFlags ?? []) command.addOption(extraOption(extra, flags))
  command.option('--json', 'Write output for programs: one JSON object a line.')
  const { argument, words } = declaration
  if (argument !== undefined) command.argument(`[${argument.placeholder}...]`, argument.summary)
  if (words !== undefined) command.argument(`[${words.placeholder}...]`, words.summary)
  command.allowExcessArguments()

  command.action(async () => {
    if (argument === undefined && words === undefined) refuseWords(declaration, command.args)
    if (argument !== undefined && command.args.length > 0) flags[argument.option] = [onlyOne(command.args)]
    Object.assign(flags, declaration.optionsOf?.(command.opts()))
    const sources = {
      flags,
      environment,
      directory: within.directory,
      ...(declaration.initial === undefined ? {} : { initial: declaration.initial }),
    }
    const load = (): Promise<Configuration> => loadConfiguration(sources)
    const configuration = await load()
    const extra: Record<string, unknown> = command.opts()
    const given = words === undefined ? [] : command.args
    const json = extra.json === true
    const output = {
      json,
      print: (line: string): void => void stdout.write(`${printable(line)}\n`),
      script: (text: string): void => void stdout.write(text),
      notice: (line: string): void => void stderr.write(`holdfast: ${printable(line)}\n`),
    }
    done(await declaration.run({ commands, configuration, load, words: given, extra, environment, ...output }))
  })
}

function tableOption(name: OptionName, flags: Flags): Option {
  const { flag, kind, summary, initial = [] } = options[name]
  const shownInitial = initial.length === 0 ? '' : ` (initially ${initial.join(', ')})`
  const shownRepeat = kind.repeatable ? ' Repeatable.' : ''
  if (kind.placeholder === '') {
    return collecting(new Option(`--${flag}`, summary).preset(switchedOn), name, flags)
  }
  return collecting(new Option(`--${flag} <${kind.placeholder}>`, summary + shownRepeat + shownInitial), name, flags)
}

function extraOption({ flags: spelling, summary, option, repeatable }: ExtraFlag, flags: Flags): Option {
  const extra = new Option(spelling, repeatable === true ? `${summary} Repeatable.` : summary)
  if (repeatable === true) extra.argParser((text: string, before: unknown) => [before ?? [], text].flat())
  return option === undefined ? extra : collecting(extra, option, flags)
}

function collecting(option: Option, name: OptionName, flags: Flags): Option {
  return option.argParser((text: string) => {
    flags[name] = [...(flags[name] ?? []), text]
    return text
  })
}

/** Resolves when the reader has taken all output, or has gone. Exiting earlier would truncate the output. */
function outputRead(stdout: CommandProcess['stdout']): Promise<void> {
  return new Promise((resolve) => {
    stdout.write('', () => resolve())
  })
}

/** Says where a directory goes, because other servers take it as a word. */
function refuseWords({ name, options }: CommandDeclaration, words: readonly string[]): void {
  const [first] = words
  if (first === undefined) return
  const advice = options.includes('data') ? `. The data directory is named by --data` : ''
  throw new ConfigurationError(`${name} takes flags only, and '${first}' is none${advice}`)
}

function onlyOne(directories: readonly string[]): string {
  const [directory = ''] = directories
  if (directories.length > 1) throw new ConfigurationError(drivesRefusal(directories))
  return directory
}
