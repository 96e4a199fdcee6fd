/** Metrics of the server over the last minutes, as the console has asked for them. */
import { signal } from '@preact/signals'
import { type MetricFamily, metricFamilies } from '../api/machine.ts'

export interface Sample {
  atMs: number
  /** Seconds of processor time in each second, since the sample before. */
  processors: number
  residentBytes: number
  /** The event loop's delay that one of a hundred turns exceeds. */
  lateSeconds: number
  repairs: number
  garbage: number
}

const everyMs = 2000
export const samplesMax = 60

export const samples = signal<readonly Sample[]>([])
export const failure = signal<unknown>(undefined)

/** Asks as long as somebody looks and the page is in front. Returns a function that ends this. */
export function watchMetrics(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let isOver = false
  let before: { atMs: number; cpuSeconds: number } | undefined
  const next = async () => {
    if (!document.hidden) {
      try {
        const families = await metricFamilies()
        const cpuSeconds = sumOf(families, 'holdfast_cpu_seconds_total')
        const atMs = performance.now()
        // The first answer only says where the processors' time begins.
        if (before !== undefined) add(sampleOf(families, atMs, before))
        before = { atMs, cpuSeconds }
        failure.value = undefined
      } catch (error) {
        failure.value = error
      }
    }
    if (!isOver) timer = setTimeout(() => void next(), everyMs)
  }
  void next()
  return () => {
    isOver = true
    clearTimeout(timer)
  }
}

function add(sample: Sample): void {
  samples.value = [...samples.value, sample].slice(-samplesMax)
}

function sampleOf(
  families: readonly MetricFamily[],
  atMs: number,
  before: { atMs: number; cpuSeconds: number },
): Sample {
  const spent = sumOf(families, 'holdfast_cpu_seconds_total') - before.cpuSeconds
  return {
    atMs,
    // A server that was started again begins at zero.
    processors: Math.max(0, (1000 * spent) / (atMs - before.atMs)),
    residentBytes: sumOf(families, 'holdfast_resident_memory_bytes'),
    lateSeconds: sumOf(families, 'holdfast_event_loop_delay_seconds', { statistic: 'p99' }),
    repairs: sumOf(families, 'holdfast_repair_queue_blobs', { state: 'waiting' }),
    garbage: sumOf(families, 'holdfast_garbage_entries'),
  }
}

/** The sum of all values with these labels. */
function sumOf(families: readonly MetricFamily[], name: string, labels: Readonly<Record<string, string>> = {}): number {
  const values = families.find((family) => family.name === name)?.values ?? []
  return values
    .filter((value) => Object.entries(labels).every(([label, wanted]) => value.labels[label] === wanted))
    .reduce((sum, { value }) => sum + value, 0)
}
