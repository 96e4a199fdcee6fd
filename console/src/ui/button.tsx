/** Buttons with text, with an icon and text, or with an icon alone, whose text only a screen reader and a tooltip show. */

import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { Icon, type IconName } from './icon.tsx'

interface ButtonParts {
  icon?: IconName
  kind?: 'plain' | 'primary' | 'danger'
  disabled?: boolean
  title?: string
  /** For switches: whether it is on. */
  pressed?: boolean
  type?: 'button' | 'submit'
  /** While the promise is pending, the button is busy. */
  onClick?: () => unknown
  children: ComponentChildren
}

export function Button({
  icon,
  kind = 'plain',
  disabled = false,
  title,
  pressed,
  type = 'button',
  onClick,
  children,
}: ButtonParts) {
  const busy = useSignal(false)
  const run = async () => {
    if (busy.value) return
    busy.value = true
    try {
      await onClick?.()
    } finally {
      busy.value = false
    }
  }
  return (
    <button
      type={type}
      class={`button ${kind}`}
      disabled={disabled}
      aria-busy={busy.value}
      aria-pressed={pressed}
      title={title}
      onClick={onClick === undefined ? undefined : () => void run()}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  )
}

export function IconButton({
  icon,
  label,
  onClick,
  isInTabOrder = true,
}: {
  icon: IconName
  label: string
  onClick: () => unknown
  /** False: something that has the focus does the same on a key. */
  isInTabOrder?: boolean
}) {
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={label}
      title={label}
      tabIndex={isInTabOrder ? undefined : -1}
      onClick={() => void onClick()}
    >
      <Icon name={icon} />
    </button>
  )
}
