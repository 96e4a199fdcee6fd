/** How records, groups and payloads are aligned on disk. Pure. */

/** The unit in which devices and page caches write. A write cannot tear data that shares no page with it. */
export const pageBytes = 4096

export function alignUp(bytes: number, unit: number): number {
  return Math.ceil(bytes / unit) * unit
}
