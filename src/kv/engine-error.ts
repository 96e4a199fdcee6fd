/** What LMDB said when a commit failed, which lmdb-js hides. Knows nothing else of either. */

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
