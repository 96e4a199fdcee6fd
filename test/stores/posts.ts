/** Posts of maintainers, for tests. */
import type { MaintenancePost } from '../../src/stores/shard-store.ts'

/** A holder that does not know whether it has lost its post. */
export function heldPost(number: number): MaintenancePost {
  return { number, assertHeld: () => {} }
}
