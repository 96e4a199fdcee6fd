/** Makes changes of one key take turns within a process, so that writers of a hot key wait for each other instead of failing each other's commits. */

export const turnOfKey = (bucket: string, key: string): string => `${bucket}/${key}`

/** The last work of each queue, by owner and name. Finished queues are dropped. Changes by other processes are caught by the commits' checks. */
const queues = new WeakMap<object, Map<string, Promise<unknown>>>()

function queueOf(owner: object): Map<string, Promise<unknown>> {
  const known = queues.get(owner)
  if (known !== undefined) return known
  const queue = new Map<string, Promise<unknown>>()
  queues.set(owner, queue)
  return queue
}

/** Runs `work` when all earlier work under this name has settled. `waited`: there was earlier work. */
export async function inTurn<T>(owner: object, name: string, work: (waited: boolean) => Promise<T>): Promise<T> {
  const queue = queueOf(owner)
  const before = queue.get(name)
  const mine = before === undefined ? work(false) : before.then(() => work(true))
  // The next in line waits for this one to end, even if it fails.
  const settled = mine.catch(() => {})
  queue.set(name, settled)
  try {
    return await mine
  } finally {
    if (queue.get(name) === settled) queue.delete(name)
  }
}

/**
 * The same for several names. The work joins all its queues at once, so two callers never wait for each other. `work` itself must not ask for a turn under
 * any of the names.
 */
export async function inTurns<T>(owner: object, names: readonly string[], work: () => Promise<T>): Promise<T> {
  const queue = queueOf(owner)
  const before = names.flatMap((name) => queue.get(name) ?? [])
  const mine = before.length === 0 ? work() : Promise.all(before).then(work)
  const settled = mine.catch(() => {})
  for (const name of names) queue.set(name, settled)
  try {
    return await mine
  } finally {
    for (const name of names) if (queue.get(name) === settled) queue.delete(name)
  }
}
