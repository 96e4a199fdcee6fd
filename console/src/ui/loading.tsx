/** What a page shows while it loads, when loading failed, and when there is nothing to show. */
import type { ComponentChildren, JSX } from 'preact'
import type { Loaded } from '../model/loaded.ts'
import { failureText } from '../model/text.ts'
import { Button } from './button.tsx'

export function Show<T>({
  of,
  again,
  children,
}: {
  of: Loaded<T>
  again?: () => unknown
  children: (value: T) => JSX.Element | null
}) {
  if (of.is === 'loading') return <Loading />
  if (of.is === 'failed') {
    return (
      <div class="failure" role="alert">
        <p>{failureText(of.error)}</p>
        {again && <Button onClick={again}>Try again</Button>}
      </div>
    )
  }
  return children(of.value)
}

export const Loading = () => (
  <p class="loading" role="status">
    Loading…
  </p>
)

/** A failure. A screen reader announces it at once. */
export const Failure = ({ children }: { children: ComponentChildren }) => (
  <p class="failure" role="alert">
    {children}
  </p>
)

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h3>{title}</h3>
      {children}
    </div>
  )
}
