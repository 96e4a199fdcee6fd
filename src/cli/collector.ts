/** How often V8 collects garbage in a process that serves. */
import { setFlagsFromString } from 'node:v8'
import { limits } from '../limits.ts'

/**
 * Every piece of a body that node reads is a buffer of its own, and V8 counts it against a heap that is small otherwise: left alone, it marks all of the
 * heap every 20 MB of bodies, for a third of what an upload costs. With more room its cheap collections of young objects free the buffers first.
 */
export function collectLessOften(): void {
  setFlagsFromString(`--heap-growing-percent=${limits.heapGrowingPercent}`)
}
