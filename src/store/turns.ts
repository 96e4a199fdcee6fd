/** Lets changes of one key take turns within a process, so that writers of a hot key wait for each other instead of undoing each other's attempts. */

/** A queue for each store and name; empty ones are dropped. What another process does is left to the commits' checks. */
const queues = new WeakMap<object, Map<string, Promise<unknown>>>()

/** Runs `work` when everything that came before under this name has settled. `waited`: something had come before. */
export async function inTurn<T>(owner: object, name: string, work: (waited: boolean) => Promise<T>): Promise<T> {
  const queue = queues.get(owner) ?? new Map<string, Promise<unknown>>()
  queues.set(owner, queue)
  const before = queue.get(name)
  const mine = before === undefined ? work(false) : before.then(() => work(true))
  // The next in line waits for the end of this one, whatever it is.
  const settled = mine.catch(() => {})
  queue.set(name, settled)
  try {
    return await mine
  } finally {
    if (queue.get(name) === settled) queue.delete(name)
  }
}
