/** The key of the root account when nobody configured one: made at the first start, kept in the data directory. */
import { chmod, readFile, stat } from 'node:fs/promises'
import { type Clock, randomAccessKeyId, randomSecret } from '../clock.ts'
import { type AccessKey, parseAccessKey } from '../config/accounts.ts'
import { ConfigurationError } from '../config/configuration-error.ts'
import { writeFileAtomically } from './atomic-file.ts'

export interface RootKey extends AccessKey {
  /** Made by this call, so never shown before. */
  generated: boolean
}

/** Reads the key from `file`, or makes one and keeps it there. The caller owns the data directory, so nobody else makes one meanwhile. */
export async function keptRootKey(file: string, clock: Clock): Promise<RootKey> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (text === undefined) {
    const key = randomKey(clock)
    await writeFileAtomically(file, `${JSON.stringify(key, null, 2)}\n`, 0o600)
    return { ...key, generated: true }
  }
  // A restored backup may have laxer permissions.
  if (((await stat(file)).mode & 0o077) !== 0) await chmod(file, 0o600)
  return { ...parseAccessKey(parseJson(text, file), file), generated: false }
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new ConfigurationError(
      `${file} is damaged. Restore it, or give the key by HOLDFAST_ACCESS_KEY_ID and HOLDFAST_SECRET_ACCESS_KEY`,
    )
  }
}

/** In AWS's form: 20 characters, and 40 (238 bits). */
export function randomKey(clock: Clock): AccessKey {
  return { accessKeyId: randomAccessKeyId(clock), secretAccessKey: randomSecret(clock) }
}
