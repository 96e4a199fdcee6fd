/** The audit log as a file of JSON lines. It is opened for each line, which changes are rare enough for, so rotating or removing it needs no signal. */
import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { AuditTarget } from './audit-log.ts'

const lineEnd = 10
const { O_WRONLY, O_APPEND, O_CREAT, O_EXCL } = constants

/** All processes of a server append to one file. Each line is one write, so lines never mix. */
export function auditFile(path: string): AuditTarget {
  const withFile = async (line?: string): Promise<void> => {
    const file = await openToAppend(path)
    try {
      if (line === undefined) return
      // A full disk can have taken a part of a line. Nobody could read the next one behind it.
      await file.appendFile((await isCutOff(file, path)) ? `\n${line}` : line)
      await file.datasync()
    } finally {
      await file.close()
    }
  }
  return { ready: () => withFile(), write: withFile, close: async () => {} }
}

async function openToAppend(path: string): Promise<FileHandle> {
  const flags = O_WRONLY | O_APPEND
  try {
    return await open(path, flags)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
  try {
    const made = await open(path, flags | O_CREAT | O_EXCL, 0o600)
    try {
      await syncDirectory(dirname(path))
      return made
    } catch (error) {
      await made.close()
      throw error
    }
  } catch (error) {
    // Another process made it meanwhile.
    if (codeOf(error) === 'EEXIST') return open(path, flags)
    throw error
  }
}

async function syncDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const directory = await open(path)
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

/** Whether the last line has no end. `file` can't be read: a log may be writable only. */
async function isCutOff(file: FileHandle, path: string): Promise<boolean> {
  const stats = await file.stat()
  if (!stats.isFile() || stats.size === 0) return false
  const readable = await open(path).catch(() => undefined)
  try {
    const last = Buffer.alloc(1, lineEnd)
    await readable?.read(last, 0, 1, stats.size - 1)
    return last[0] !== lineEnd
  } finally {
    await readable?.close()
  }
}

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined)
