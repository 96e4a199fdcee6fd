/** The live log of requests. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { SeenRequest } from '../../api/machine.ts'
import { dropped, isLost, lines, watchRequests } from '../../model/request-log.ts'
import { countText, sizeText } from '../../model/text.ts'
import { Button } from '../../ui/button.tsx'
import { SearchField, Toggle } from '../../ui/fields.tsx'
import { Empty, Failure } from '../../ui/loading.tsx'
import { type Column, Table } from '../../ui/table.tsx'

const shownMax = 200

const columns: readonly Column<SeenRequest>[] = [
  { title: 'Time', show: ({ time }) => time.slice(11, 23) },
  { title: 'Operation', show: ({ operation }) => operation },
  {
    title: 'Path',
    show: ({ method, path }) => (
      <code>
        {method} {path}
      </code>
    ),
  },
  {
    title: 'Answer',
    show: ({ status, code }) => (
      <span class={`badge ${status === 0 || status >= 500 ? 'danger' : status >= 400 ? 'warning' : 'good'}`}>
        {status} {code}
      </span>
    ),
  },
  { title: 'In', isNumber: true, show: ({ bytesIn }) => sizeText(bytesIn) },
  { title: 'Out', isNumber: true, show: ({ bytesOut }) => sizeText(bytesOut) },
  { title: 'Took', isNumber: true, show: ({ durationMs }) => `${durationMs.toFixed(1)} ms` },
  { title: 'Key', show: ({ accessKeyId }) => <code>{accessKeyId}</code> },
]

export function Requests() {
  useEffect(watchRequests, [])
  const search = useSignal('')
  const failedOnly = useSignal(false)
  const held = useSignal<readonly SeenRequest[] | undefined>(undefined)
  const shown = (held.value ?? lines.value)
    .filter(({ status }) => !failedOnly.value || status === 0 || status >= 400)
    .filter(({ operation, path, accessKeyId }) => `${operation} ${path} ${accessKeyId}`.includes(search.value))
  return (
    <>
      <div class="bar">
        <SearchField
          label="Operation, path or key"
          value={search.value}
          onSearch={(text) => {
            search.value = text
          }}
        />
        <Toggle
          label="Only failed requests"
          on={failedOnly.value}
          onChange={(on) => {
            failedOnly.value = on
          }}
        />
        <Button
          icon={held.value ? 'play' : 'pause'}
          onClick={() => {
            held.value = held.value ? undefined : lines.value
          }}
        >
          {held.value ? 'Go on' : 'Hold'}
        </Button>
        {dropped.value > 0 && <span class="quiet">{countText(dropped.value)} came too fast to be shown</span>}
      </div>
      {isLost.value && <Failure>The connection is lost. The browser tries again.</Failure>}
      {shown.length === 0 ? (
        <Empty title="No requests yet">
          <p>Requests to the S3 port of this server appear here as they are answered.</p>
        </Empty>
      ) : (
        <Table
          caption="Requests"
          columns={columns}
          rows={shown.slice(0, shownMax)}
          idOf={({ requestId }) => requestId}
        />
      )}
    </>
  )
}
