/** Writes down what a command changes itself, whether a server runs or not. What a command asks a server to change, the server writes down (ADR 0048). */
import { userInfo } from 'node:os'
import { resolve, sep } from 'node:path'
import { systemClock } from '../clock.ts'
import { placeOfMetadata } from '../instance/data-directory.ts'
import { openAuditLog } from '../opening/audit.ts'
import { isoTime } from '../time-text.ts'
import type { Invocation } from './command.ts'
import { openCommandLog } from './log.ts'

interface Audited {
  configuration: Pick<
    Invocation['configuration'],
    'data' | 'auditLog' | 'auditWebhook' | 'auditWebhookToken' | 'logLevel'
  >
  json: boolean
}

/** Makes the change only if it can be written down, if that can be known before. Throws ServiceUnavailable, and what the change throws. */
export async function audited<T>(
  { configuration, json }: Audited,
  { operation, target }: { operation: string; target: Readonly<Record<string, unknown>> },
  change: () => Promise<T>,
): Promise<T> {
  const audit = openAuditLog(configuration, openCommandLog(configuration, { json }))
  try {
    if (!(await isMadeByChange(configuration))) await audit.ready()
    const result = await change()
    await audit.record({
      time: isoTime(systemClock.now()),
      port: 'command',
      operation,
      requestId: '',
      remote: '',
      accessKeyId: '',
      account: '',
      operator: operatorName(),
      target,
    })
    return result
  } finally {
    await audit.close()
  }
}

/** A log in a data directory that is none yet: writing it before the change would make the directory one that holds something else. */
async function isMadeByChange({ data, auditLog }: Audited['configuration']): Promise<boolean> {
  if (auditLog === undefined || !resolve(auditLog).startsWith(resolve(data) + sep)) return false
  return (await placeOfMetadata(data)) === undefined
}

/** A container may run as a user without a name. */
function operatorName(): string {
  try {
    return userInfo().username
  } catch {
    return `${process.getuid?.() ?? ''}`
  }
}
