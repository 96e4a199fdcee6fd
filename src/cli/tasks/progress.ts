/** Shows the progress of long work: a bar at a terminal, JSON lines for programs, otherwise nothing. */

import type { TaskProgress } from '../../jobs/tasks/tasks.ts'
import type { Invocation } from '../command.ts'
import { counted } from '../counted.ts'

export interface Progress {
  /** Cheap to call often: draws only at intervals. */
  show(progress: TaskProgress): void
  /** Shows the last state in any case. */
  end(progress: TaskProgress): void
}

/** The terminal that a bar is drawn on. */
export interface Terminal {
  isTTY?: boolean
  columns?: number
  write(text: string): unknown
}

export interface ProgressOptions extends Pick<Invocation, 'json' | 'print'> {
  /** A word that names the work. */
  label: string
  terminal?: Terminal
  monotonicMs?(): number
}

const barEveryMs = 100
/** The width of a terminal that does not report its own. */
const usualColumns = 80
const lineEveryMs = 1_000
/** The time over which a rate is measured. */
const windowMs = 10_000

export function openProgress({
  label,
  json,
  print,
  terminal = process.stderr,
  monotonicMs = () => performance.now(),
}: ProgressOptions): Progress {
  const isShown = json || terminal.isTTY === true
  const everyMs = json ? lineEveryMs : barEveryMs
  const seen: { atMs: number; done: number }[] = []
  let dueMs = Number.NEGATIVE_INFINITY

  const pace = (progress: TaskProgress, atMs: number): Pace => {
    // Progress went back: the work has started again.
    if (progress.done < (seen.at(-1)?.done ?? 0)) seen.length = 0
    seen.push({ atMs, done: progress.done })
    while (seen.length > 2 && (seen[1]?.atMs ?? atMs) < atMs - windowMs) seen.shift()
    return paceOf(progress, seen[0] ?? { atMs, done: progress.done }, atMs)
  }
  const draw = (progress: TaskProgress): void => {
    const atMs = monotonicMs()
    dueMs = atMs + everyMs
    const at = pace(progress, atMs)
    if (json) print(JSON.stringify({ event: 'progress', task: label, ...progress, ...at }))
    else terminal.write(`\r${barLine(label, progress, at, terminal.columns || usualColumns)}\x1b[K`)
  }
  return {
    show(progress) {
      if (isShown && monotonicMs() >= dueMs) draw(progress)
    },
    end(progress) {
      if (!isShown) return
      draw(progress)
      if (!json) terminal.write('\n')
    },
  }
}

interface Pace {
  /** The rate, in the unit of the progress. */
  perSecond?: number
  secondsLeft?: number
}

function paceOf({ done, total }: TaskProgress, from: { atMs: number; done: number }, atMs: number): Pace {
  const perSecond = ((done - from.done) / (atMs - from.atMs)) * 1000
  if (!(perSecond > 0) || !Number.isFinite(perSecond)) return {}
  const left = total === undefined ? {} : { secondsLeft: Math.round(Math.max(0, total - done) / perSecond) }
  return { perSecond: Math.round(perSecond), ...left }
}

const barCells = { min: 10, max: 30 }

/**
 * For example `scrub  [#####-----]  42%  1.2 GiB of 2.9 GiB  50.0 MiB/s  0:36 left  2 damaged`, in less than `columns`. When space is short, the counts
 * are left out first, then the bar.
 */
export function barLine(label: string, progress: TaskProgress, pace: Pace, columns: number): string {
  const counts = Object.entries(progress.counts).flatMap(([name, count]) => (count > 0 ? [`${count} ${name}`] : []))
  for (let shown = counts.length; ; shown--) {
    const text = [...figuresOf(progress, pace), ...counts.slice(0, Math.max(0, shown))].join('  ')
    const bar = barOf(progress, columns - 1 - label.length - text.length - 4)
    if (shown <= 0 || bar === undefined || bar.length > barCells.min) {
      return [label, ...(bar === undefined ? [] : [bar]), text].join('  ').slice(0, columns - 1)
    }
  }
}

function figuresOf({ done, total, unit }: TaskProgress, { perSecond, secondsLeft }: Pace): string[] {
  const amount = (value: number): string => (unit === 'bytes' ? formatBytes(value) : `${value}`)
  return [
    total === undefined ? amount(done) : `${amount(done)} of ${amount(total)}`,
    ...(perSecond === undefined ? [] : [`${amount(perSecond)}${unit === 'bytes' ? '/s' : ' a second'}`]),
    ...(secondsLeft === undefined ? [] : [`${formatSeconds(secondsLeft)} left`]),
  ]
}

/** The bar and a percentage, or only the percentage when `columns` are too few. `undefined`: the total is not known. */
function barOf({ done, total }: TaskProgress, columns: number): string | undefined {
  if (total === undefined) return undefined
  const share = total === 0 ? 1 : Math.min(1, done / total)
  const percent = `${Math.floor(share * 100)}%`.padStart(4)
  const cells = Math.min(barCells.max, columns - percent.length - 3)
  if (cells < barCells.min) return percent
  const filled = Math.round(share * cells)
  return `[${'#'.repeat(filled)}${'-'.repeat(cells - filled)}] ${percent}`
}

const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']

export function formatBytes(bytes: number): string {
  let at = 0
  let value = bytes
  while (value >= 1024 && at < units.length - 1) {
    value /= 1024
    at++
  }
  return at === 0 ? counted(value, 'byte') : `${value.toFixed(1)} ${units[at]}`
}

/** For example `36:05` or `1:02:03`. */
function formatSeconds(seconds: number): string {
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  const [hours = 0] = parts
  return (hours > 0 ? parts : parts.slice(1))
    .map((part, i) => (i === 0 ? `${part}` : `${part}`.padStart(2, '0')))
    .join(':')
}
