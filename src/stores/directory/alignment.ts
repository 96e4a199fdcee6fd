/** How records, groups and payloads are aligned on disk. Pure. */

/** The unit in which devices and page caches write. What shares no page with new data cannot be torn by writing it. */
export const pageBytes = 4096

export function alignUp(bytes: number, unit: number): number {
  return Math.ceil(bytes / unit) * unit
}
