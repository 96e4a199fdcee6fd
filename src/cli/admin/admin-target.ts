/** Which server a command asks, and with which key: from the flags, or else from the server's own configuration. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../clock.ts'
import { type AccessKey, rootAccount } from '../../config/accounts.ts'
import type { Configuration } from '../../config/configuration.ts'
import { ConfigurationError } from '../../config/configuration-error.ts'
import type { OptionName } from '../../config/options.ts'
import { keptRootKey } from '../../instance/root-key.ts'
import { urlOf } from '../../opening/listen-address.ts'
import type { ExtraFlag, Invocation } from '../command.ts'
import { originUrl } from '../flag-values.ts'
import type { AdminTarget } from './admin-client.ts'

/** The options of the server's configuration that a command needs. */
export const adminOptions: readonly OptionName[] = ['config', 'data', 'region', 'logLevel']

export const adminFlags: readonly ExtraFlag[] = [
  {
    flags: '--admin-endpoint <URL>',
    summary: 'The admin port of the server, such as http://127.0.0.1:9001. Initially as the configuration says it.',
  },
]

export interface Asker {
  target: AdminTarget
  /** The account that the key belongs to, as far as the configuration tells. */
  account: string
}

/** Throws `ConfigurationError`. */
export async function adminTarget({ configuration, extra }: Invocation): Promise<Asker> {
  const { key, account } = await keyOf(configuration)
  const given = extra.adminEndpoint
  const { region } = configuration
  if (typeof given === 'string')
    return { target: { url: originUrl('--admin-endpoint', given, 'http://127.0.0.1:9001'), key, region }, account }
  const { adminListen, tls } = configuration
  if (adminListen === undefined) {
    throw new ConfigurationError('the configuration gives the server no admin port: name one with --admin-endpoint')
  }
  const url = new URL(urlOf(adminListen.host, adminListen.port, { secure: tls !== undefined }))
  return { target: { url, key, region, certificate: tls?.cert }, account }
}

/** The key, and the account that it belongs to as far as the configuration tells. Throws `ConfigurationError`. */
export async function keyOf({ root, accounts, data }: Configuration): Promise<{ key: AccessKey; account: string }> {
  if (root !== undefined) return { key: root, account: rootAccount.id }
  const inFile = accounts.flatMap(({ id, keys }) => keys.map((key) => ({ key, account: id })))
  // Prefers a key without restrictions, because a restricted one can't administer anything.
  const first = inFile.find(({ key }) => key.permissions === undefined) ?? inFile[0]
  if (first !== undefined) return first
  const file = join(data, 'credentials.json')
  // Only the server makes this file. It would refuse a key that this command made.
  if (existsSync(file)) return { key: await keptRootKey(file, systemClock), account: rootAccount.id }
  throw new ConfigurationError(
    `no key to sign with: set HOLDFAST_ACCESS_KEY_ID and HOLDFAST_SECRET_ACCESS_KEY, or name the server's --config or --data (${file} is missing)`,
  )
}
