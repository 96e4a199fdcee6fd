/** Bytes asked for from a source that gives them on its own terms: in order, no more than asked, and let go of in the end. */
import { expect, it } from 'vitest'
import { PulledSource } from '../../../src/blobs/stripes/pulled-source.ts'
import type { ByteSink, ByteSource } from '../../../src/byte-source.ts'

const stallMs = 20

/** Gives `chunks`, then what `end` says. `settled`: whether its drain has. */
function given(chunks: string[], end: () => Promise<void> = async () => {}): ByteSource & { settled: () => boolean } {
  let settled = false
  const drain = async (sink: ByteSink): Promise<void> => {
    try {
      for (const chunk of chunks) await sink(Buffer.from(chunk))
      await end()
    } finally {
      settled = true
    }
  }
  const size = chunks.join('').length
  return { size, drain, read: () => Promise.reject(new Error('unused')), cancel: () => {}, settled: () => settled }
}

it('gives pieces of chunks, and fills what spans several', async () => {
  const pulled = new PulledSource(given(['abcd', '', 'efg', 'h']), stallMs)
  expect(String(await pulled.next(3))).toBe('abc')
  expect(String(await pulled.next(3))).toBe('d')
  const rest = Buffer.alloc(4)
  await pulled.fill(rest)
  expect(String(rest)).toBe('efgh')
  await expect(pulled.next(1)).rejects.toThrow('the shard ended too early')
})

it('gives what came before a failure, then fails', async () => {
  const pulled = new PulledSource(
    given(['abc'], () => Promise.reject(new Error('the disk failed'))),
    stallMs,
  )
  expect(String(await pulled.next(9))).toBe('abc')
  await expect(pulled.next(1)).rejects.toThrow('the disk failed')
})

it('fails where nothing comes for too long, but not because nobody asks', async () => {
  const pulled = new PulledSource(
    given(['abc'], () => new Promise(() => {})),
    stallMs,
  )
  expect(String(await pulled.next(1))).toBe('a')
  await new Promise((resolve) => setTimeout(resolve, 3 * stallMs))
  expect(String(await pulled.next(9))).toBe('bc')
  await expect(pulled.next(1)).rejects.toThrow(`gave nothing for ${stallMs} ms`)
})

it('lets the source go when it is cancelled, wherever it is', async () => {
  const source = given(['abc', 'def'])
  const pulled = new PulledSource(source, stallMs)
  await pulled.next(1)
  pulled.cancel()
  await new Promise(setImmediate)
  expect(source.settled()).toBe(true)
  await expect(pulled.fill(Buffer.alloc(3))).rejects.toThrow('cancelled')
})
