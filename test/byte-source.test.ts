import { expect, test } from 'vitest'
import { lendingSource } from '../src/byte-source.ts'

/** A source over memory that is overwritten as soon as it is given back, and how often it was. */
function lent() {
  const memory = Buffer.from('content')
  let times = 0
  const source = lendingSource(memory, () => {
    times++
    memory.fill('x')
  })
  return { source, times: () => times }
}

test('what is read out of lent memory outlives it', async () => {
  const { source, times } = lent()
  expect((await source.read()).toString()).toBe('content')
  source.cancel()
  expect(times()).toBe(1)
})

test('lent memory is kept while a sink works on it, and given back also when the sink fails', async () => {
  const { source, times } = lent()
  await source.drain(async (bytes) => {
    await new Promise((resolve) => setImmediate(resolve))
    expect([bytes.toString(), times()]).toEqual(['content', 0])
  })
  expect(times()).toBe(1)
  const failing = lent()
  await expect(failing.source.drain(() => Promise.reject(new Error('gone')))).rejects.toThrow('gone')
  failing.source.cancel()
  expect(failing.times()).toBe(1)
})

test('who borrows gives back, once, and cancelling does not do it instead', () => {
  const { source, times } = lent()
  const borrowed = source.borrow?.()
  source.cancel()
  expect([borrowed?.bytes.toString(), times()]).toEqual(['content', 0])
  borrowed?.giveBack()
  borrowed?.giveBack()
  source.cancel()
  expect(times()).toBe(1)
})

test('a source that nobody reads gives its memory back when it is cancelled, and is then read no more', async () => {
  const { source, times } = lent()
  source.cancel()
  source.cancel()
  expect(times()).toBe(1)
  await expect(source.read()).rejects.toThrow('once')
  expect(() => source.borrow?.()).toThrow('once')
  await expect(source.drain(() => {})).rejects.toThrow('once')
  expect(times()).toBe(1)
})
