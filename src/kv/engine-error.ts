/** What LMDB said when it failed, which lmdb-js hides. Knows nothing else of either. */
import { getSystemErrorName } from 'node:util'

/** lmdb-js rejects with a general error, and says what LMDB reported in a promise that hangs on it. */
export async function engineError(thrown: unknown): Promise<unknown> {
  if (!(thrown instanceof Error && 'commitError' in thrown)) return thrown
  try {
    await thrown.commitError
    return thrown
  } catch (reported) {
    return reported
  }
}

/** lmdb-js gives the system's number of an error, without the file: here it is one like those of Node's file system. */
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
