/** Operations for tests of bodies: they read when the test lets them, and say what they saw. */
import { EventEmitter, once } from 'node:events'
import { type ByteSource, bytesSource } from '../../src/byte-source.ts'
import { query } from '../../src/contract/fields.ts'
import { optional, string, struct } from '../../src/contract/shapes.ts'
import { text } from '../../src/contract/values.ts'
import { S3Error } from '../../src/errors.ts'
import { defineOperation } from '../../src/operations/context.ts'

/** Emits `name` events as requests reach the points that tests wait for. */
export const steps = new EventEmitter()

/** Resolves with the next event of that name. */
export const step = async (name: string): Promise<unknown> => (await once(steps, name))[0]

const refuseUnread = defineOperation({
  name: 'RefuseUnread',
  method: 'PUT',
  target: 'object',
  query: ['refuse'],
  permission: 's3:PutObject',
  summary: '',
  input: {},
  inputBody: { kind: 'stream' },
  output: {},
  errors: ['NoSuchBucket'],
  async handle() {
    throw new S3Error('NoSuchBucket')
  },
})

/** Reads its body, telling of each chunk and of how the drain ended. */
const watched = defineOperation({
  name: 'Watched',
  method: 'PUT',
  target: 'object',
  query: ['watch'],
  permission: 's3:PutObject',
  summary: '',
  input: {},
  inputBody: { kind: 'stream' },
  output: {},
  errors: [],
  async handle(_context, { body }) {
    try {
      await body.drain((chunk) => void steps.emit('chunk', chunk.length))
    } catch (error) {
      steps.emit('failed', error)
      throw error
    }
    steps.emit('drained')
    return {}
  },
})

/** Asks for its body in one piece, some turns after it was called, as an operation that looks something up first. */
const readLater = defineOperation({
  name: 'ReadLater',
  method: 'PUT',
  target: 'object',
  query: ['later'],
  permission: 's3:PutObject',
  summary: '',
  input: {},
  inputBody: { kind: 'stream' },
  output: {},
  outputBody: { kind: 'stream' },
  errors: [],
  async handle(_context, { body }) {
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
    return { body: bytesSource(await body.read()) }
  },
})

/** Takes its body one chunk at a time, each when `release` is emitted. With `late`, it starts only when `read` is emitted. */
const held = defineOperation({
  name: 'Held',
  method: 'PUT',
  target: 'object',
  query: ['hold'],
  permission: 's3:PutObject',
  summary: '',
  input: { late: query('late', text) },
  inputBody: { kind: 'stream' },
  output: {},
  errors: [],
  async handle(_context, { body, late }) {
    const released = step('release')
    if (late !== undefined) {
      const read = step('read')
      steps.emit('waiting')
      await read
    }
    let taken = 0
    await body.drain(async (chunk) => {
      taken += chunk.length
      steps.emit('taken', taken)
      await released
    })
    return {}
  },
})

/** A source of `size` bytes in chunks, which may fail after some of them. */
function chunkedSource(size: number, failAfterBytes = Number.POSITIVE_INFINITY): ByteSource {
  const chunk = Buffer.alloc(256 * 1024, 'x')
  return {
    size,
    drain: async (sink) => {
      let sent = 0
      try {
        while (sent < size) {
          if (sent >= failAfterBytes) throw new Error('the disk is gone')
          const next = chunk.subarray(0, Math.min(chunk.length, size - sent))
          await sink(next)
          sent += next.length
          steps.emit('sent', sent)
        }
      } catch (error) {
        steps.emit('source failed', error)
        throw error
      }
    },
    read: async () => Buffer.alloc(size, 'x'),
    cancel: () => {},
  }
}

const download = defineOperation({
  name: 'Download',
  method: 'GET',
  target: 'object',
  permission: 's3:GetObject',
  summary: '',
  input: { size: query('size', text), failAfter: query('fail-after', text) },
  output: {},
  outputBody: { kind: 'stream' },
  errors: [],
  handle: async (_context, { size, failAfter }) => ({
    body: chunkedSource(Number(size), failAfter === undefined ? undefined : Number(failAfter)),
  }),
})

/** Works until `done` is emitted with its answer or its error. */
const slow = defineOperation({
  name: 'Slow',
  method: 'POST',
  target: 'object',
  query: ['slow'],
  permission: 's3:PutObject',
  summary: '',
  slow: true,
  input: {},
  output: {},
  outputBody: { kind: 'xml', root: 'SlowResult', shape: struct({ Say: optional(string) }) },
  errors: [],
  async handle() {
    const done = step('done')
    steps.emit('working')
    const outcome = await done
    if (outcome instanceof Error) throw outcome
    return { body: { Say: String(outcome) } }
  },
})

const broken = defineOperation({
  name: 'Broken',
  method: 'GET',
  target: 'bucket',
  permission: 's3:ListBucket',
  summary: '',
  input: {},
  output: {},
  errors: [],
  async handle() {
    throw new TypeError('canary-of-an-inner-error')
  },
})

const short = defineOperation({
  name: 'Short',
  method: 'GET',
  target: 'object',
  query: ['short'],
  permission: 's3:GetObject',
  summary: '',
  input: {},
  output: {},
  outputBody: { kind: 'stream' },
  errors: [],
  handle: async () => ({ body: { ...bytesSource(Buffer.alloc(100_000)), size: 200_000 } }),
})

export const bodyOperations = [refuseUnread, readLater, watched, held, download, slow, broken, short]
