/** A window over the page, as the browser's own `dialog` does it: it keeps the focus, and Escape closes it. */

import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { failureText } from '../model/text.ts'
import { Button, IconButton } from './button.tsx'

interface DialogParts {
  title: string
  onClose: () => void
  /** At the side, for what is looked at beside a list. */
  side?: boolean
  children: ComponentChildren
}

export function Dialog({ title, onClose, side = false, children }: DialogParts) {
  const element = useRef<HTMLDialogElement>(null)
  const label = useId()
  useEffect(() => {
    element.current?.showModal()
  }, [])
  return (
    // A click beside the window closes it, as Escape does.
    // biome-ignore lint/a11y/useKeyWithClickEvents: the browser closes it by Escape
    <dialog
      ref={element}
      class={side ? 'dialog side' : 'dialog'}
      aria-labelledby={label}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === element.current) element.current?.close()
      }}
    >
      <div class="dialog-body">
        <header>
          <h2 id={label}>{title}</h2>
          <IconButton icon="close" label="Close" onClick={() => element.current?.close()} />
        </header>
        {children}
      </div>
    </dialog>
  )
}

interface FormParts {
  title: string
  /** What the button says. */
  action: string
  danger?: boolean
  onClose: () => void
  /** The dialog closes when it resolves, and shows the reason when it rejects. */
  onSubmit: () => Promise<unknown>
  children: ComponentChildren
}

export function FormDialog({ title, action, danger = false, onClose, onSubmit, children }: FormParts) {
  const failure = useSignal('')
  const busy = useSignal(false)
  const submit = async (event: Event) => {
    event.preventDefault()
    if (busy.value) return
    busy.value = true
    failure.value = ''
    try {
      await onSubmit()
      onClose()
    } catch (error) {
      failure.value = failureText(error)
    } finally {
      busy.value = false
    }
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={(event) => void submit(event)}>
        {children}
        {failure.value !== '' && (
          <p class="failure" role="alert">
            {failure}
          </p>
        )}
        <footer>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind={danger ? 'danger' : 'primary'} disabled={busy.value}>
            {action}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
