/** Why a store refuses maintenance under a post. */
import { type MaintenancePost, StoreFenced } from './shard-store.ts'

/** Throws `StoreFenced` once the post may be another's. */
export function requireHeld(post: MaintenancePost): void {
  try {
    post.assertHeld()
  } catch (cause) {
    throw new StoreFenced('the post is no longer held', { cause })
  }
}

/** `greater`: the number that the store knows, where it is still there to be read. */
export function tookOver({ number }: MaintenancePost, greater?: number): StoreFenced {
  return new StoreFenced(`number ${number} was followed by ${greater ?? 'a greater one'}`)
}
