/** The configuration as it counts, for operators: every option's value, without secrets. Pure. */
import type { Configuration } from './configuration.ts'
import { databaseName } from './metadata-options.ts'
import { type OptionName, optionNames, options } from './options.ts'

export interface ShownSetting {
  /** As in the configuration file, or the name of the option where the file can't set it. */
  name: string
  /** Absent: nothing is set. */
  value: unknown
  summary: string
}

/** Leaves out secrets. It shows only the options of the table and what is listed here, so a new secret stays hidden until somebody adds it. */
export function shownSettings(configuration: Configuration): ShownSetting[] {
  const { placement, oidc, webhooks, sites, accounts } = configuration
  return [
    ...optionNames
      .filter((name) => name !== 'config')
      .map((name) => ({
        name: options[name].toml ?? name,
        value: settingOf(configuration, name),
        summary: options[name].summary,
      })),
    ...placement.stores.map(({ name, ...store }) => ({ name: `stores.${name}`, value: store, summary: 'A store.' })),
    ...placement.locations.map(({ name, policy }) => ({
      name: `locations.${name}`,
      value: policy,
      summary: 'A location.',
    })),
    ...oidc.map(({ name, clientSecret: _, ...issuer }) => ({
      name: `oidc.${name}`,
      value: issuer,
      summary: 'An issuer of web identities.',
    })),
    ...webhooks.map(({ name, url, token }) => ({
      name: `webhooks.${name}`,
      value: { url: shownUrl(url), ...(token === undefined ? {} : { token: '(set)' }) },
      summary: 'A receiver of events.',
    })),
    ...sites.map(({ name, secretAccessKey: _, ...site }) => ({
      name: `sites.${name}`,
      value: site,
      summary: 'A server that takes copies of buckets.',
    })),
    ...accounts.map(({ id, name, keys }) => ({
      name: `accounts.${id}`,
      value: { name, accessKeyIds: keys.map(({ accessKeyId }) => accessKeyId) },
      summary: 'An account of the configuration.',
    })),
  ]
}

const secrets: ReadonlySet<OptionName> = new Set(['adminMetricsToken', 'auditWebhookToken'])

function settingOf(configuration: Configuration, name: OptionName): unknown {
  const { metadata, tls, listen, adminListen } = configuration
  if (secrets.has(name)) return Reflect.get(configuration, name) === undefined ? undefined : '(set)'
  switch (name) {
    case 'metadataType':
      return metadata === undefined ? 'lmdb' : 'postgres'
    case 'metadataUrl':
      return metadata && databaseName(metadata.url)
    case 'metadataConnections':
      return metadata?.connections
    case 'tlsCert':
      return tls?.cert
    case 'tlsKey':
      return tls?.key
    case 'auditWebhook':
      return shownUrl(configuration.auditWebhook)
    case 'listen':
      return `${listen.host}:${listen.port}`
    case 'adminListen':
      return adminListen === undefined ? 'off' : `${adminListen.host}:${adminListen.port}`
    default:
      return Reflect.get(configuration, name)
  }
}

/** Receivers give out URLs whose query is a secret. */
function shownUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const { origin, pathname, search } = new URL(text)
  return `${origin}${pathname}${search === '' ? '' : '?…'}`
}
