/** A panel for one setting: its current value, and a form that changes it. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useContext } from 'preact/hooks'
import { useLoaded } from '../../../model/loaded.ts'
import { tell } from '../../../model/notices.ts'
import { MayChange } from '../../../model/rights.ts'
import { failureText } from '../../../model/text.ts'
import { Button } from '../../../ui/button.tsx'
import { Failure, Show } from '../../../ui/loading.tsx'

interface SettingParts<T> {
  title: string
  load: () => Promise<T>
  /** Gets the loaded value, and a function that loads it again after a change. */
  children: (value: T, reload: () => Promise<void>) => ComponentChildren
}

export function Setting<T>({ title, load, children }: SettingParts<T>) {
  const { state, reload } = useLoaded(load, [])
  return (
    <section class="panel" aria-label={title}>
      <header>
        <h2>{title}</h2>
      </header>
      <Show of={state} again={reload}>
        {(value) => <>{children(value, reload)}</>}
      </Show>
    </section>
  )
}

interface FormParts {
  action?: string
  onSubmit: () => Promise<unknown>
  /** Removes the setting. */
  onRemove?: (() => Promise<unknown>) | undefined
  children: ComponentChildren
}

/** A form in a panel. It shows the reason for a refusal next to its button. */
export function SettingForm({ action = 'Save', onSubmit, onRemove, children }: FormParts) {
  const failure = useSignal('')
  const mayChange = useContext(MayChange)
  const run = async (work: () => Promise<unknown>, done: string) => {
    failure.value = ''
    try {
      await work()
      tell(done)
    } catch (error) {
      failure.value = failureText(error)
    }
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void run(onSubmit, 'Saved.')
      }}
    >
      <fieldset class="bare" disabled={!mayChange}>
        {children}
      </fieldset>
      {failure.value !== '' && <Failure>{failure}</Failure>}
      {mayChange && (
        <div class="bar">
          <Button type="submit" kind="primary">
            {action}
          </Button>
          {onRemove && (
            <Button kind="danger" onClick={() => run(onRemove, 'Removed.')}>
              Remove
            </Button>
          )}
        </div>
      )}
    </form>
  )
}
