/** Opens the audit log that the configuration names. */
import { auditFile } from '../audit/audit-file.ts'
import { type AuditLog, auditLogOver } from '../audit/audit-log.ts'
import { auditWebhook } from '../audit/audit-webhook.ts'
import type { AdminSettings } from '../config/admin-options.ts'

interface AuditWarnings {
  warn(message: string): void
  error(fields: { err: unknown }, message: string): void
}

export function openAuditLog(
  {
    auditLog,
    auditWebhook: url,
    auditWebhookToken: token,
  }: Pick<AdminSettings, 'auditLog' | 'auditWebhook' | 'auditWebhookToken'>,
  log: AuditWarnings,
): AuditLog {
  const targets = [
    ...(auditLog === undefined ? [] : [auditFile(auditLog)]),
    ...(url === undefined ? [] : [auditWebhook({ url, token, warn: (message) => log.warn(message) })]),
  ]
  return auditLogOver(targets, (err) => log.error({ err }, 'the audit log cannot be written: changes are refused'))
}
