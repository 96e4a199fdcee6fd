/** Reads notes that engines keep as JSON: the report of the last check, and the fields of others. Pure. */
import type { CheckReport } from './kv.ts'

/** The fields of a note; none when it is damaged. */
export function noteFields(text: string): Record<string, unknown> {
  try {
    const note: unknown = JSON.parse(text)
    return typeof note === 'object' && note !== null ? { ...note } : {}
  } catch {
    return {}
  }
}

/** `undefined` when the report is damaged. */
export function readReport(text: string): CheckReport | undefined {
  const { startedMs, entries, coversBelow, damagedRecords, damagedKeys, damage } = noteFields(text)
  if (typeof startedMs !== 'number' || typeof entries !== 'number') return undefined
  if (typeof coversBelow !== 'number' || typeof damagedRecords !== 'number') return undefined
  if (!Array.isArray(damagedKeys) || !damagedKeys.every((key) => typeof key === 'string')) return undefined
  const report: CheckReport = { startedMs, entries, coversBelow, damagedRecords, damagedKeys }
  return typeof damage === 'string' ? { ...report, damage } : report
}
