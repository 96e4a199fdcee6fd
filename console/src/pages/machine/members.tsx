/** The processes that share the metadata. */
import { type Member, memberStates, serverState } from '../../api/machine.ts'
import { useLoaded } from '../../model/loaded.ts'
import { useSampled } from '../../model/sampled.ts'
import { failureText, timeText } from '../../model/text.ts'
import { Failure, Show } from '../../ui/loading.tsx'
import { type Column, Table } from '../../ui/table.tsx'

const refreshMs = 2000

const columns: readonly Column<Member>[] = [
  {
    title: 'Host',
    show: ({ host, isMaintainer }) => (
      <>
        {host} {isMaintainer && <span class="badge good">maintainer</span>}
      </>
    ),
  },
  { title: 'Kind', show: ({ kind }) => kind },
  { title: 'Process', isNumber: true, show: ({ pid }) => pid },
  { title: 'Since', show: ({ since }) => timeText(since) },
  { title: 'Lease', isNumber: true, show: ({ leaseLeftMs }) => `${(leaseLeftMs / 1000).toFixed(1)} s` },
  { title: 'Clock ahead', isNumber: true, show: ({ clockAheadMs }) => `${clockAheadMs} ms` },
]

export function Members() {
  const { value, failure } = useSampled(memberStates, refreshMs)
  const { state } = useLoaded(serverState, [])
  return (
    <>
      <Show of={state}>
        {({ version, region, workers, started, endpoint }) => (
          <dl class="facts">
            <dt>Version</dt>
            <dd>{version}</dd>
            <dt>Since</dt>
            <dd>{timeText(started)}</dd>
            <dt>Region</dt>
            <dd>{region}</dd>
            <dt>Workers</dt>
            <dd>{workers}</dd>
            <dt>S3</dt>
            <dd>{endpoint}</dd>
          </dl>
        )}
      </Show>
      {failure !== undefined && <Failure>{failureText(failure)}</Failure>}
      {value?.length === 0 && <p>No other server shares the metadata of this one.</p>}
      {value !== undefined && value.length > 0 && (
        <Table caption="Members" columns={columns} rows={value} idOf={({ id }) => id} />
      )}
    </>
  )
}
