/** The rows of the wire tests over metadata that takes 5 ms a call, as one over a network would: the delay must change no answer. */
import { describe } from 'vitest'
import { CountingKv } from '../support/counting-kv.ts'
import { wireSample } from '../support/wire-sample.ts'

const answersRows = await wireSample()

describe('metadata that is 5 ms away', () => {
  describe('answers as near metadata', () =>
    answersRows({ over: (backend) => ({ ...backend, kv: new CountingKv(backend.kv, { delayMs: 5 }) }) }))
})
