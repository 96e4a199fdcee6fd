/** How progress is shown: a bar at a terminal, lines for programs, nothing else. */
import { describe, expect, it } from 'vitest'
import { barLine, openProgress } from '../../../src/cli/tasks/progress.ts'

const MiB = 1024 * 1024
const at = (done: number, total?: number) => ({
  done: done * MiB,
  ...(total === undefined ? {} : { total: total * MiB }),
  unit: 'bytes' as const,
  counts: { damaged: 0, lost: 2 },
})

function shown({ json = false, isTTY = true, columns = 120 } = {}) {
  const lines: string[] = []
  const drawn: string[] = []
  const clock = { nowMs: 0 }
  const progress = openProgress({
    label: 'scrub',
    json,
    print: (line) => lines.push(line),
    terminal: { isTTY, columns, write: (text) => drawn.push(text) },
    monotonicMs: () => clock.nowMs,
  })
  return { lines, drawn, clock, progress }
}

describe('progress', () => {
  it('is a bar at a terminal, drawn over itself, with the rate and the time left', () => {
    const { lines, drawn, clock, progress } = shown()
    progress.show(at(0, 100))
    clock.nowMs = 2_000
    progress.show(at(50, 100))
    progress.end(at(100, 100))
    expect(lines).toEqual([])
    expect(drawn[1]).toBe(
      `\rscrub  [${'#'.repeat(15)}${'-'.repeat(15)}]  50%  50.0 MiB of 100.0 MiB  25.0 MiB/s  0:02 left  2 lost\x1b[K`,
    )
    expect(drawn.at(-1)).toBe('\n')
  })

  it('is drawn ten times a second at most', () => {
    const { drawn, clock, progress } = shown()
    for (let i = 0; i < 1000; i++) {
      clock.nowMs = i
      progress.show(at(i, 1000))
    }
    expect(drawn).toHaveLength(10)
  })

  it('is a line of JSON a second for programs, and the last', () => {
    const { lines, drawn, clock, progress } = shown({ json: true })
    for (let i = 0; i < 3000; i += 10) {
      clock.nowMs = i
      progress.show(at(i, 3000))
    }
    progress.end(at(3000, 3000))
    expect(drawn).toEqual([])
    expect(lines).toHaveLength(4)
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({
      event: 'progress',
      task: 'scrub',
      done: 3000 * MiB,
      total: 3000 * MiB,
      unit: 'bytes',
      counts: { lost: 2 },
      secondsLeft: 0,
    })
  })

  it('is not shown to anybody else', () => {
    const { lines, drawn, progress } = shown({ isTTY: false })
    progress.show(at(1, 2))
    progress.end(at(2, 2))
    expect([lines, drawn]).toEqual([[], []])
  })

  it.each([20, 40, 60, 80, 200])('fits a terminal of %i columns', (columns) => {
    expect(barLine('move bucket', at(5, 10), { perSecond: MiB, secondsLeft: 5 }, columns).length).toBeLessThan(columns)
  })

  it('shows less of what was counted where there is no room beside a bar', () => {
    const progress = { ...at(5, 10), counts: { checked: 12_345, repaired: 17, lost: 2 } }
    expect(barLine('scrub', progress, { perSecond: MiB, secondsLeft: 5 }, 80)).toBe(
      'scrub  [###########-----------]  50%  5.0 MiB of 10.0 MiB  1.0 MiB/s  0:05 left',
    )
    expect(barLine('scrub', progress, { perSecond: MiB, secondsLeft: 5 }, 50)).toBe(
      'scrub   50%  5.0 MiB of 10.0 MiB  1.0 MiB/s  0:05',
    )
  })

  it('has no bar while nobody knows how much there is', () => {
    expect(barLine('scrub', at(5), { perSecond: MiB }, 80)).toBe('scrub  5.0 MiB  1.0 MiB/s  2 lost')
  })
})
