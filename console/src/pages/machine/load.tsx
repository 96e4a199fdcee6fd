/** Charts of the last two minutes: the requests that the server answers, and how busy it is with everything. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { failure, type Sample, samples, samplesMax, watchMetrics } from '../../model/metric-log.ts'
import { may } from '../../model/permissions.ts'
import { isLost, type Second, seconds, serverNowMs, watchRequests } from '../../model/request-log.ts'
import { countText, failureText, sizeText } from '../../model/text.ts'
import { Chart } from '../../ui/chart.tsx'
import { Failure } from '../../ui/loading.tsx'

const spanSeconds = 120

interface Charted<T> {
  title: string
  of: (one: T) => number
  text: (value: number) => string
}

const ofRequests: readonly Charted<Second>[] = [
  { title: 'Requests a second', of: ({ requests }) => requests, text: countText },
  { title: 'Failed a second', of: ({ failed }) => failed, text: countText },
  { title: 'Bytes in a second', of: ({ bytesIn }) => bytesIn, text: sizeText },
  { title: 'Bytes out a second', of: ({ bytesOut }) => bytesOut, text: sizeText },
  { title: 'Slowest request', of: ({ slowestMs }) => slowestMs, text: (value) => `${value.toFixed(0)} ms` },
]

const ofServer: readonly Charted<Sample>[] = [
  { title: 'Processors in use', of: ({ processors }) => processors, text: (value) => value.toFixed(2) },
  { title: 'Memory', of: ({ residentBytes }) => residentBytes, text: sizeText },
  {
    title: 'Event loop late',
    of: ({ lateSeconds }) => lateSeconds * 1000,
    text: (value) => `${value.toFixed(0)} ms`,
  },
  { title: 'Blobs waiting for repair', of: ({ repairs }) => repairs, text: countText },
  { title: 'Garbage waiting to be removed', of: ({ garbage }) => garbage, text: countText },
]

export function Load() {
  return (
    <>
      {may('WatchRequests') && <Requests />}
      {may('GetMetrics') && <Server />}
      <p class="quiet">
        As this page has seen them. For longer times, let Prometheus read <code>/metrics</code>.
      </p>
    </>
  )
}

function Requests() {
  useEffect(watchRequests, [])
  const now = useSecondOfServer()
  const bySecond = new Map(seconds.value.map((second) => [second.at, second]))
  const span = Array.from({ length: spanSeconds }, (_, i) => bySecond.get(now - spanSeconds + i))
  return (
    <>
      {isLost.value && <Failure>The connection is lost. The browser tries again.</Failure>}
      <Charts charts={ofRequests} span={span} />
    </>
  )
}

/** The second that is not over yet. */
function useSecondOfServer(): number {
  const second = useSignal(Math.floor(serverNowMs() / 1000))
  useEffect(() => {
    const timer = setInterval(() => {
      second.value = Math.floor(serverNowMs() / 1000)
    }, 500)
    return () => clearInterval(timer)
  }, [])
  return second.value
}

function Server() {
  useEffect(watchMetrics, [])
  const missing = samplesMax - samples.value.length
  const span = [...Array.from({ length: missing }, () => undefined), ...samples.value]
  return (
    <>
      {failure.value !== undefined && <Failure>{failureText(failure.value)}</Failure>}
      <Charts charts={ofServer} span={span} />
    </>
  )
}

function Charts<T>({ charts, span }: { charts: readonly Charted<T>[]; span: readonly (T | undefined)[] }) {
  return (
    <div class="panels">
      {charts.map(({ title, of, text }) => (
        <section key={title} class="panel" aria-label={title}>
          <header>
            <h2>{title}</h2>
          </header>
          <Chart label={title} values={span.map((one) => (one === undefined ? 0 : of(one)))} text={text} />
        </section>
      ))}
    </div>
  )
}
