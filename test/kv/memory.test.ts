import { memoryKv } from '../../src/kv/memory.ts'
import { describeKv } from './suite.ts'

describeKv('memoryKv', async () => {
  const kv = memoryKv()
  return { kv, close: () => kv.close() }
})
