/** The health of a location in one word for monitors. Pure. */
import type { LocationStatus } from './location-status.ts'

const healths = ['OK', 'DEGRADED', 'AT RISK'] as const
export type Health = (typeof healths)[number]

/** `AT RISK`: data is lost, or one more failure can lose data although the location is meant to survive one. */
export function healthOf({
  stores,
  degradedBlobs,
  lostBlobs,
  failuresSurvived,
}: Pick<LocationStatus, 'degradedBlobs' | 'lostBlobs' | 'failuresSurvived'> & {
  stores: readonly Pick<LocationStatus['stores'][number], 'state'>[]
}): Health {
  const { now, whole } = failuresSurvived
  const isLost = lostBlobs > 0 || (whole === 0 && stores.some(({ state }) => state === 'out'))
  if (isLost || (now === 0 && whole > 0)) return 'AT RISK'
  return now < whole || degradedBlobs > 0 || stores.some(({ state }) => state !== 'up') ? 'DEGRADED' : 'OK'
}

export function worstHealth(found: readonly Health[]): Health {
  return healths.findLast((health) => found.includes(health)) ?? 'OK'
}
