/** Inputs with their labels, bound to signals. */
import { type Signal, useSignal } from '@preact/signals'
import { type ComponentChildren, h, type TargetedInputEvent } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { Icon } from './icon.tsx'

interface TextParts {
  label: string
  value: Signal<string>
  hint?: ComponentChildren
  type?: 'text' | 'password' | 'number' | 'datetime-local' | 'url'
  required?: boolean
  pattern?: string
  placeholder?: string
  autocomplete?: AutoFill
  spellcheck?: boolean
  min?: number
  max?: number
  readOnly?: boolean
}

export function TextField({ label, value, hint, type = 'text', spellcheck = false, ...input }: TextParts) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {h('input', {
        id,
        type,
        value,
        spellcheck,
        'aria-describedby': hint === undefined ? undefined : `${id}-hint`,
        onInput: ({ currentTarget }: TargetedInputEvent<HTMLInputElement>) => {
          value.value = currentTarget.value
        },
        ...input,
      })}
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}

export function TextArea({
  label,
  value,
  rows = 12,
  code = false,
}: {
  label: string
  value: Signal<string>
  rows?: number
  code?: boolean
}) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        rows={rows}
        class={code ? 'code' : ''}
        spellcheck={!code}
        value={value}
        onInput={({ currentTarget }) => {
          value.value = currentTarget.value
        }}
      />
    </div>
  )
}

interface ChoiceParts<T extends string> {
  label: string
  value: Signal<T>
  options: readonly (readonly [T, string])[]
  hint?: ComponentChildren
}

export function Choice<T extends string>({ label, value, options, hint }: ChoiceParts<T>) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        id={id}
        value={value}
        onChange={({ currentTarget }) => {
          const chosen = options.find(([each]) => each === currentTarget.value)
          if (chosen !== undefined) value.value = chosen[0]
        }}
      >
        {options.map(([each, text]) => (
          <option key={each} value={each}>
            {text}
          </option>
        ))}
      </select>
      {hint !== undefined && <p class="hint">{hint}</p>}
    </div>
  )
}

export function Check({
  label,
  value,
  disabled = false,
}: {
  label: ComponentChildren
  value: Signal<boolean>
  disabled?: boolean
}) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={value}
        disabled={disabled}
        onChange={({ currentTarget }) => {
          value.value = currentTarget.checked
        }}
      />
      <span>{label}</span>
    </label>
  )
}

/** A switch for a state that is kept elsewhere. */
export function Toggle({ label, on, onChange }: { label: string; on: boolean; onChange: (on: boolean) => void }) {
  return (
    <label class="check">
      <input type="checkbox" checked={on} onChange={({ currentTarget }) => onChange(currentTarget.checked)} />
      <span>{label}</span>
    </label>
  )
}

/** Reports the text when the user pauses, so that not every letter causes a request. */
export function SearchField({
  label,
  value,
  onSearch,
}: {
  label: string
  value: string
  onSearch: (text: string) => void
}) {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  // Keeps text that is not reported yet when the page around it renders again.
  const typed = useSignal(value)
  useEffect(() => {
    typed.value = value
  }, [value])
  return (
    <label class="search">
      <Icon name="search" />
      <span class="unseen">{label}</span>
      <input
        type="search"
        placeholder={label}
        value={typed}
        spellcheck={false}
        onInput={({ currentTarget: { value: text } }) => {
          typed.value = text
          clearTimeout(timer.current)
          timer.current = setTimeout(() => onSearch(text), searchPauseMs)
        }}
      />
    </label>
  )
}

const searchPauseMs = 250
