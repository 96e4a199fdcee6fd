/** Buttons that start tasks. */
import { startTask, type TaskOrder } from '../../api/machine.ts'
import { attempt } from '../../model/notices.ts'
import { may } from '../../model/permissions.ts'
import { Button } from '../../ui/button.tsx'

const titles = {
  scrub: 'Scrub',
  repair: 'Repair',
  snapshot: 'Snapshot metadata',
  reclaim: 'Reclaim space',
} satisfies Partial<Record<TaskOrder['kind'], string>>

export function StartButtons({ kinds }: { kinds: readonly (keyof typeof titles)[] }) {
  if (!may('StartTask')) return null
  return (
    <span class="bar">
      {kinds.map((kind) => (
        <Button key={kind} icon="play" onClick={() => attempt(() => startTask({ kind }), `${titles[kind]}: started.`)}>
          {titles[kind]}
        </Button>
      ))}
    </span>
  )
}
