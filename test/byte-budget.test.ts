import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { ByteBudget } from '../src/byte-budget.ts'

it('never lets more be spent at once than there is, starts in order, and gives back what failed', async () => {
  const spending = fc.array(fc.record({ bytes: fc.integer({ min: 0, max: 10 }), fails: fc.boolean() }), {
    maxLength: 40,
  })
  await fc.assert(
    fc.asyncProperty(spending, async (all) => {
      const budget = new ByteBudget(10)
      let spent = 0
      let most = 0
      const started: number[] = []
      const done = await Promise.allSettled(
        all.map(({ bytes, fails }, i) =>
          budget.spend(bytes, async () => {
            started.push(i)
            spent += bytes
            most = Math.max(most, spent)
            await new Promise((resolve) => setImmediate(resolve))
            spent -= bytes
            if (fails) throw new Error('failed')
          }),
        ),
      )
      expect(most).toBeLessThanOrEqual(10)
      expect(started).toEqual(all.map((_, i) => i))
      expect(done.map(({ status }) => status === 'rejected')).toEqual(all.map(({ fails }) => fails))
    }),
  )
})

it('turns away who has waited too long, and lets those behind go on', async () => {
  const budget = new ByteBudget(10)
  let end = (): void => {}
  const first = budget.spend(6, () => new Promise<void>((resolve) => (end = resolve)))
  const tooMuch = budget.spend(5, async () => 'never', 20)
  const behind = budget.spend(4, async () => 'behind')
  await expect(tooMuch).rejects.toMatchObject({ code: 'SlowDown' })
  expect(await behind).toBe('behind')
  end()
  await first
  expect(await budget.spend(10, async () => 'all of it', 20)).toBe('all of it')
})
