/** Sends a form, one request at a time, and keeps the reason when it fails. */
import { useSignal } from '@preact/signals'
import { failureText } from '../model/text.ts'

/** `failure`: what to show before the first attempt. */
export function useSubmit(send: () => Promise<unknown>, failed = '') {
  const failure = useSignal(failed)
  const busy = useSignal(false)
  const submit = async () => {
    if (busy.value) return
    busy.value = true
    failure.value = ''
    try {
      await send()
    } catch (error) {
      failure.value = failureText(error)
    } finally {
      busy.value = false
    }
  }
  const onSubmit = (event: Event) => {
    event.preventDefault()
    void submit()
  }
  return { failure, busy, onSubmit }
}
