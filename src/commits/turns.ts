/** Lets changes of one key take turns within a process, so that writers of a hot key wait for each other instead of undoing each other's attempts. */

export const turnOfKey = (bucket: string, key: string): string => `${bucket}/${key}`

/** A queue for each store and name; empty ones are dropped. What another process does is left to the commits' checks. */
const queues = new WeakMap<object, Map<string, Promise<unknown>>>()

/**
 * Runs `work` when everything that came before under any of these names has settled. `waited`: something had come before. Who waits is in all its queues at
 * once, so no two can wait for each other; `work` itself must not ask for a turn under one of them.
 */
export async function inTurn<T>(
  owner: object,
  names: readonly string[],
  work: (waited: boolean) => Promise<T>,
): Promise<T> {
  const queue = queues.get(owner) ?? new Map<string, Promise<unknown>>()
  queues.set(owner, queue)
  const before = names.flatMap((name) => queue.get(name) ?? [])
  const mine = before.length === 0 ? work(false) : Promise.all(before).then(() => work(true))
  // The next in line waits for the end of this one, whatever it is.
  const settled = mine.catch(() => {})
  for (const name of names) queue.set(name, settled)
  try {
    return await mine
  } finally {
    for (const name of names) if (queue.get(name) === settled) queue.delete(name)
  }
}
