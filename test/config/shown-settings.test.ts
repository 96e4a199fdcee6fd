/** What operators see of the configuration: every secret that it can hold is left out. */
import { expect, it } from 'vitest'
import { loadConfiguration } from '../../src/config/configuration.ts'
import { shownSettings } from '../../src/config/shown-settings.ts'

it('shows webhooks without their tokens, and without a query that may be one', async () => {
  const environment = {
    HOLDFAST_AUDIT_WEBHOOK: 'https://hooks.example/holdfast?key=canary-in-a-query',
    HOLDFAST_AUDIT_WEBHOOK_TOKEN: 'canary-token-of-the-webhook',
    HOLDFAST_METRICS_TOKEN: 'canary-token-of-the-metrics',
    HOLDFAST_ACCESS_KEY_ID: 'root-key',
    HOLDFAST_SECRET_ACCESS_KEY: 'canary-secret-of-root',
    MINIO_NOTIFY_WEBHOOK_ENABLE_PICTURES: 'on',
    MINIO_NOTIFY_WEBHOOK_ENDPOINT_PICTURES: 'https://hooks.example/events?key=canary-in-a-query',
    MINIO_NOTIFY_WEBHOOK_AUTH_TOKEN_PICTURES: 'canary-token-of-pictures',
    HOLDFAST_METADATA_URL: 'postgres://me:canary-of-the-database@db.example/holdfast',
  }
  const settings = shownSettings(await loadConfiguration({ environment, directory: '/', flags: {} }))
  const shownOf = (name: string): unknown => settings.find((setting) => setting.name === name)?.value
  expect(JSON.stringify(settings)).not.toContain('canary')
  expect(shownOf('audit.webhook')).toBe('https://hooks.example/holdfast?…')
  expect(shownOf('audit.webhookToken')).toBe('(set)')
  expect(shownOf('webhooks.pictures')).toEqual({ url: 'https://hooks.example/events?…', token: '(set)' })
})
