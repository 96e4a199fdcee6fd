/** What a command of the command line is. */
import type { Configuration } from '../config/configuration.ts'
import type { OptionName } from '../config/options.ts'

/** A flag that only one command knows. */
export interface ExtraFlag {
  /** As commander writes it: `--address <HOST:PORT>`. */
  flags: string
  summary: string
  /** The option that it is another name for. Absent: the command reads it itself. */
  option?: OptionName
}

export interface CommandDeclaration {
  name: string
  summary: string
  /** Options of the table that it takes as flags. */
  options: readonly OptionName[]
  extraFlags?: readonly ExtraFlag[]
  /** Placeholder of positional arguments, and the option that they give. */
  argument?: { placeholder: string; summary: string; option: OptionName }
  /** Placeholder of words that say what to do, given to `run` as they are. */
  words?: { placeholder: string; summary: string }
  /** Values that its own flags give to options of the table. */
  optionsOf?(extra: Record<string, unknown>): Partial<Record<OptionName, string[]>>
  /** Where its initial values differ from the table's. */
  initial?: Partial<Record<OptionName, string[]>>
  /** A signal ends it, and it does not wait for whoever reads its output. */
  isServer?: true
  /** Resolves with the exit code. */
  run(invocation: Invocation): Promise<number>
}

export interface Invocation {
  configuration: Configuration
  /** Resolves the configuration again, from what its sources say now. */
  load(): Promise<Configuration>
  /** The command line without flags; empty for a command that takes no words. */
  words: readonly string[]
  /** Output is for programs. */
  json: boolean
  /** Values of the extra flags that are no option's other name, by attribute name: `consoleAddress`. */
  extra: Record<string, unknown>
  /** Writes a line to stdout. */
  print(line: string): void
  /** Writes a line to stderr, for people. */
  notice(line: string): void
}
