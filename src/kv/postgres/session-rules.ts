/** The settings that a PostgreSQL server must have before it can keep metadata. Pure. */

/** The database's configuration can't be used. The message says what to change. */
export class ConfigurationRefused extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ConfigurationRefused'
  }
}

export interface ServerSettings {
  versionNumber: number
  fsync: string
  fullPageWrites: string
  /** The session's value, after it has asked for `on`. */
  synchronousCommit: string
  synchronousStandbyNames: string
}

const oldestVersion = 140_000

/** Why the server can't keep metadata; `undefined`: it can. */
export function refusalOf({
  versionNumber,
  fsync,
  fullPageWrites,
  synchronousCommit,
}: ServerSettings): string | undefined {
  if (versionNumber < oldestVersion)
    return `PostgreSQL ${Math.floor(versionNumber / 10_000)} is too old: version 14 is the oldest that is supported`
  if (fsync !== 'on') return 'fsync is off: the server would lose what it acknowledged when its machine stops'
  if (fullPageWrites !== 'on') return 'full_page_writes is off: a page that was half written could not be restored'
  if (!durableCommits.has(synchronousCommit))
    return `synchronous_commit is ${synchronousCommit}, and this role may not turn it on: commits would be acknowledged before they are durable`
  return undefined
}

const durableCommits: ReadonlySet<string> = new Set(['on', 'remote_apply'])

/** A warning for the operator, if any. */
export function warningOf({ synchronousStandbyNames }: ServerSettings): string | undefined {
  if (synchronousStandbyNames.trim() !== '') return undefined
  return 'no synchronous standby is named (synchronous_standby_names): when the machine of PostgreSQL is lost, so is what was acknowledged last'
}
