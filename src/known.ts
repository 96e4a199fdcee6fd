/** Asserts that a value exists, where the code guarantees it but the type says that it can be missing. */

/** Throws when the value is missing, which is a bug of ours, never a client's fault. */
export function known<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('a value that must be there is missing')
  return value
}
