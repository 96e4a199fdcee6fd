/** Validates the configuration's webhooks, which buckets can tell of events: of the TOML file, and of MinIO's variables. */
import { lazySchema } from '../lazy-schema.ts'
import type { Webhook } from '../webhook.ts'
import { ConfigurationError } from './configuration-error.ts'
import { webhookUrl } from './kinds.ts'
import { parseWith } from './parse-with.ts'
import { refuseRepeated } from './refuse-repeated.ts'

const nameForm = /^[A-Za-z0-9_-]{1,64}$/
const tokenForm = /^[\x21-\x7e]{1,1024}$/
const tokenFault = 'must be 1 to 1024 printable characters of ASCII without spaces'

const schemas = lazySchema((z) => {
  const url = z.string().transform((text, context) => {
    try {
      return webhookUrl.parse([text], '')
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error
      context.addIssue({ code: 'custom', message: error.message })
      return z.NEVER
    }
  })
  const name = z.string().regex(nameForm, 'must be 1 to 64 letters, digits, _ or -')
  const webhook = z.strictObject({ url, token: z.string().regex(tokenForm, tokenFault).optional() })
  return { webhooks: z.record(name, webhook) }
})

/** `value`: tables by name. `where` names the source in messages. Throws `ConfigurationError`. */
export function parseWebhooks(value: unknown, where = 'webhooks'): Webhook[] {
  if (value === undefined) return []
  const tables = parseWith(schemas().webhooks, value, where, ['url', 'token'])
  const webhooks = Object.entries(tables).map(([name, table]) => ({ name: name.toLowerCase(), ...table }))
  // ARNs do not distinguish them: MinIO's tools write names in either case.
  refuseRepeated(
    where,
    'the name',
    webhooks.map(({ name }) => name),
  )
  return webhooks
}

const ofMinio = /^MINIO_NOTIFY_WEBHOOK_ENABLE(?:_([A-Za-z0-9_-]{1,64}))?$/
const on: ReadonlySet<string> = new Set(['on', 'true', '1', 'yes', 'enabled'])

/** The webhooks of MinIO's variables. One without a name is `_`, as in MinIO's ARNs. Throws `ConfigurationError`. */
export function minioWebhooks(environment: NodeJS.ProcessEnv): Webhook[] {
  return Object.entries(environment).flatMap(([variable, enable = '']): Webhook[] => {
    const [isEnable, name = '_'] = ofMinio.exec(variable) ?? []
    if (isEnable === undefined || !on.has(enable.toLowerCase())) return []
    const endpoint = variable.replace('ENABLE', 'ENDPOINT')
    const tokenName = variable.replace('ENABLE', 'AUTH_TOKEN')
    // MinIO takes the token with or without its scheme.
    const token = environment[tokenName]?.replace(/^Bearer +/i, '')
    if (token && !tokenForm.test(token)) throw new ConfigurationError(`${tokenName}: ${tokenFault}`)
    try {
      const url = webhookUrl.parse([environment[endpoint] ?? ''], '')
      return [{ name: name.toLowerCase(), url, ...(token ? { token } : {}) }]
    } catch (error) {
      throw error instanceof ConfigurationError ? new ConfigurationError(`${endpoint}: ${error.message}`) : error
    }
  })
}

/** Where both name a webhook, the variables count, as with options. */
export function joinedWebhooks(ofFile: readonly Webhook[], ofVariables: readonly Webhook[]): Webhook[] {
  const replaced = new Set(ofVariables.map(({ name }) => name))
  return [...ofFile.filter(({ name }) => !replaced.has(name)), ...ofVariables]
}
