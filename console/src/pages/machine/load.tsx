/** Charts of the last two minutes: requests, failures, bytes, and how long the slowest took. */
import { useEffect } from 'preact/hooks'
import { isLost, type Second, seconds, watchRequests } from '../../model/request-log.ts'
import { countText, sizeText } from '../../model/text.ts'
import { Chart } from '../../ui/chart.tsx'
import { Failure } from '../../ui/loading.tsx'

const spanSeconds = 120

const charts: readonly { title: string; of: (second: Second) => number; text: (value: number) => string }[] = [
  { title: 'Requests a second', of: ({ requests }) => requests, text: countText },
  { title: 'Failed a second', of: ({ failed }) => failed, text: countText },
  { title: 'Bytes in a second', of: ({ bytesIn }) => bytesIn, text: sizeText },
  { title: 'Bytes out a second', of: ({ bytesOut }) => bytesOut, text: sizeText },
  { title: 'Slowest request', of: ({ slowestMs }) => slowestMs, text: (value) => `${value.toFixed(0)} ms` },
]

export function Load() {
  useEffect(watchRequests, [])
  const bySecond = new Map(seconds.value.map((second) => [second.at, second]))
  const last = seconds.value.at(-1)?.at ?? 0
  const span = Array.from({ length: spanSeconds }, (_, i) => bySecond.get(last - spanSeconds + 1 + i))
  return (
    <>
      {isLost.value && <Failure>The connection is lost. The browser tries again.</Failure>}
      <div class="panels">
        {charts.map(({ title, of, text }) => (
          <section key={title} class="panel" aria-label={title}>
            <header>
              <h2>{title}</h2>
            </header>
            <Chart label={title} values={span.map((second) => (second === undefined ? 0 : of(second)))} text={text} />
          </section>
        ))}
      </div>
      <p class="quiet">
        As this page has seen them. For longer times, let Prometheus read <code>/metrics</code>.
      </p>
    </>
  )
}
