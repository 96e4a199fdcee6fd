import { expect, test } from 'vitest'
import { limits } from '../../src/limits.ts'
import { BlockingCalls } from '../../src/stores/blocking-calls.ts'

/** Which of `count` reads block, when each that does takes so long. */
function blocked(count: number, tookMs: (read: number) => number): number[] {
  let nowMs = 0
  const calls = new BlockingCalls(() => nowMs)
  return Array.from({ length: count }, (_, i) => i).filter((i) => {
    if (!calls.allows(4096)) return false
    calls.time(() => {
      nowMs += tookMs(i)
    })
    return true
  })
}

const everyRead = (count: number): number[] => Array.from({ length: count }, (_, i) => i)

test('reads that memory answers all block', () => {
  expect(blocked(1000, () => limits.blockingCallMsMax)).toEqual(everyRead(1000))
})

test('a read that the disk answered sends as many as the pause says to the threads', () => {
  const pause = limits.blockingCallsPause
  expect(blocked(pause + 5, (read) => (read === 1 ? 10 : 0))).toEqual([0, 1, pause + 2, pause + 3, pause + 4])
})

test('a disk that stays slow blocks one read in each pause', () => {
  const pause = limits.blockingCallsPause
  expect(blocked(3 * (pause + 1), () => 10)).toEqual([0, pause + 1, 2 * (pause + 1)])
})

test('a slow read that fails counts as slow', () => {
  let nowMs = 0
  const calls = new BlockingCalls(() => nowMs)
  const failing = (): void => {
    nowMs += 10
    throw new Error('EIO')
  }
  expect(() => calls.time(failing)).toThrow('EIO')
  expect(calls.allows(4096)).toBe(false)
})

test('large reads never block', () => {
  const calls = new BlockingCalls(() => 0)
  expect(calls.allows(limits.blockingReadBytesMax)).toBe(true)
  expect(calls.allows(limits.blockingReadBytesMax + 1)).toBe(false)
})
