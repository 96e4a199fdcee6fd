/** Exit codes of the command line, for scripts and monitors. */
import type { Health } from '../jobs/locations/location-health.ts'

export const exitCodes = { done: 0, failed: 1, usage: 2 } as const

/** Exit codes of `holdfast locations status`. 1 and 2 still mean that the command failed. */
export const healthExitCodes: Record<Health, number> = { OK: 0, DEGRADED: 3, 'AT RISK': 4 }
