/** Ends work that takes too long. */

/**
 * Calls `work` with a signal that is aborted after `ms`, or with `signal`. Node 20 collects the signal of `AbortSignal.timeout` inside `AbortSignal.any` as
 * garbage, and never aborts then: https://github.com/nodejs/node/issues/57736
 */
export async function withDeadline<T>(
  ms: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ending = new AbortController()
  const end = (): void => ending.abort()
  const timer = setTimeout(end, ms)
  if (signal?.aborted) end()
  signal?.addEventListener('abort', end)
  try {
    return await work(ending.signal)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', end)
  }
}
