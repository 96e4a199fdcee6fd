/** Random numbers for waits, so that gateways do not all act at the same moment. */
import { systemClock } from '../../clock.ts'

/** At least 0, below 1. */
export const jitter = (): number => systemClock.random(4).readUInt32LE() / 2 ** 32
