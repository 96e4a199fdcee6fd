/** Reads the TOML file: the texts of each option, accounts, stores and locations. Refuses unknown keys by name. */
import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { parse, TomlError } from 'smol-toml'
import type { Account } from '../auth/credentials.ts'
import { failureText } from '../file-failure.ts'
import type { SiteSettings } from '../replication-site.ts'
import type { OidcProvider } from '../sts/oidc/provider-settings.ts'
import type { Webhook } from '../webhook.ts'
import { parseAccounts } from './accounts.ts'
import { ConfigurationError } from './configuration-error.ts'
import { type Placement, parsePlacement } from './locations.ts'
import { parseOidcProviders } from './oidc.ts'
import { type OptionName, optionNames, options } from './options.ts'
import { parseSites } from './sites.ts'
import { didYouMean } from './suggestion.ts'
import { parseWebhooks } from './webhooks.ts'

export interface TomlFile {
  /** The directory to which paths in the file are relative. */
  directory: string
  texts: Map<OptionName, { texts: string[]; source: string }>
  accounts: Account[]
  placement: Pick<Placement, 'stores' | 'locations'>
  oidc: OidcProvider[]
  webhooks: Webhook[]
  sites: SiteSettings[]
}

type Table = Record<string, unknown>

const optionByPath = new Map<string, OptionName>()
for (const name of optionNames) {
  const { toml } = options[name]
  if (toml !== undefined) optionByPath.set(toml, name)
}
const topLevelKeys = [...optionByPath.keys()]
  .map((path) => path.split('.')[0] ?? path)
  .concat('access', 'accounts', 'stores', 'locations', 'webhooks', 'sites')

export async function readTomlFile(file: string): Promise<TomlFile> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    throw new ConfigurationError(failureText(error, file))
  }
  return parseToml(text, file)
}

/** `file` names the source in messages. */
function parseToml(text: string, file: string): TomlFile {
  const directory = dirname(file)
  const { accounts, stores, locations, webhooks, sites, access, ...others } = parseTable(text, file)
  const { oidc, rest } = withoutIssuers(others, access)
  const texts: TomlFile['texts'] = new Map()
  try {
    for (const [path, value] of leaves(rest, '')) {
      const name = optionByPath.get(path)
      if (name === undefined) throw new ConfigurationError(unknownKey(path))
      texts.set(name, { texts: textsOf(name, path, value), source: `${file}: ${path}` })
    }
    return {
      directory,
      texts,
      accounts: parseAccounts(accounts),
      placement: parsePlacement({ stores, locations }, directory),
      oidc: parseOidcProviders(oidc),
      webhooks: parseWebhooks(webhooks),
      sites: parseSites(sites),
    }
  } catch (error) {
    if (error instanceof ConfigurationError) throw new ConfigurationError(`${file}: ${error.message}`)
    throw error
  }
}

/** Separates the issuers from `access`. The rest of it holds options. */
function withoutIssuers(others: Table, access: unknown): { oidc: unknown; rest: Table } {
  if (!isTable(access)) return { oidc: undefined, rest: access === undefined ? others : { ...others, access } }
  const { oidc, ...options } = access
  const dotted = Object.entries(options).map(([key, value]) => [`access.${key}`, value])
  return { oidc, rest: { ...others, ...Object.fromEntries(dotted) } }
}

function parseTable(text: string, file: string): Table {
  try {
    return parse(text)
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    // Keeps only the first line of the message. The others quote the file, which may hold secrets.
    const reason = error.message.split('\n')[0] ?? ''
    const advice = reason.endsWith('invalid value') ? '. Texts, such as paths, need quotes' : ''
    throw new ConfigurationError(`${file}:${error.line}:${error.column}: ${reason}${advice}`)
  }
}

function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
}

/** Dotted paths and their values. Descends only into tables whose path is a prefix of an option's. */
function* leaves(table: Table, prefix: string): Generator<[string, unknown]> {
  for (const [key, value] of Object.entries(table)) {
    const path = prefix + key
    const holdsOptions = [...optionByPath.keys()].some((known) => known.startsWith(`${path}.`))
    if (holdsOptions && isTable(value)) yield* leaves(value, `${path}.`)
    else yield [path, value]
  }
}

function unknownKey(path: string): string {
  const siblings = path.includes('.') ? optionByPath.keys() : [...topLevelKeys, ...optionByPath.keys()]
  return `unknown key '${path}'${didYouMean(path, siblings)}`
}

function textsOf(name: OptionName, path: string, value: unknown): string[] {
  const { repeatable, placeholder } = options[name].kind
  if (placeholder === '') {
    if (typeof value === 'boolean') return [String(value)]
    throw new ConfigurationError(`${path}: expects true or false`)
  }
  const values: unknown[] = repeatable && Array.isArray(value) ? value : [value]
  return values.map((item) => {
    if (typeof item === 'string') return item
    if (typeof item === 'number' || typeof item === 'bigint') return String(item)
    throw new ConfigurationError(`${path}: expects ${repeatable ? 'an array of strings' : 'a string or a number'}`)
  })
}
