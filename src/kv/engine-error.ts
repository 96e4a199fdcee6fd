/** Finds the error that LMDB reported, which lmdb-js hides. */
import { getSystemErrorName } from 'node:util'

/** lmdb-js rejects with a general error; a promise attached to it rejects with what LMDB reported. */
export async function engineError(thrown: unknown): Promise<unknown> {
  if (!(thrown instanceof Error && 'commitError' in thrown)) return thrown
  try {
    await thrown.commitError
    return thrown
  } catch (reported) {
    return reported
  }
}

/** lmdb-js reports the system's error number without the file. Rethrows it in the form of Node's file system errors. */
export function openedAt<T>(path: string, open: () => T): T {
  try {
    return open()
  } catch (thrown) {
    throw openFailure(thrown, path)
  }
}

function openFailure(thrown: unknown, path: string): unknown {
  if (!(thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'number' && thrown.code > 0))
    return thrown
  const code = getSystemErrorName(-thrown.code)
  return Object.assign(new Error(`${code}: ${thrown.message}`, { cause: thrown }), { code, syscall: 'open', path })
}
