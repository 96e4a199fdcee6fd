/** Validates the configuration's webhooks, which buckets can tell of events: of the TOML file, and of MinIO's variables. */
import { lazySchema } from '../lazy-schema.ts'
import type { Webhook } from '../webhook.ts'
import { ConfigurationError } from './configuration-error.ts'
import { type Kind, token, webhookUrl } from './kinds.ts'
import { parseWith } from './parse-with.ts'

const schemas = lazySchema((z) => {
  const checkedBy = (kind: Kind<string>) =>
    z.string().transform((text, context) => {
      try {
        return kind.parse([text], '')
      } catch (error) {
        if (!(error instanceof ConfigurationError)) throw error
        context.addIssue({ code: 'custom', message: error.message })
        return z.NEVER
      }
    })
  const name = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, _ or -')
  const webhook = z.strictObject({ url: checkedBy(webhookUrl), token: checkedBy(token).optional() })
  return { webhooks: z.record(name, webhook) }
})

/** `value`: tables by name. `where` names the source in messages. Throws `ConfigurationError`. */
export function parseWebhooks(value: unknown, where = 'webhooks'): Webhook[] {
  if (value === undefined) return []
  const tables = parseWith(schemas().webhooks, value, where, ['url', 'token'])
  return Object.entries(tables).map(([name, table]) => ({ name, ...table }))
}

const ofMinio = /^MINIO_NOTIFY_WEBHOOK_ENDPOINT(?:_(.+))?$/

/** The webhooks of MinIO's variables. A name is in lower case, as in MinIO's ARNs; `_` without one. Throws `ConfigurationError`. */
export function minioWebhooks(environment: NodeJS.ProcessEnv): Webhook[] {
  const tables: Record<string, { url: string; token?: string }> = {}
  for (const [variable, url] of Object.entries(environment)) {
    const [isEndpoint, name] = ofMinio.exec(variable) ?? []
    if (isEndpoint === undefined || !url) continue
    const of = (what: string): string | undefined => environment[variable.replace('ENDPOINT', what)]
    if (of('ENABLE') !== 'on') continue
    const authToken = of('AUTH_TOKEN')
    tables[name?.toLowerCase() ?? '_'] = authToken ? { url, token: authToken } : { url }
  }
  return parseWebhooks(tables, 'MINIO_NOTIFY_WEBHOOK')
}

/** Where both name a webhook, the variables count, as with options. */
export function joinedWebhooks(ofFile: readonly Webhook[], ofVariables: readonly Webhook[]): Webhook[] {
  const replaced = new Set(ofVariables.map(({ name }) => name))
  return [...ofFile.filter(({ name }) => !replaced.has(name)), ...ofVariables]
}
