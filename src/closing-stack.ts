/** Closes what was opened, in reverse order. */

export interface ClosingStack {
  /** Closed before all that was added earlier. */
  add(close: () => void | Promise<void>): void
  /** Closes everything once, even when some of it fails; then throws the first failure. */
  close(): Promise<void>
}

export function closingStack(): ClosingStack {
  const closers: (() => void | Promise<void>)[] = []
  let closing: Promise<void> | undefined

  async function closeAll(): Promise<void> {
    const failures: unknown[] = []
    for (let close = closers.pop(); close !== undefined; close = closers.pop()) {
      try {
        await close()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }

  return {
    add: (close) => {
      closers.push(close)
    },
    close: () => {
      closing ??= closeAll()
      return closing
    },
  }
}

/** Runs `build`; when it fails half-way, closes what it had added. */
export async function opening<T>(build: (stack: ClosingStack) => Promise<T>): Promise<T> {
  const stack = closingStack()
  try {
    return await build(stack)
  } catch (error) {
    // The first failure is the one to report; the others follow from it.
    await stack.close().catch(() => {})
    throw error
  }
}
