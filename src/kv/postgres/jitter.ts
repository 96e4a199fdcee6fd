/** Chance for waits, so that gateways do not all act at one moment. */
import { systemClock } from '../../clock.ts'

/** From 0 to 1: gateways that lost the database at one moment don't come back at one. */
export const jitter = (): number => systemClock.random(4).readUInt32LE() / 2 ** 32
