/** Work on many things, several of them at a time. */

/** Resolves when all are done. After a failure no more are begun; it rejects when those under way have ended. */
export async function eachOf<T>(
  things: AsyncIterable<T> | Iterable<T>,
  atOnce: number,
  work: (thing: T) => Promise<void>,
): Promise<void> {
  let failure: { error: unknown } | undefined
  const rest = allOf(things)
  const worker = async (): Promise<void> => {
    try {
      for await (const thing of untilEnd(rest)) {
        if (failure !== undefined) return
        await work(thing)
      }
    } catch (error) {
      failure ??= { error }
    }
  }
  try {
    await Promise.all(Array.from({ length: atOnce }, worker))
  } finally {
    await rest.return(undefined)
  }
  if (failure !== undefined) throw failure.error
}

async function* allOf<T>(things: AsyncIterable<T> | Iterable<T>): AsyncGenerator<T> {
  yield* things
}

/** The rest of `things`, which another caller may go on with. */
async function* untilEnd<T>(things: AsyncIterator<T>): AsyncGenerator<T> {
  for (let next = await things.next(); next.done !== true; next = await things.next()) yield next.value
}
