/** Lets only one process at a time change a key ring. If two wrote the file, one would lose the other's new key, and all data encrypted with it. */
import { createHash } from 'node:crypto'
import { realpath } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type Clock, randomId } from '../clock.ts'
import { livingProofs, proveLife } from './proof-of-life.ts'

/** Another process is changing the key ring. */
export class KeyRingBusy extends Error {
  constructor(directory: string) {
    super(`another process changes the key ring in ${directory}; try again when it has ended`)
    this.name = 'KeyRingBusy'
  }
}

/** The lock ends with `change`, or with the process. When two processes begin together, both may be refused. Throws `KeyRingBusy`. */
export async function changingKeyRing<T>(file: string, clock: Clock, change: () => Promise<T>): Promise<T> {
  const directory = dirname(file)
  // Proofs may be in the directory for temporary files, together with those of other rings.
  const prefix = `keys-${createHash('sha256')
    .update(await realpath(directory))
    .digest('hex')
    .slice(0, 16)}-`
  const proof = await proveLife(directory, prefix + randomId(clock))
  try {
    if ((await livingProofs(proof.directory, prefix)).length > 1) throw new KeyRingBusy(directory)
    return await change()
  } finally {
    await proof.end()
  }
}
