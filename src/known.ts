/** A value that an index or a key must have: checked, where the types can only say that it may be missing. */

/** Throws when the value is missing: that would be a defect of ours, and never a client's doing. */
export function known<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('a value that must be there is missing')
  return value
}
