/** What a page loads: its state, and a way to load it again. */
import { useSignal } from '@preact/signals'
import { useCallback, useEffect } from 'preact/hooks'

export type Loaded<T> = { is: 'loading' } | { is: 'ready'; value: T } | { is: 'failed'; error: unknown }

/** Loads when the page is shown, and whenever `keys` change. The earlier value stays visible meanwhile. */
export function useLoaded<T>(
  load: () => Promise<T>,
  keys: readonly unknown[],
): { state: Loaded<T>; reload: () => Promise<void> } {
  const state = useSignal<Loaded<T>>({ is: 'loading' })
  const turn = useSignal(0)
  const reload = useCallback(async () => {
    const mine = turn.peek() + 1
    turn.value = mine
    const result = await load().then<Loaded<T>, Loaded<T>>(
      (value) => ({ is: 'ready', value }),
      (error: unknown) => ({ is: 'failed', error }),
    )
    if (turn.peek() === mine) state.value = result
  }, keys)
  useEffect(() => {
    state.value = { is: 'loading' }
    void reload()
    return () => {
      turn.value = turn.peek() + 1
    }
  }, [reload])
  return { state: state.value, reload }
}
