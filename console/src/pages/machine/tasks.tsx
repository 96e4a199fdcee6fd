/** The list of tasks and their progress. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { watchAdmin } from '../../api/admin.ts'
import { cancelTask, type Progress, type Task } from '../../api/machine.ts'
import { attempt } from '../../model/notices.ts'
import { may } from '../../model/permissions.ts'
import { countText, percentText, sizeText, timeText } from '../../model/text.ts'
import { Button } from '../../ui/button.tsx'
import { Empty, Failure, Loading } from '../../ui/loading.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { StartButtons } from './start-buttons.tsx'

const kinds: Record<Task['state'], string> = {
  waiting: '',
  running: 'warning',
  done: 'good',
  failed: 'danger',
  cancelled: '',
}

const columns: readonly Column<Task>[] = [
  {
    title: 'Task',
    show: ({ kind, name }) => (
      <>
        <strong>{kind}</strong> {name}
      </>
    ),
  },
  {
    title: 'State',
    show: ({ state, reason }) => (
      <>
        <span class={`badge ${kinds[state]}`}>{state}</span> {reason}
      </>
    ),
  },
  { title: 'Progress', show: ({ progress }) => <ShownProgress progress={progress} /> },
  { title: 'Begun', show: ({ started, requested }) => timeText(started ?? requested) },
  { title: 'Ended', show: ({ ended }) => (ended === undefined ? '' : timeText(ended)) },
  {
    title: '',
    isNumber: true,
    show: (task) =>
      (task.state === 'running' || task.state === 'waiting') && may('CancelTask') ? (
        <Button onClick={() => attempt(() => cancelTask(task), 'Cancelled.')}>Cancel</Button>
      ) : null,
  },
]

export function Tasks() {
  const tasks = useSignal<readonly Task[] | undefined>(undefined)
  const lost = useSignal(false)
  useEffect(
    () =>
      watchAdmin<{ tasks: Task[] }>(
        '/v1/tasks/events',
        (event) => {
          tasks.value = event.tasks
        },
        (isLost) => {
          lost.value = isLost
        },
      ),
    [],
  )
  return (
    <>
      <StartButtons kinds={['scrub', 'repair', 'snapshot', 'reclaim']} />
      {lost.value && <Failure>The connection is lost. The browser tries again.</Failure>}
      {tasks.value === undefined ? (
        <Loading />
      ) : tasks.value.length === 0 ? (
        <Empty title="No task has run within 30 days" />
      ) : (
        <Table caption="Tasks" columns={columns} rows={tasks.value} idOf={({ id }) => id} />
      )}
    </>
  )
}

function ShownProgress({ progress: { done, total, unit, counts } }: { progress: Progress }) {
  const amount = (value: number) => (unit === 'bytes' ? sizeText(value) : `${countText(value)} ${unit}`)
  const details = Object.entries(counts).map(([name, count]) => `${name} ${countText(count)}`)
  return (
    <>
      {total !== undefined && total > 0 && <progress value={done} max={total} aria-label="Progress" />}
      <span>
        {amount(done)}
        {total !== undefined && ` of ${amount(total)} (${percentText(done, total)})`}
        {details.length > 0 && `; ${details.join(', ')}`}
      </span>
    </>
  )
}
