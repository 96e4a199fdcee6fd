/** The audit log: who changed what. Each change is written before its answer is sent (ADR 0048). */
import { S3Error } from '../errors.ts'

/** A change as plain data. It never holds a secret. */
export interface AuditEntry {
  /** In the form of ISO 8601. */
  time: string
  /** The port through which the change was requested. `command`: none, because a command made the change itself. */
  port: 's3' | 'admin' | 'command'
  operation: string
  /** Empty, as all that only a request has, if a command made the change. */
  requestId: string
  traceId?: string | undefined
  remote: string
  /** The key that requested the change, or that the browser session began with. Empty: there was no key. */
  accessKeyId: string
  account: string
  user?: string | undefined
  /** The browser session that requested it. */
  session?: string | undefined
  /** The operating system's user who ran the command. */
  operator?: string
  /** What was changed: names by kind. */
  target: Readonly<Record<string, unknown>>
}

export interface AuditLog {
  /** Call it before a change. Rejects with ServiceUnavailable when the change could not be written down. */
  ready(): Promise<void>
  /** Resolves when the entry is durable. Rejects with ServiceUnavailable. */
  record(entry: AuditEntry): Promise<void>
  close(): Promise<void>
}

/** Somewhere that entries go. */
export interface AuditTarget {
  /** Rejects when nothing can be written now. */
  ready(): Promise<void>
  write(line: string): Promise<void>
  close(): Promise<void>
}

export const noAuditLog: AuditLog = { ready: async () => {}, record: async () => {}, close: async () => {} }

/** `failed`: called once for each failure. */
export function auditLogOver(targets: readonly AuditTarget[], failed: (error: unknown) => void): AuditLog {
  if (targets.length === 0) return noAuditLog
  const all = async (act: (target: AuditTarget) => Promise<void>): Promise<void> => {
    try {
      await Promise.all(targets.map(act))
    } catch (error) {
      failed(error)
      throw new S3Error('ServiceUnavailable', {
        message: 'The audit log cannot be written, and the server makes no changes without it.',
        cause: error,
      })
    }
  }
  return {
    ready: () => all((target) => target.ready()),
    record: (entry) => {
      const line = `${JSON.stringify(entry)}\n`
      return all((target) => target.write(line))
    },
    close: async () => void (await Promise.all(targets.map((target) => target.close()))),
  }
}
