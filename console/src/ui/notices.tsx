/** Shows the notices in a corner. Failures stay until they are dismissed. */
import { dismiss, notices } from '../model/notices.ts'
import { IconButton } from './button.tsx'

export function Notices() {
  return (
    <div class="notices" role="log" aria-live="polite">
      {notices.value.map(({ id, text, isFailure }) => (
        <div key={id} class={isFailure ? 'notice failed' : 'notice'} role={isFailure ? 'alert' : undefined}>
          <span>{text}</span>
          <IconButton icon="close" label="Dismiss" onClick={() => dismiss(id)} />
        </div>
      ))}
    </div>
  )
}
