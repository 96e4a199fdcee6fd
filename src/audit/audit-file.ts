/** The audit log as a file of JSON lines. It is opened for each line, which changes are rare enough for, so rotating or removing it needs no signal. */
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import type { AuditTarget } from './audit-log.ts'

const { O_WRONLY, O_APPEND, O_CREAT } = constants

/** All processes of a server append to one file. Each line is one write, so lines never mix. */
export function auditFile(path: string): AuditTarget {
  const withFile = async (write?: string): Promise<void> => {
    const file = await open(path, O_WRONLY | O_APPEND | O_CREAT, 0o600)
    try {
      if (write === undefined) return
      await file.appendFile(write)
      await file.datasync()
    } finally {
      await file.close()
    }
  }
  return { ready: () => withFile(), write: withFile, close: async () => {} }
}
