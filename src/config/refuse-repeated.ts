/** Names that must be unique in the configuration. */
import { ConfigurationError } from './configuration-error.ts'

/** `where` names the source in messages, and `what` the kind of the values. Throws `ConfigurationError` with the first that appears twice. */
export function refuseRepeated(where: string, what: string, values: readonly string[]): void {
  const repeated = values.find((value, at) => values.indexOf(value) !== at)
  if (repeated !== undefined) throw new ConfigurationError(`${where}: ${what} '${repeated}' appears twice`)
}
