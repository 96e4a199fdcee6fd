/** Short messages about what was done or went wrong. A screen reader announces them. */
import { signal } from '@preact/signals'
import { failureText } from './text.ts'

export interface Notice {
  id: number
  text: string
  isFailure: boolean
}

const shownMs = 6000
let lastId = 0

export const notices = signal<readonly Notice[]>([])

export function dismiss(id: number): void {
  notices.value = notices.value.filter((notice) => notice.id !== id)
}

export function tell(text: string): void {
  const id = add(text, false)
  setTimeout(() => dismiss(id), shownMs)
}

/** Stays until it is dismissed. */
export function tellFailure(error: unknown): void {
  add(failureText(error), true)
}

function add(text: string, isFailure: boolean): number {
  lastId += 1
  notices.value = [...notices.value, { id: lastId, text, isFailure }]
  return lastId
}

/** Does what a user asked for, and shows how it went. Resolves with whether it succeeded. */
export async function attempt(work: () => Promise<unknown>, done?: string): Promise<boolean> {
  try {
    await work()
    if (done !== undefined) tell(done)
    return true
  } catch (error) {
    tellFailure(error)
    return false
  }
}
