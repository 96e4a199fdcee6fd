/** A value that a page requests again and again while it is shown. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

export interface Sampled<T> {
  value: T | undefined
  failure: unknown
}

/** Waits for each answer before it asks again, and does not ask while the page is in the background. */
export function useSampled<T>(ask: () => Promise<T>, everyMs: number): Sampled<T> {
  const sampled = useSignal<Sampled<T>>({ value: undefined, failure: undefined })
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let isOver = false
    const next = async () => {
      if (!document.hidden) {
        sampled.value = await ask().then(
          (value) => ({ value, failure: undefined }),
          (failure: unknown) => ({ value: sampled.peek().value, failure }),
        )
      }
      if (!isOver) timer = setTimeout(() => void next(), everyMs)
    }
    void next()
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [])
  return sampled.value
}
