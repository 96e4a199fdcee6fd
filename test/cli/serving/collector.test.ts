import { expect, test } from 'vitest'
import { collectEverything, IdleLooks } from '../../../src/cli/serving/collector.ts'
import { limits } from '../../../src/limits.ts'

const busyMs = limits.idleLookMs / 2
const idleMs = 1
const idle = (looks: number): number[] => Array.from({ length: looks }, () => idleMs)

/** At which of these looks it is time to collect. */
function collections(cpuMs: readonly number[]): number[] {
  const looks = new IdleLooks()
  return cpuMs.flatMap((ms, i) => (looks.look(ms) ? [i] : []))
}

test.each([
  ['after work, when it has been idle long enough', [busyMs, ...idle(limits.idleLooksMin)], [limits.idleLooksMin]],
  ['not while it works', Array.from({ length: 50 }, () => busyMs), []],
  ['after its start', idle(limits.idleLooksMin), [limits.idleLooksMin - 1]],
  ['not again when it has hardly worked', idle(100), [limits.idleLooksMin - 1]],
  ['once after each work', [busyMs, ...idle(50), busyMs, ...idle(50)], [limits.idleLooksMin, 51 + limits.idleLooksMin]],
  ['not when it works again in time', [busyMs, ...idle(limits.idleLooksMin - 1), busyMs, idleMs], []],
])('a process collects %s', (_, cpuMs, expected) => {
  expect(collections(cpuMs)).toEqual(expected)
})

test('a collection takes all garbage', async () => {
  let collected = (): void => {}
  const isCollected = new Promise<void>((resolve) => {
    collected = resolve
  })
  const registry = new FinalizationRegistry(() => collected())
  makeGarbage(registry)
  await new Promise<void>((resolve) => collectEverything(resolve))
  await isCollected
})

/** In a function of its own: what an asynchronous one has made stays reachable while it waits. */
function makeGarbage(registry: FinalizationRegistry<void>): void {
  registry.register(Buffer.alloc(1_000_000), undefined)
}
