/** Every option with its effective value, and the log level. */
import { logLevel, logLevels, type SettingState, setLogLevel, settingStates } from '../../api/machine.ts'
import { useLoaded } from '../../model/loaded.ts'
import { attempt } from '../../model/notices.ts'
import { may } from '../../model/permissions.ts'
import { Show } from '../../ui/loading.tsx'
import { type Column, Table } from '../../ui/table.tsx'

const columns: readonly Column<SettingState>[] = [
  { title: 'Option', show: ({ name }) => <code>{name}</code> },
  { title: 'Value', show: ({ value }) => <code>{value === undefined ? '' : JSON.stringify(value)}</code> },
  { title: 'Meaning', show: ({ summary }) => summary },
]

export function Configuration() {
  const { state, reload } = useLoaded(settingStates, [])
  return (
    <>
      {may('SetLogLevel') && <Level />}
      <Show of={state} again={reload}>
        {(settings) => <Table caption="Configuration" columns={columns} rows={settings} idOf={({ name }) => name} />}
      </Show>
    </>
  )
}

function Level() {
  const { state, reload } = useLoaded(logLevel, [])
  return (
    <Show of={state} again={reload}>
      {(level) => (
        <label class="bar">
          Log level
          <select
            value={level}
            onChange={async ({ currentTarget }) => {
              const chosen = logLevels.find((each) => each === currentTarget.value)
              if (
                chosen !== undefined &&
                (await attempt(() => setLogLevel(chosen), 'The log level holds until the server restarts.'))
              )
                await reload()
            }}
          >
            {logLevels.map((each) => (
              <option key={each} value={each}>
                {each}
              </option>
            ))}
          </select>
        </label>
      )}
    </Show>
  )
}
