/** Light or dark: the system's setting, unless the user has chosen. */
import { effect, signal } from '@preact/signals'

export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

const stored = localStorage.getItem('theme')

export const theme = signal<Theme>(themes.find((each) => each === stored) ?? 'system')

effect(() => {
  if (theme.value === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme.value
  localStorage.setItem('theme', theme.value)
})
