/** The key of the root account when none is configured: made at the first start, and kept in the data directory. */
import { chmod, readFile, stat } from 'node:fs/promises'
import { type Clock, randomAccessKeyId, randomSecret } from '../clock.ts'
import { type AccessKey, parseAccessKey } from '../config/accounts.ts'
import { ConfigurationError } from '../config/configuration-error.ts'
import { absent, writeFileAtomically } from './atomic-file.ts'

export interface RootKey extends AccessKey {
  /** This call made the key, so nobody has seen it yet. */
  generated: boolean
}

/** Reads the key from `file`, or makes one and saves it there. The caller must own the data directory, so that no other process makes one meanwhile. */
export async function keptRootKey(file: string, clock: Clock): Promise<RootKey> {
  const kept = await readRootKey(file)
  if (kept !== undefined) return { ...kept, generated: false }
  const key = randomKey(clock)
  await writeFileAtomically(file, `${JSON.stringify(key, null, 2)}\n`, 0o600)
  return { ...key, generated: true }
}

/** `undefined`: there is no file. Throws `ConfigurationError` when it is damaged. */
export async function readRootKey(file: string): Promise<AccessKey | undefined> {
  const text = await readFile(file, 'utf8').catch(absent)
  if (text === undefined) return undefined
  // A file restored from a backup may have laxer permissions.
  if (((await stat(file)).mode & 0o077) !== 0) await chmod(file, 0o600)
  return parseAccessKey(parseJson(text, file), file)
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

/** A key in AWS's form: an id of 20 characters, and a secret of 40 (238 bits). */
export function randomKey(clock: Clock): AccessKey {
  return { accessKeyId: randomAccessKeyId(clock), secretAccessKey: randomSecret(clock) }
}
