/** What makes up a command of the command line. */
import type { Configuration } from '../config/configuration.ts'
import type { OptionName } from '../config/options.ts'

/** A flag that only one command has. */
export interface ExtraFlag {
  /** In commander's notation: `--address <HOST:PORT>`. */
  flags: string
  summary: string
  /** The option that the flag is another name for. Absent: the command reads it itself. */
  option?: OptionName
  /** May be given several times. Without `option`: the command reads a list. */
  repeatable?: true
}

export interface CommandDeclaration {
  name: string
  summary: string
  /** The options of the table that it accepts as flags. */
  options: readonly OptionName[]
  extraFlags?: readonly ExtraFlag[]
  /** Placeholder of positional arguments, and the option that they set. */
  argument?: { placeholder: string; summary: string; option: OptionName }
  /** Placeholder of words that say what to do. `run` gets them unchanged. */
  words?: { placeholder: string; summary: string }
  /** Values that its own flags give to options of the table. */
  optionsOf?(extra: Record<string, unknown>): Partial<Record<OptionName, string[]>>
  /** Initial values that differ from the table's. */
  initial?: Partial<Record<OptionName, string[]>>
  /** A signal ends it, and it does not wait for the reader of its output. */
  isServer?: true
  /** Resolves with the exit code. */
  run(invocation: Invocation): Promise<number>
}

export interface Invocation {
  configuration: Configuration
  /** Resolves the configuration again from its sources, as they are now. */
  load(): Promise<Configuration>
  /** The words of the command line; empty for a command that takes none. */
  words: readonly string[]
  /** Output is meant for programs. */
  json: boolean
  /** Values of the extra flags that stand for no option, by attribute name: `consoleAddress`. */
  extra: Record<string, unknown>
  /** Writes a line to stdout. */
  print(line: string): void
  /** Writes a line to stderr, for people. */
  notice(line: string): void
}
