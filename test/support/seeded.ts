/** Randomness and time that a seed repeats. */
import type { Clock } from '../../src/clock.ts'

/** Mulberry32: numbers in [0, 1). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export interface TestClock extends Clock {
  /** Time passes. */
  advance(ms: number): void
  /** The machine's clock is set, while no time passes. */
  set(aheadMs: number): void
  /** The machine starts again. Nothing measures how long that took. */
  reboot(): void
}

export function seededClock(random: () => number, startMs = Date.UTC(2026, 0, 1)): TestClock {
  let nowMs = startMs
  let boots = 1
  let upMs = 1000
  return {
    now: () => nowMs,
    uptime: () => ({ boot: `boot ${boots}`, ms: upMs }),
    random: (size) => seededBytes(random, size),
    advance: (ms) => {
      nowMs += ms
      upMs += ms
    },
    set: (aheadMs) => {
      nowMs += aheadMs
    },
    reboot: () => {
      boots++
      upMs = 1000
    },
  }
}

function seededBytes(random: () => number, size: number): Buffer {
  const bytes = Buffer.allocUnsafe(size)
  for (let at = 0; at < size; at++) bytes[at] = Math.floor(random() * 256)
  return bytes
}

/** Cheap bytes that differ by seed and by position. */
export function patternBytes(seed: number, size: number): Buffer {
  const bytes = Buffer.allocUnsafe(size)
  let state = (seed * 2654435761 + 1) >>> 0
  for (let at = 0; at < size; at++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    bytes[at] = state >>> 24
  }
  return bytes
}
