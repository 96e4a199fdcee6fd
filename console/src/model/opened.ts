/** Whether a dialog is open, and what it is about. */
import { useSignal } from '@preact/signals'

export interface Opened<T> {
  /** `undefined`: the dialog is closed. */
  readonly for: T | undefined
  open(what: T): void
  close(): void
}

export function useOpened<T = true>(): Opened<T> {
  const what = useSignal<T | undefined>(undefined)
  return {
    get for() {
      return what.value
    },
    open(opened) {
      what.value = opened
    },
    close() {
      what.value = undefined
    },
  }
}
