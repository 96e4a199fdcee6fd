/** Options about where the metadata is kept. Part of the table in `options.ts`. None has a flag, because the URL can hold a password, and other users can read command lines. */
import { ConfigurationError } from './configuration-error.ts'
import { choice, count, type Kind } from './kinds.ts'

/** Metadata in PostgreSQL, which several servers share. */
export interface SharedMetadata {
  /** May hold a password: it must not appear in output, errors or logs. See `databaseName`. */
  url: string
  /** The most connections of each process. */
  connections: number
}

export interface MetadataSettings {
  /** Absent: LMDB in the data directory. */
  metadata: SharedMetadata | undefined
}

export interface MetadataValues {
  metadataType: 'lmdb' | 'postgres'
  metadataUrl: string
  metadataConnections: number
}

const host = String.raw`(?:[\w.%-]+|\[[\da-fA-F:.]+\])(?::\d{1,5})?`
/** Hosts and database have no characters that a password with an unencoded `/` or `@` would put there, so `databaseName` never shows a part of one. */
const urlPattern = new RegExp(
  String.raw`^postgres(?:ql)?://(?:[^@/?#\s]*@)?((?:${host}(?:,${host})*)?)(?:/([^@:/?#\s]*))?(?:\?[^#\s]*)?$`,
)

/** The URL of a database. The error does not quote it. */
const databaseUrl: Kind<string> = {
  placeholder: 'URL',
  repeatable: false,
  parse: (texts) => {
    const text = (texts.at(-1) ?? '').trim()
    if (urlPattern.test(text)) return text
    throw new ConfigurationError(
      'expects a URL such as postgres://user:password@host:5432/database, with %-codes for characters such as / and @ in the password (it is not shown here, because it may hold one)',
    )
  },
}

/** Names a database without its user, password or parameters, for people. */
export function databaseName(url: string): string {
  const [, hosts = '', database = ''] = urlPattern.exec(url) ?? []
  return `${hosts}${database === '' ? '' : `/${database}`}`
}

/** The values, with the place where each was given. */
export interface GivenMetadata {
  /** Absent: not given. */
  type: { value: MetadataValues['metadataType']; source: string } | undefined
  url: { value: string; source: string } | undefined
  connections: number
}

/** A URL alone means PostgreSQL. Throws `ConfigurationError` when type and URL contradict each other. Pure. */
export function metadataOf({ type, url, connections }: GivenMetadata): SharedMetadata | undefined {
  if (url !== undefined && type?.value === 'lmdb') {
    throw new ConfigurationError(`${type.source} is lmdb, but ${url.source} names a database: remove one of them`)
  }
  if (url === undefined && type?.value === 'postgres') {
    throw new ConfigurationError(
      `${type.source} is postgres, but no URL of a database is given: set metadata.url in the file, or HOLDFAST_METADATA_URL`,
    )
  }
  return url === undefined ? undefined : { url: url.value, connections }
}

export const metadataOptions = {
  metadataType: {
    environment: ['HOLDFAST_METADATA_TYPE'],
    toml: 'metadata.type',
    kind: choice('lmdb', 'postgres'),
    initial: ['lmdb'],
    summary:
      'Where the metadata is kept: in the data directory of one server (`lmdb`), or in a database that several servers share (`postgres`). A URL alone means `postgres`.',
  },
  metadataUrl: {
    environment: ['HOLDFAST_METADATA_URL'],
    toml: 'metadata.url',
    kind: databaseUrl,
    summary:
      'The database: `postgres://user:password@host:5432,other:5432/database?sslmode=verify-full`. Of several hosts, the primary is used. No flag takes it, because command lines are visible to other users.',
  },
  metadataConnections: {
    environment: ['HOLDFAST_METADATA_CONNECTIONS'],
    toml: 'metadata.connections',
    kind: count(4, 1000),
    initial: ['10'],
    summary: 'Maximum number of connections of each process to the database.',
  },
}
