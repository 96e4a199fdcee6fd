/** Dialogs over the page, by the browser's own `dialog` element, which keeps the focus, gives it back, and closes on Escape. */

import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { Button, IconButton } from './button.tsx'
import { Failure } from './loading.tsx'
import { useSubmit } from './submit.ts'

const fields = 'input:not([type="checkbox"], [readonly]), select, textarea'

interface DialogParts {
  title: string
  onClose: () => void
  /** At the side, for details beside a list. */
  side?: boolean
  children: ComponentChildren
}

export function Dialog({ title, onClose, side = false, children }: DialogParts) {
  const element = useRef<HTMLDialogElement>(null)
  const label = useId()
  // A layout effect, because it opens the dialog before it is painted, and closes it before it leaves the page.
  useLayoutEffect(() => {
    const dialog = element.current
    dialog?.showModal()
    // Whoever opens a form wants to type. The browser would focus the button that closes it.
    dialog?.querySelector<HTMLElement>(`form :is(${fields})`)?.focus()
    return () => {
      // A dialog that is only removed does not give the focus back to the element that opened it.
      dialog?.close()
      const { activeElement } = document
      const isLost = activeElement === document.body || dialog?.contains(activeElement)
      if (isLost) document.getElementById('content')?.focus()
    }
  }, [])
  return (
    // A click outside the dialog closes it, as Escape does.
    // biome-ignore lint/a11y/useKeyWithClickEvents: the browser closes it by Escape
    <dialog
      ref={element}
      class={side ? 'dialog side' : 'dialog'}
      aria-labelledby={label}
      onClose={() => {
        // Without an element, the parent has closed the dialog already, and may show another one by now.
        if (element.current !== null) onClose()
      }}
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
  /** The text of the button. */
  action: string
  danger?: boolean
  onClose: () => void
  /** The dialog closes when it resolves, and shows the reason when it rejects. */
  onSubmit: () => Promise<unknown>
  children: ComponentChildren
}

export function FormDialog({ title, action, danger = false, onClose, onSubmit: submit, children }: FormParts) {
  const send = async () => {
    await submit()
    onClose()
  }
  const { failure, busy, onSubmit } = useSubmit(send)
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={onSubmit}>
        {children}
        {failure.value !== '' && <Failure>{failure}</Failure>}
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

interface DeleteParts {
  /** The name of what is deleted. */
  name: string
  onClose: () => void
  onDelete: () => Promise<unknown>
  /** What else is lost. */
  children: ComponentChildren
}

export function DeleteDialog({ name, onClose, onDelete, children }: DeleteParts) {
  return (
    <FormDialog title={`Delete ${name}?`} action="Delete" danger onClose={onClose} onSubmit={onDelete}>
      <p>{children}</p>
    </FormDialog>
  )
}

interface RunParts {
  title: string
  /** Shown before it begins. */
  question: ComponentChildren
  /** The text of the button that begins it. */
  action: string
  kind: 'primary' | 'danger'
  isOver: boolean
  onBegin: () => void
  onClose: () => void
  /** Buttons to show while it runs, in addition to the one that closes. */
  controls?: ComponentChildren
  /** The progress. */
  children: ComponentChildren
}

/** Asks before something that takes a while, then shows its progress. */
export function RunDialog({ title, question, action, kind, isOver, onBegin, onClose, controls, children }: RunParts) {
  const begun = useSignal(false)
  const begin = () => {
    begun.value = true
    onBegin()
  }
  return (
    <Dialog title={title} onClose={onClose}>
      {begun.value ? (
        <div role="status">
          {children}
          {!isOver && <progress aria-label={title} />}
        </div>
      ) : (
        <p>{question}</p>
      )}
      <footer>
        <Button onClick={onClose}>{isOver ? 'Close' : 'Cancel'}</Button>
        {begun.value ? (
          !isOver && controls
        ) : (
          <Button kind={kind} onClick={begin}>
            {action}
          </Button>
        )}
      </footer>
    </Dialog>
  )
}
