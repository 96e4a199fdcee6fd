/** The parts of a command, and of one invocation of it. */
import type { Configuration } from '../config/configuration.ts'
import type { OptionName } from '../config/options.ts'

/** A flag that only one command has. */
export interface ExtraFlag {
  /** In commander's notation: `--address <HOST:PORT>`. */
  flags: string
  summary: string
  /** The option that the flag is an alias of. Absent: the command reads the flag itself. */
  option?: OptionName
  /** The flag may be repeated. Without `option`, the command reads a list. */
  repeatable?: true
}

export interface CommandDeclaration {
  name: string
  summary: string
  /** The options of the table that the command accepts as flags. */
  options: readonly OptionName[]
  extraFlags?: readonly ExtraFlag[]
  /** The placeholder of positional arguments, and the option that they set. */
  argument?: { placeholder: string; summary: string; option: OptionName }
  /** The placeholder of words that say what to do. `run` gets them unchanged. */
  words?: {
    placeholder: string
    summary: string /** What the first one may be, for completion. Absent: a file. */
    choices?: readonly string[]
  }
  /** Values that the command's own flags give to options of the table. */
  optionsOf?(extra: Record<string, unknown>): Partial<Record<OptionName, string[]>>
  /** Initial values that differ from the table's. */
  initial?: Partial<Record<OptionName, string[]>>
  /** The command runs until a signal, and does not wait for the reader of its output. */
  isServer?: true
  /** Resolves with the exit code. */
  run(invocation: Invocation): Promise<number>
}

export interface Invocation {
  /** All commands, for those that describe the command line. */
  commands: readonly CommandDeclaration[]
  configuration: Configuration
  /** Resolves the configuration again from the current state of its sources. */
  load(): Promise<Configuration>
  /** The words of the command line; empty for a command that takes none. */
  words: readonly string[]
  /** Print JSON, for programs. */
  json: boolean
  /** Values of the extra flags that are not aliases of options, by attribute name: `consoleAddress`. */
  extra: Record<string, unknown>
  /** Of this process. */
  environment: NodeJS.ProcessEnv
  /** Writes a line to stdout. */
  print(line: string): void
  /** Writes a generated text to stdout, unchanged. */
  script(text: string): void
  /** Writes a line to stderr, for people. */
  notice(line: string): void
}
